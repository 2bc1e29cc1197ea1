import CDBus
import Glibc

/// A private connection to a message bus, without threads or timers of its own.
///
/// A class, because a connection has an identity and an end. It is used by one queue at a time.
package final class BusConnection {
    /// Why no connection came about.
    package struct Failure: Error, Hashable {
        /// The name of libdbus's error.
        package var name: String
        /// libdbus's words.
        package var reason: String
    }

    /// Bytes that may arrive on it.
    package let descriptor: Int32
    private let connection: OpaquePointer
    private var isOpen = true

    /// Connects, authenticates and says hello, which blocks while the bus does its part.
    ///
    /// - Parameter address: where the bus is; nil for the system's.
    /// - Throws: what libdbus says against it.
    package init(address: String?) throws(Failure) {
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let connection = Self.open(address, &error) else { throw Self.failure(error) }
        // The library's own wish is to end the process when the bus goes.
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

    /// Ends the connection. Whatever watches the descriptor must have ceased to.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        Self.release(connection)
    }

    /// Asks the bus for the signals that match a rule; a rule that it does not like is not answered.
    package func subscribe(_ rule: String) {
        guard isOpen else { return }
        dbus_bus_add_match(connection, rule, nil)
    }

    /// Hands a message over for sending; what the socket does not take at once goes out with later exchanges.
    package func send(_ message: BusMessage) {
        guard isOpen, let encoded = BusMessageWriter.write(message) else { return }
        defer { dbus_message_unref(encoded) }
        var serial: dbus_uint32_t = 0
        dbus_connection_send(connection, encoded, &serial)
    }

    /// How a connection is after an exchange.
    package enum Standing: Hashable, Sendable {
        /// Nothing more has come.
        case idle
        /// More has come than was read: the library reads some kilobytes at a time.
        case waiting
        /// The bus is gone.
        case gone
    }

    /// Writes and reads what the socket takes and has, without waiting, and hands over what has come.
    ///
    /// To be called again while it is `waiting`: the system tells the end of a connection once only, and perhaps while
    /// there is still something to read before it.
    package func exchange(_ take: (BusMessage) -> Void) -> Standing {
        guard isOpen else { return .gone }
        var stands = dbus_connection_read_write(connection, 0) != 0
        while let message = dbus_connection_pop_message(connection) {
            defer { dbus_message_unref(message) }
            guard let message = BusMessageReader.read(message) else { continue }
            if message.interface == "org.freedesktop.DBus.Local", message.member == "Disconnected" {
                stands = false
            } else {
                take(message)
            }
        }
        return stands ? (hasArrivals ? .waiting : .idle) : .gone
    }

    /// Whether the socket has something to read, or an end to tell.
    private var hasArrivals: Bool {
        var socket = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&socket, 1, 0) > 0
    }

    /// Whether messages wait for the socket to take them.
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
            reason: error.message.map { String(cString: $0) } ?? "libdbus gives no reason")
    }
}
