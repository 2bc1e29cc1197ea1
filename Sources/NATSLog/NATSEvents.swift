import CNATS
import IndoorVocabulary

/// The receiver of the events of a connection, which libnats calls on its own threads.
///
/// libnats keeps the address. The object therefore retains itself until the connection is closed.
final class NATSEvents: Sendable {
    private struct State: Sendable {
        var generation = 0
        var isClosing = false
        var refusals = 0
        var latestRefusal: String?
    }

    private let state = Guarded(State())
    private let report: @Sendable (NATSConnection.Change) -> Void

    init(_ report: @escaping @Sendable (NATSConnection.Change) -> Void) { self.report = report }

    var generation: Int { state.withLock(\.generation) }
    var refusals: Int { state.withLock(\.refusals) }
    var latestRefusal: String? { state.withLock(\.latestRefusal) }

    /// Registers the callbacks, and retains the object until ``release()``.
    func attach(to options: OpaquePointer) throws(NATSFailure) {
        let address = Unmanaged.passRetained(self).toOpaque()
        try NATSFailure.check(
            natsOptions_SetDisconnectedCB(
                options, { _, context in NATSEvents.at(context)?.recordInterruption() }, address))
        try NATSFailure.check(
            natsOptions_SetReconnectedCB(
                options, { connection, context in NATSEvents.at(context)?.recordReconnection(connection) }, address))
        try NATSFailure.check(
            natsOptions_SetClosedCB(options, { _, context in NATSEvents.at(context)?.release() }, address))
        try NATSFailure.check(
            natsOptions_SetErrorHandler(
                options,
                { connection, _, status, context in NATSEvents.at(context)?.recordError(status, connection) },
                address))
    }

    /// Releases the object. libnats makes no call after that.
    func release() { Unmanaged.passUnretained(self).release() }

    private static func at(_ context: UnsafeMutableRawPointer?) -> NATSEvents? {
        context.map { Unmanaged<NATSEvents>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the program has closed the connection.
    var isClosing: Bool { state.withLock(\.isClosing) }

    /// Records that the program closes the connection.
    func close() { state.withLock { $0.isClosing = true } }

    private func recordInterruption() {
        if !state.withLock(\.isClosing) { report(.disconnected) }
    }

    private func recordReconnection(_ connection: OpaquePointer?) {
        state.withLock { $0.generation += 1 }
        var buffer = [CChar](repeating: 0, count: 256)
        natsConnection_GetConnectedUrl(connection, &buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        report(.reconnected(url: String(decoding: bytes, as: UTF8.self)))
    }

    private func recordError(_ status: natsStatus, _ connection: OpaquePointer?) {
        guard status == NATS_NOT_PERMITTED else { return }
        var text: UnsafePointer<CChar>?
        natsConnection_GetLastError(connection, &text)
        let reason = text.map { String(cString: $0) } ?? "a subject is refused"
        state.withLock { state in
            state.refusals += 1
            state.latestRefusal = reason
        }
        report(.refused(reason))
    }
}
