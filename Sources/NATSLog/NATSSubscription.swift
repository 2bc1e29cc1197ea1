/// A subscription of libnats that is read without a separate thread.
///
/// The subscription ends when its last reference is released. Each reader keeps a reference, so that no other task can
/// end the subscription while it is read.
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
