import CNATS
import IndoorVocabulary
import TagTracking

/// A subscription to messages without an acknowledgement, such as the outputs of a fleet.
///
/// libnats calls back on a thread of its own, and subscribes again after a reconnection. Messages in between are lost.
package final class NATSSubscription: Sendable {
    private let receive: @Sendable ([UInt8]) -> Void
    private let handle = Guarded<NATSHandle?>(nil)

    /// Subscribes to a subject, which may contain wildcards.
    ///
    /// - Parameter receive: receives the content of each message; it must not block.
    package init(
        _ subject: String, of connection: NATSConnection, _ receive: @escaping @Sendable ([UInt8]) -> Void
    ) throws(FleetStoreError) {
        self.receive = receive
        // libnats keeps the address; the object retains itself until the subscription has ended.
        let address = Unmanaged.passRetained(self).toOpaque()
        var pointer: OpaquePointer?
        let status = natsConnection_Subscribe(
            &pointer, connection.connection.pointer, subject,
            { _, _, message, context in NATSSubscription.deliver(message, context) }, address)
        guard status == NATS_OK, let pointer else {
            Unmanaged.passUnretained(self).release()
            throw NATSFailure(status).error(key: subject)
        }
        natsSubscription_SetOnCompleteCB(
            pointer, { context in context.map { Unmanaged<NATSSubscription>.fromOpaque($0).release() } }, address)
        handle.withLock { $0 = NATSHandle(pointer: pointer) }
    }

    private static func deliver(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
        defer { natsMsg_Destroy(message) }
        guard let context else { return }
        let bytes = UnsafeRawBufferPointer(
            start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))
        Unmanaged<NATSSubscription>.fromOpaque(context).takeUnretainedValue().receive([UInt8](bytes))
    }

    /// The messages that libnats discarded, because `receive` was too slow.
    package var lost: Int {
        handle.withLock { handle in
            var count: Int64 = 0
            guard let handle, natsSubscription_GetDropped(handle.pointer, &count) == NATS_OK else { return 0 }
            return Int(count)
        }
    }

    /// Ends the subscription. A second call has no effect.
    package func close() {
        let handle = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let handle else { return }
        natsSubscription_Unsubscribe(handle.pointer)
        natsSubscription_Destroy(handle.pointer)
    }
}
