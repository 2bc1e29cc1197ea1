import CNATS
import IndoorVocabulary
import TagTracking

/// The publisher of a fleet's outputs in the JetStream stream `POSITIONS`.
///
/// The server acknowledges each output when the stream has it. ``flush()`` waits for the acknowledgements.
package final class NATSOutputPublisher: Sendable {
    /// The largest number of outputs that wait for their acknowledgement.
    private static let mostPending: Int64 = 16_384

    private let connection: NATSConnection
    private let publisher: NATSHandle
    private let failures: Failures

    /// The failures of outputs, which libnats reports on a thread of its own.
    private final class Failures: Sendable {
        private let state = Guarded(0)

        var count: Int { state.withLock(\.self) }

        func record() { state.withLock { $0 += 1 } }
    }

    /// Opens the publisher.
    ///
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    package init(_ connection: NATSConnection) async throws(FleetStoreError) {
        self.connection = connection
        let failures = Failures()
        self.failures = failures
        try await connection.checkStream(FleetNames.outputStream)
        let nats = connection.connection
        publisher = try await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            var options = jsOptions()
            try NATSFailure.check(jsOptions_Init(&options))
            options.Wait = NATSConnection.requestTime
            options.PublishAsync.MaxPending = Self.mostPending
            options.PublishAsync.StallWait = NATSConnection.requestTime
            // The object lives as long as the context, which is destroyed in `deinit`.
            options.PublishAsync.ErrHandlerClosure = Unmanaged.passUnretained(failures).toOpaque()
            options.PublishAsync.ErrHandler = { _, _, closure in
                closure.map { Unmanaged<Failures>.fromOpaque($0).takeUnretainedValue().record() }
            }
            var context: OpaquePointer?
            let status = natsConnection_JetStream(&context, nats.pointer, &options)
            guard status == NATS_OK, let context else { throw NATSFailure(status) }
            return NATSHandle(pointer: context)
        }
    }

    deinit { jsCtx_Destroy(publisher.pointer) }

    /// The number of occasions so far on which outputs may have been lost.
    package var losses: Int { failures.count }

    /// Sends outputs. The server acknowledges them later.
    package func publish(_ outputs: [FleetOutput]) async {
        let (publisher, failures) = (publisher, failures)
        _ = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            for output in outputs {
                let bytes = Array(output.json.utf8)
                let subject = FleetNames.outputSubject(of: output.tag)
                guard js_PublishAsync(publisher.pointer, subject, bytes, Int32(bytes.count), nil) == NATS_OK else {
                    // The rest follows the lost output, so that the worker emits both again.
                    return failures.record()
                }
            }
        }
    }

    /// Waits until the stream has all outputs so far; returns false if the server doesn't acknowledge them in time.
    package func flush() async -> Bool {
        let (publisher, failures) = (publisher, failures)
        let isComplete = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            var wait = jsPubOptions()
            try NATSFailure.check(jsPubOptions_Init(&wait))
            wait.MaxWait = NATSConnection.requestTime
            if js_PublishAsyncComplete(publisher.pointer, &wait) == NATS_OK { return true }
            // The pending outputs may be those of several partitions: each of them reads the count after the flush.
            failures.record()
            var pending = natsMsgList()
            if js_PublishAsyncGetPendingList(&pending, publisher.pointer) == NATS_OK { natsMsgList_Destroy(&pending) }
            return false
        }
        return isComplete ?? false
    }
}
