import Foundation
import IndoorLocalizationTesting

/// The services that a desktop has beside the kernel: the message bus, bluetoothd, and btmon to look on.
///
/// Readiness is awaited by what they say and by the names on the bus.
final class GuestServices {
    private var bus: GuestProcess?
    /// Sees the bus's names come and go.
    private var busMonitor: GuestProcess?
    private var bluetooth: GuestProcess?
    private var monitor: GuestProcess?
    /// Where btmon writes.
    private var capture: URL?
    private let folder: URL

    /// - Throws: `XCTSkip` on a machine that is no guest.
    init() throws { folder = try Guest.folder() }

    /// Ends all that runs.
    func endAll() async throws {
        try await monitor?.end()
        try await bluetooth?.end()
        // A child of Foundation's has the signals blocked that its parent's thread has: these two would never see another.
        try await busMonitor?.end(SIGKILL)
        try await bus?.end(SIGKILL)
    }

    // MARK: - Message bus

    /// Starts the system's message bus; returns once programs can connect.
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

    /// Starts bluetoothd; returns once it has its name on the bus.
    func startBluetooth(isExperimental: Bool = false) async throws {
        let said = busMonitor?.output.value.lines.count ?? 0
        bluetooth = try GuestProcess(Self.daemon, ["-n"] + (isExperimental ? ["--experimental"] : []))
        try await waitForName(isOwned: true, after: said)
    }

    /// Ends bluetoothd, by force if wanted; returns once the bus knows.
    func endBluetooth(_ signal: Int32 = SIGTERM) async throws {
        let said = busMonitor?.output.value.lines.count ?? 0
        try await bluetooth?.end(signal)
        bluetooth = nil
        try await waitForName(isOwned: false, after: said)
    }

    /// Starts another program's discovery, which goes on until the program ends.
    func startDiscovery() throws -> GuestProcess {
        try GuestProcess("/usr/bin/bluetoothctl", ["--timeout", "300", "scan", "le"])
    }

    private static var daemon: String {
        let places = ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? places[0]
    }

    /// NameOwnerChanged has three words: the name, its owner before and its owner now.
    private func waitForName(isOwned: Bool, after count: Int) async throws {
        try await busMonitor?.wait(for: "org.bluez \(isOwned ? "came" : "went")", after: count) { lines in
            lines.indices.contains { index in
                lines[index].hasSuffix("string \"org.bluez\"") && index + 2 < lines.count
                    && lines[index + 1].hasSuffix("\"\"") == isOwned && lines[index + 2].hasSuffix("\"\"") != isOwned
            }
        }
    }

    // MARK: - Power

    /// Switches an adapter on or off, as a person would; returns once the kernel has done it.
    static func setPower(_ isOn: Bool, of controller: VirtualController) async throws {
        let number = controller.content.value.index ?? 0
        let said = try await GuestProcess.run(
            "/usr/bin/btmgmt", ["--index", "\(number)", "power", isOn ? "on" : "off"])
        guard said.contains(where: { $0.contains("Set Powered complete") }) else {
            throw Bounded.Expired(awaited: "power \(isOn ? "on" : "off") (btmgmt said: \(said))")
        }
    }

    /// Waits until the kernel has an adapter on or off.
    ///
    /// Nothing that a process could wait for tells when: it is asked again and again, which takes its time anyway.
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

    /// Starts btmon, which writes a capture; returns once it looks on.
    func startMonitor(capturingTo name: String) async throws {
        // It would keep its words back for long, as it does not talk to a terminal.
        let capture = folder.appending(path: name)
        let monitor = try GuestProcess("/usr/bin/stdbuf", ["-oL", "/usr/bin/btmon", "-w", capture.path])
        self.capture = capture
        self.monitor = monitor
        try await monitor.wait(for: "its first words") { $0.contains { $0.contains("Linux version") } }
    }

    /// The lines that btmon has said so far of the controller's LE events: what others tell each other is left out.
    var reportLines: [String] { Self.reportLines(of: monitor?.output.value.lines ?? []) }

    /// The lines of LE events, of all that btmon says.
    static func reportLines(of lines: [String]) -> [String] {
        var isEvent = false
        return lines.filter { line in
            if let first = line.first, first != " " { isEvent = line.hasPrefix("> HCI Event: LE Meta Event") }
            return isEvent
        }
    }

    /// Waits until btmon has said something.
    func waitForMonitor(_ awaited: String, until condition: @escaping @Sendable ([String]) -> Bool) async throws {
        try await monitor?.wait(for: awaited, until: condition)
    }

    /// Ends btmon, and with it the capture; returns the capture's place.
    func endMonitor() async throws -> URL {
        try await monitor?.end()
        monitor = nil
        return capture ?? folder
    }
}
