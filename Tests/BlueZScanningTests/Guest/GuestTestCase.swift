import Foundation
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import XCTest

/// A test in the guest. At its end, it unplugs and stops everything that it plugged in and started.
class GuestTestCase: XCTestCase {
    private var openControllers: [VirtualController] = []
    private var openListenings: [Listening] = []
    private var openServices: GuestServices?

    override func setUp() async throws { _ = try Guest.folder() }

    override func tearDown() async throws {
        // Outside a guest the test was skipped, and there is nothing to clean up.
        guard (try? Guest.folder()) != nil else { return }
        for listening in openListenings { try await listening.stop() }
        for controller in openControllers where controller.content.value.index != nil { try await controller.unplug() }
        try await openServices?.endAll()
        try RadioSwitch.setBlocked(false)
        openListenings = []
        openControllers = []
        openServices = nil
    }

    /// Returns a controller that is plugged in.
    func pluggedIn(
        _ generation: ControllerModel.Generation = .bluetooth4,
        address: DeviceAddress = VirtualController.standardAddress, duplicateCapacity: Int = 8
    ) async throws -> VirtualController {
        let controller = VirtualController(generation, address: address, duplicateCapacity: duplicateCapacity)
        openControllers.append(controller)
        try await controller.plugIn()
        return controller
    }

    /// Returns a scan that has started.
    func listening(to source: some ScanSource) -> Listening {
        let listening = Listening(to: source)
        openListenings.append(listening)
        return listening
    }

    /// Returns services that haven't started.
    func plainServices() throws -> GuestServices {
        let services = try GuestServices()
        openServices = services
        return services
    }

    /// Returns a running message bus and bluetoothd.
    func services(isExperimental: Bool = false) async throws -> GuestServices {
        let services = try plainServices()
        try await services.startBus()
        try await services.startBluetooth(isExperimental: isExperimental)
        return services
    }
}

/// The virtual machine for tests that need a Bluetooth stack.
enum Guest {
    /// Returns the folder for the output of a run.
    ///
    /// - Throws: `XCTSkip` outside a guest.
    static func folder() throws -> URL {
        guard let path = ProcessInfo.processInfo.environment["BLUETOOTH_GUEST"] else {
            throw XCTSkip("runs in a guest with Bluetooth: .ci/guest")
        }
        return URL(filePath: path)
    }

    /// The present on the timeline of live sources: the time since boot.
    static var present: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension Bounded {
    /// The time limit of a wait in the emulated guest: longer than any step takes, and short enough that the other
    /// tests still run after a failure.
    static let longestInGuest = Duration.seconds(20)

    /// Waits for an event in the guest. Throws `Expired` after the time limit.
    static func waitInGuest<Value: Sendable>(
        for awaited: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await wait(for: awaited, within: longestInGuest, operation)
    }
}

/// A program that runs during a test, with output that the test can wait for.
///
/// A class because it owns a process. A lock protects its lines.
final class GuestProcess: Sendable {
    struct Output: Sendable {
        /// The lines of standard output and standard error.
        var lines: [String] = []
        /// The exit status; nil while the program runs.
        var status: Int32?
        fileprivate var rest = Data()
    }

    let name: String
    let output = WatchedState(Output())
    private let process: Mutex<Process>
    /// Standard input, which stays open because BlueZ's tools exit at its end.
    private let input = Pipe()

    /// Starts a program.
    init(_ path: String, _ arguments: [String] = []) throws {
        name = URL(filePath: path).lastPathComponent
        let child = Process()
        child.executableURL = URL(filePath: path)
        child.arguments = arguments
        child.standardInput = input
        let pipe = Pipe()
        child.standardOutput = pipe
        child.standardError = pipe
        // A thread, because creating and canceling handlers crashes the dispatch library: see `ReadinessWatch`.
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread { [output] in
            while true {
                let data = reading.availableData
                if data.isEmpty { return }
                output.update { $0.append(data) }
            }
        }
        child.terminationHandler = { [output] child in
            let status = child.terminationStatus
            output.update { $0.status = status }
        }
        try child.run()
        process = Mutex(child)
    }

    deinit { if process.withLock({ $0.isRunning }) { kill(process.withLock { $0.processIdentifier }, SIGKILL) } }

    /// Waits until the lines after the first `count` satisfy a condition. Returns the number of lines at that time.
    @discardableResult
    func wait(
        for awaited: String, after count: Int = 0, until condition: @escaping @Sendable ([String]) -> Bool
    ) async throws -> Int {
        do {
            try await Bounded.waitInGuest(for: "\(name): \(awaited)") { [output] in
                try await output.wait { condition(Array($0.lines.dropFirst(count))) }
            }
        } catch let error as Bounded.Expired {
            throw Bounded.Expired(awaited: "\(error.awaited) (its output:  \(output.value.lines.suffix(20)))")
        }
        return output.value.lines.count
    }

