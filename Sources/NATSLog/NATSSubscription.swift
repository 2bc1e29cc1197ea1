/// A subscription of libnats that is read without a thread of its own.
///
/// It ends with its last reference: who reads it keeps one, so that no other task can end it in the meantime.
final class NATSSubscription: Sendable {
    private let connection: NATSConnection
    private let handle: NATSHandle

    var pointer: OpaquePointer { handle.pointer }

    init(_ pointer: OpaquePointer, of connection: NATSConnection) {
        self.connection = connection
        handle = NATSHandle(pointer: pointer)
    }

    deinit { connection.retire(subscription: handle) }
}
