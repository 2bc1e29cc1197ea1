import CDBus
import Glibc

/// A private connection to a message bus, without threads or timers of its own.
///
/// A class because a connection has an identity and an end. Only one queue at a time may use it.
package final class BusConnection {
    /// The reason that a connection failed.
    package struct Failure: Error, Hashable {
        /// The name of the libdbus error.
        package var name: String
        /// The message of the libdbus error.
        package var reason: String
    }

    /// The descriptor to wait on for messages.
    package let descriptor: Int32
    private let connection: OpaquePointer
    private var isOpen = true

    /// Connects, authenticates and registers with the bus. The call blocks until the bus answers.
    ///
    /// - Parameter address: The address of the bus; nil for the system bus.
    /// - Throws: `Failure` with the error of libdbus.
    package init(address: String?) throws(Failure) {
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let connection = Self.open(address, &error) else { throw Self.failure(error) }
        // By default, the library ends the process when the bus disconnects.
        dbus_connection_set_exit_on_disconnect(connection, 0)
        var descriptor: Int32 = -1
        guard dbus_connection_get_unix_fd(connection, &descriptor) != 0 else {
            Self.release(connection)
            throw Failure(name: "", reason: "the connection has no file descriptor")
        }
        self.connection = connection
        self.descriptor = descriptor
    }

    deinit { close() }

    /// Closes the connection. No watch may use the descriptor any more.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        Self.release(connection)
    }

    /// Subscribes to the signals that match a rule. The function reports no error for an invalid rule.
    package func subscribe(_ rule: String) {
        guard isOpen else { return }
        dbus_bus_add_match(connection, rule, nil)
    }

    /// Queues a message for sending. If the socket is full, later exchanges send the rest.
    package func send(_ message: BusMessage) {
        guard isOpen, let encoded = BusMessageWriter.write(message) else { return }
        defer { dbus_message_unref(encoded) }
        var serial: dbus_uint32_t = 0
        dbus_connection_send(connection, encoded, &serial)
    }

    /// The state of a connection after an exchange.
    package enum Standing: Hashable, Sendable {
        /// No more messages are waiting.
        case idle
        /// More data is waiting, because the library reads some kilobytes at a time.
        case waiting
        /// The bus closed the connection.
        case gone
    }

    /// Writes and reads as much as the socket allows without waiting, and passes the received messages to `handle`.
    ///
    /// Call it again while it returns `waiting`: the system reports the end of a connection only once, perhaps while
    /// unread data remains.
    package func exchange(_ handle: (BusMessage) -> Void) -> Standing {
        guard isOpen else { return .gone }
        var stands = dbus_connection_read_write(connection, 0) != 0
        while let message = dbus_connection_pop_message(connection) {
            defer { dbus_message_unref(message) }
            guard let message = BusMessageReader.read(message) else { continue }
            if message.interface == "org.freedesktop.DBus.Local", message.member == "Disconnected" {
                stands = false
            } else {
                handle(message)
            }
        }
        return stands ? (hasArrivals ? .waiting : .idle) : .gone
    }

    /// Whether the socket has data to read, or has reached its end.
    private var hasArrivals: Bool {
        var socket = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&socket, 1, 0) > 0
    }

    /// Whether queued messages wait to be sent.
    package var hasUnsent: Bool { isOpen && dbus_connection_has_messages_to_send(connection) != 0 }

    private static func open(_ address: String?, _ error: inout DBusError) -> OpaquePointer? {
        guard let address else { return dbus_bus_get_private(DBUS_BUS_SYSTEM, &error) }
        guard let connection = dbus_connection_open_private(address, &error) else { return nil }
        guard dbus_bus_register(connection, &error) != 0 else {
            release(connection)
            return nil
        }
        return connection
    }

    private static func release(_ connection: OpaquePointer) {
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    private static func failure(_ error: DBusError) -> Failure {
        Failure(
            name: error.name.map { String(cString: $0) } ?? "",
            reason: error.message.map { String(cString: $0) } ?? "libdbus reported no reason")
    }
}