    /// Waits until the program has ended, and returns its exit status.
    @discardableResult
    func waitForEnd() async throws -> Int32 {
        try await Bounded.waitInGuest(for: "the end of \(name)") { [output] in
            try await output.wait { $0.status != nil }
        }
        return output.value.status ?? -1
    }

    /// Sends a signal and waits for the end.
    func end(_ signal: Int32 = SIGTERM) async throws {
        let number = process.withLock { $0.processIdentifier }
        if output.value.status == nil { kill(number, signal) }
        try await waitForEnd()
    }

    /// Runs a program to its end and returns its output.
    @discardableResult
    static func run(_ path: String, _ arguments: [String] = []) async throws -> [String] {
        let process = try GuestProcess(path, arguments)
        try await process.waitForEnd()
        return process.output.value.lines
    }
}

extension GuestProcess.Output {
    fileprivate mutating func append(_ data: Data) {
        rest.append(data)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
            rest = Data(rest[(end + 1)...])
        }
    }
}

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

/// The kernel's radio switches, as the airplane mode of a desktop uses them.
enum RadioSwitch {
    struct Failure: Error { var number: Int32 }

    /// Blocks or releases all Bluetooth adapters.
    static func setBlocked(_ isBlocked: Bool) throws {
        let descriptor = open("/dev/rfkill", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        defer { close(descriptor) }
        // struct rfkill_event: no index, type Bluetooth, operation "change all", soft block, hard block.
        let event: [UInt8] = [0, 0, 0, 0, 2, 3, isBlocked ? 1 : 0, 0]
        guard write(descriptor, event, event.count) == event.count else { throw Failure(number: errno) }
    }
}

/// A collector of a source's readings, which a test can wait for.
///
/// A class because its own task receives the readings.
final class Listening: Sendable {
    struct Heard: Sendable {
        /// All readings but radio events, in order.
        var readings: [SensorReading] = []
        /// The radio events, in order.
        var events: [RadioEvent] = []
        var sightingCount = 0
        /// The error that ended the stream, if it threw.
        var error: (any Error)?
        /// Whether the stream has ended.
        var isOver = false

        var sightings: [Sighting] { readings.compactMap { if case .sighting(let it) = $0 { it } else { nil } } }
        var advertisements: [Advertisement] {
            readings.compactMap { if case .advertisement(let it) = $0 { it } else { nil } }
        }
        var statuses: [RadioEvent.Status] { events.map(\.status) }
    }

    let heard: WatchedState<Heard>
    private let task: Task<Void, Never>

    /// Starts to scan.
    init(to source: some ScanSource) {
        let heard = WatchedState(Heard())
        self.heard = heard
        task = Task {
            do {
                for try await reading in source.readings() { heard.update { $0.add(reading) } }
            } catch {
                heard.update { $0.error = error }
            }
            heard.update { $0.isOver = true }
        }
    }

    deinit { task.cancel() }

    /// Ends the scan and waits until the stream has ended.
    func stop() async throws {
        task.cancel()
        try await wait(for: "the end of the stream") { $0.isOver }
    }

    /// Waits until a condition holds, within the time limit.
    func wait(
        for awaited: String, until condition: @escaping @Sendable (Heard) -> Bool
    ) async throws {
        do {
            try await Bounded.waitInGuest(for: awaited) { [heard] in try await heard.wait(until: condition) }
        } catch let error as Bounded.Expired {
            let now = heard.value
            throw Bounded.Expired(
                awaited: "\(error.awaited) (\(now.readings.count) readings, \(now.sightingCount) sightings, radio: "
                    + "\(now.events.suffix(8)), error: \(now.error.map { "\($0)" } ?? "none"))")
        }
    }

    /// Waits for a status in an event after the first `count`. Returns the number of events up to it.
    @discardableResult
    func wait(for status: RadioEvent.Status, after count: Int = 0) async throws -> Int {
        try await wait(for: "the event \(status)") { $0.statuses.dropFirst(count).contains(status) }
        return (heard.value.statuses.dropFirst(count).firstIndex(of: status) ?? count) + 1
    }

    /// Waits for a total number of sightings.
    func waitForSightings(_ count: Int) async throws {
        try await wait(for: "\(count) sightings") { $0.sightingCount >= count }
    }
}

extension Listening.Heard {
    fileprivate mutating func add(_ reading: SensorReading) {
        switch reading {
        case .radio(let event): events.append(event)
        case .sighting:
            sightingCount += 1
            readings.append(reading)
        default: readings.append(reading)
        }
    }
}
