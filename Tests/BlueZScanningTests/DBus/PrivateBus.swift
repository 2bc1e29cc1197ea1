import BlueZScanning
import Dispatch
import Foundation
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A message bus for one test: the real dbus-daemon on a socket in a temporary folder.
final class PrivateBus {
    /// The address of the bus in libdbus's form.
    let address: String
    private let folder: URL
    private let process = Process()

    /// Starts the daemon and waits until it listens.
    ///
    /// - Parameter policy: Rules that follow the rule that allows everything.
    init(policy: String = "", in folder: URL? = nil) throws {
        self.folder = try folder ?? Self.makeFolder()
        let configuration = self.folder.appendingPathComponent("bus.conf")
        // A short name, because the path of a socket has at most 107 bytes.
        address = "unix:path=\(self.folder.appendingPathComponent("s").path)"
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>test</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            \(policy)
          </policy>
        </busconfig>
        """.write(to: configuration, atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--config-file=\(configuration.path)", "--nofork", "--nopidfile", "--print-address=1"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // The daemon prints its address when it listens, and closes the pipe if it ends.
        let printed = output.fileHandleForReading.availableData
        guard !printed.isEmpty else { throw BusSetupError("dbus-daemon ended without listening") }
    }

    /// Kills the daemon and starts another at the same address.
    func restarted() throws -> PrivateBus {
        kill()
        return try PrivateBus(in: folder)
    }

    /// Kills the daemon without notice to its clients.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func remove() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bus-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// An error in the setup of a test.
struct BusSetupError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A test double of `org.bluez` on a private bus, with one powered adapter and a beacon that it reports during
/// discovery.
///
/// `@unchecked Sendable` because mutable state is accessed only on `queue`.
final class StandInService: @unchecked Sendable {
    /// The methods that were called and the received answers, in order.
    let called = WatchedState<[String]>([])
    private let queue = DispatchQueue(label: "StandInService")
    private let connection: BusConnection
    private var arrivals: ReadinessWatch?
    private var callers: [String] = []
    private var lastSerial: UInt32 = 1 << 16

    /// Requests the service's name on the bus.
    init(address: String) throws {
        connection = try BusConnection(address: address)
        let descriptor = dup(connection.descriptor)
        arrivals = ReadinessWatch(
            descriptor, on: queue, whenReady: { [unowned self] in exchange() },
            whenDone: { Glibc.close(descriptor) })
        queue.sync {
            connection.send(
                .call(
                    "RequestName", of: "org.freedesktop.DBus", on: "/org/freedesktop/DBus", at: "org.freedesktop.DBus",
                    serial: 1 << 16, [.string("org.bluez"), .uint32(0)]))
            exchange()
        }
    }

    deinit { end() }

    /// Closes the connection, as if the service were killed.
    func end() {
        queue.sync {
            arrivals?.cancel()
            arrivals = nil
            connection.close()
        }
    }

    /// Emits a signal that reports the beacon.
    func hear(rssi: Int16) {
        queue.sync {
            emit(
                "PropertiesChanged", of: "org.freedesktop.DBus.Properties", on: DBusStage.devicePath,
                [
                    .string("org.bluez.Device1"), .properties(["RSSI": .int16(rssi)]), .array([], of: "s"),
                ])
        }
    }

    /// Calls a method of the last caller.
    func callBack(_ member: String, of interface: String, on path: String) {
        queue.sync {
            guard let caller = callers.last else { return }
            lastSerial += 1
            connection.send(.call(member, of: interface, on: path, at: caller, serial: lastSerial))
        }
    }

    private func exchange() {
        var messages: [BusMessage] = []
        while connection.exchange({ messages.append($0) }) == .waiting {}
        for message in messages where message.kind == .methodCall { answer(message) }
        // Skip the answer to the service's own request for the name, which comes first.
        for message in messages where message.kind == .methodReturn && message.replySerial != 1 << 16 {
            called.update { $0.append("answer of \(message.body.count) value") }
        }
    }

    private func answer(_ call: BusMessage) {
        defer { called.update { $0.append(call.member ?? "") } }
        if let sender = call.sender { callers.append(sender) }
        guard call.member != "GetManagedObjects" else {
            let objects = DBusStage.objects([
                DBusStage.adapterPath: DBusStage.adapter(supportsMonitors: true),
                DBusStage.devicePath: ["org.bluez.Device1": DBusStage.beacon(rssi: nil)],
            ])
            return connection.send(call.reply([objects]))
        }
        connection.send(call.reply())
        guard call.member == "StartDiscovery" else { return }
        var second = DBusStage.beacon(rssi: -58)
        second["Address"] = .string("C0:55:44:33:22:12")
        emit(
            "InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager", on: "/",
            [
                .objectPath("/org/bluez/hci0/dev_C0_55_44_33_22_12"),
                DBusStage.interfaces(["org.bluez.Device1": second]),
            ])
    }

    private func emit(_ member: String, of interface: String, on path: String, _ body: [BusValue]) {
        var signal = BusMessage(kind: .signal)
        signal.path = path
        signal.interface = interface
        signal.member = member
        signal.body = body
        connection.send(signal)
    }
}
