import Foundation
import IndoorLocalizationTesting

/// The system services of a desktop: the message bus, bluetoothd, and btmon as a monitor.
///
/// The tests detect readiness from the services' output and the names on the bus.
final class GuestServices {
    private var bus: GuestProcess?
    /// The process that monitors the names on the bus.
    private var busMonitor: GuestProcess?
    private var bluetooth: GuestProcess?
    private var monitor: GuestProcess?
    /// The capture file of btmon.
    private var capture: URL?
    private let folder: URL

    /// - Throws: `XCTSkip` outside a guest.
    init() throws { folder = try Guest.folder() }

    /// Ends all services.
    func endAll() async throws {
        try await monitor?.end()
        try await bluetooth?.end()
        // A child process inherits the blocked signals of the parent's thread: these two services would not receive
        // SIGTERM.
        try await busMonitor?.end(SIGKILL)
        try await bus?.end(SIGKILL)
    }

    // MARK: - Message bus

    /// Starts the system message bus and waits until programs can connect.
    func startBus() async throws {
        try FileManager.default.createDirectory(atPath: "/run/dbus", withIntermediateDirectories: true)
        let bus = try GuestProcess(
            "/usr/bin/dbus-daemon", ["--system", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"])
        self.bus = bus
        try await bus.wait(for: "its address") { $0.contains { $0.hasPrefix("unix:") } }
        let busMonitor = try GuestProcess(
            "/usr/bin/dbus-monitor",
            ["--system", "type='signal',member='NameOwnerChanged'"])
        self.busMonitor = busMonitor
        try await busMonitor.wait(for: "a first signal") { !$0.isEmpty }
    }

    // MARK: - bluetoothd

    /// Starts bluetoothd and waits until it owns its name on the bus.
    func startBluetooth(isExperimental: Bool = false) async throws {
        let said = busMonitor?.output.value.lines.count ?? 0
        bluetooth = try GuestProcess(Self.daemon, ["-n"] + (isExperimental ? ["--experimental"] : []))
        try await waitForName(isOwned: true, after: said)
    }

    /// Ends bluetoothd with a signal and waits until its name is free.
    func endBluetooth(_ signal: Int32 = SIGTERM) async throws {
        let said = busMonitor?.output.value.lines.count ?? 0
        try await bluetooth?.end(signal)
        bluetooth = nil
        try await waitForName(isOwned: false, after: said)
    }

    /// Starts a program with a discovery that runs until the program ends.
    func startDiscovery() throws -> GuestProcess {
        try GuestProcess("/usr/bin/bluetoothctl", ["--timeout", "300", "scan", "le"])
    }

    private static var daemon: String {
        let places = ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? places[0]
    }

    /// Waits for a NameOwnerChanged signal. It has three arguments: the name, its old owner and its new owner.
    private func waitForName(isOwned: Bool, after count: Int) async throws {
        try await busMonitor?.wait(for: "org.bluez \(isOwned ? "came" : "went")", after: count) { lines in
            lines.indices.contains { index in
                lines[index].hasSuffix("string \"org.bluez\"") && index + 2 < lines.count
                    && lines[index + 1].hasSuffix("\"\"") == isOwned && lines[index + 2].hasSuffix("\"\"") != isOwned
            }
        }
    }

    // MARK: - Power

    /// Switches an adapter on or off, as a person would, and waits until the kernel has done it.
    static func setPower(_ isOn: Bool, of controller: VirtualController) async throws {
        let number = controller.content.value.index ?? 0
        let said = try await GuestProcess.run(
            "/usr/bin/btmgmt", ["--index", "\(number)", "power", isOn ? "on" : "off"])
        guard said.contains(where: { $0.contains("Set Powered complete") }) else {
            throw Bounded.Expired(awaited: "power \(isOn ? "on" : "off") (btmgmt said: \(said))")
        }
    }

    /// Waits until the kernel reports an adapter as on or off.
    ///
    /// No event reports the change to a process, so the function polls. Each poll runs a program, which takes time
    /// anyway.
    func waitForPower(_ isOn: Bool, of controller: VirtualController) async throws {
        let name = controller.name
        try await Bounded.waitInGuest(for: "\(name) \(isOn ? "on" : "off")") {
            while true {
                let index = String(name.dropFirst(3))
                let said = try await GuestProcess.run("/usr/bin/btmgmt", ["--index", index, "info"])
                let settings = said.first { $0.contains("current settings:") } ?? ""
                if !settings.isEmpty, settings.contains("powered") == isOn { return }
            }
        }
    }

    // MARK: - btmon

    /// Starts btmon, which writes a capture, and waits until it monitors.
    func startMonitor(capturingTo name: String) async throws {
        // Line buffering, because btmon would otherwise buffer its output without a terminal.
        let capture = folder.appending(path: name)
        let monitor = try GuestProcess("/usr/bin/stdbuf", ["-oL", "/usr/bin/btmon", "-w", capture.path])
        self.capture = capture
        self.monitor = monitor
        try await monitor.wait(for: "its first words") { $0.contains { $0.contains("Linux version") } }
    }

    /// The lines of btmon about the controller's LE events so far, without other traffic.
    var reportLines: [String] { Self.reportLines(of: monitor?.output.value.lines ?? []) }

    /// Returns the lines of LE events in the output of btmon.
    static func reportLines(of lines: [String]) -> [String] {
        var isEvent = false
        return lines.filter { line in
            if let first = line.first, first != " " { isEvent = line.hasPrefix("> HCI Event: LE Meta Event") }
            return isEvent
        }
    }

    /// Waits until the lines of btmon satisfy a condition.
    func waitForMonitor(_ awaited: String, until condition: @escaping @Sendable ([String]) -> Bool) async throws {
        try await monitor?.wait(for: awaited, until: condition)
    }

    /// Ends btmon and returns the location of the capture.
    func endMonitor() async throws -> URL {
        try await monitor?.end()
        monitor = nil
        return capture ?? folder
    }
}
