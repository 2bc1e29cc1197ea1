import CNATS
import IndoorVocabulary
import TagTracking

/// A publisher in JetStream that doesn't wait for the acknowledgement of each message.
final class NATSPublisher: Sendable {
    /// The receiver of the failures, which libnats calls on its own thread.
    private final class Failures: Sendable {
        let report: @Sendable (NATSFailure) -> Void

        init(_ report: @escaping @Sendable (NATSFailure) -> Void) { self.report = report }
    }

    private let connection: NATSConnection
    private let context: NATSHandle
    /// Whether a message was sent. The value stays locked while a message is sent, because ``forget()`` could otherwise
    /// get the message before libnats has copied it into its buffer.
    private let hasSent = Guarded(false)

    /// Opens the publisher.
    ///
    /// - Parameters:
    ///   - mostPending: the largest number of messages that wait for their acknowledgement.
    ///   - patience: the time in milliseconds that a message waits while this number is reached.
    ///   - report: receives the failure of each message that the server doesn't acknowledge.
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    init(
        _ connection: NATSConnection, stream: String, mostPending: Int, patience: Int64,
        report: @escaping @Sendable (NATSFailure) -> Void
    ) async throws(FleetStoreError) {
        self.connection = connection
        try await connection.checkStream(stream)
        let nats = connection.connection
        context = try await connection.blocking(key: stream) { () throws(NATSFailure) in
            var options = jsOptions()
            try NATSFailure.check(jsOptions_Init(&options))
            options.Wait = NATSConnection.requestTime
            options.PublishAsync.MaxPending = Int64(mostPending)
            options.PublishAsync.StallWait = patience
            // libnats doesn't report its last call, which may be in progress while the context is destroyed. The small
            // object therefore stays in memory; a process opens one publisher.
            options.PublishAsync.ErrHandlerClosure = Unmanaged.passRetained(Failures(report)).toOpaque()
            options.PublishAsync.ErrHandler = { _, error, closure in
                guard let error = error?.pointee, let closure else { return }
                var failure = NATSFailure(error.Err, code: error.ErrCode)
                if let text = error.ErrText { failure.text = String(cString: text) }
                Unmanaged<Failures>.fromOpaque(closure).takeUnretainedValue().report(failure)
            }
            var context: OpaquePointer?
            let status = natsConnection_JetStream(&context, nats.pointer, &options)
            guard status == NATS_OK, let context else { throw NATSFailure(status) }
            return NATSHandle(pointer: context)
        }
    }

    deinit { connection.retire(context: context) }

    /// Sends a message. It blocks while the largest number of messages waits for acknowledgement.
    ///
    /// - Parameter id: the identifier by which the server detects and drops duplicates; nil for none.
    func send(_ bytes: [UInt8], to subject: String, id: String? = nil) throws(NATSFailure) {
        let status = hasSent.withLock { hasSent in
            var options = jsPubOptions()
            jsPubOptions_Init(&options)
            let status = (id ?? "").withCString { id in
                // An empty identifier means no identifier.
                options.MsgId = id
                return js_PublishAsync(context.pointer, subject, bytes, Int32(bytes.count), &options)
            }
            if status == NATS_OK { hasSent = true }
            return status
        }
        try NATSFailure.check(status)
    }

    /// Waits until the server has acknowledged all messages. It blocks.
    ///
    /// - Parameter patience: the longest time to wait in milliseconds, from 1.
    func flush(within patience: Int64) throws(NATSFailure) {
        var wait = jsPubOptions()
        try NATSFailure.check(jsPubOptions_Init(&wait))
        wait.MaxWait = patience
        try NATSFailure.check(js_PublishAsyncComplete(context.pointer, &wait))
    }

    /// Discards the messages that aren't acknowledged, and ignores later acknowledgements of them.
    func forget() {
        hasSent.withLock { hasSent in
            // Before the first message, libnats has no list, but would read it.
            guard hasSent else { return }
            var pending = natsMsgList()
            if js_PublishAsyncGetPendingList(&pending, context.pointer) == NATS_OK { natsMsgList_Destroy(&pending) }
        }
    }
}
