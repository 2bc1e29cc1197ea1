import BlueZScanning
import Dispatch
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting

/// A Bluetooth LE controller that this process emulates on the kernel's virtual HCI device.
///
/// A class because it owns an open file and a queue. A lock protects its state.
final class VirtualController: Sendable {
    /// The error of a failed system call on the virtual HCI device.
    struct Failure: Error, CustomStringConvertible {
        var call: String
        var number: Int32
        var description: String { "\(call): \(String(cString: strerror(number)))" }
    }

    /// The state that a test can observe and wait for.
    struct Content: Sendable {
        var model: ControllerModel
        /// The kernel's number of the controller, as in "hci0"; nil while it isn't plugged in.
        var index: Int?
        fileprivate var descriptor: Int32?
        fileprivate var watch: ReadinessWatch?
    }

    let content: WatchedState<Content>
    /// The queue that keeps the traffic with the kernel in order.
    private let queue = DispatchQueue(label: "virtual controller")

    private static let device = "/dev/vhci"
    /// The kernel's packet kinds.
    private enum Kind {
        static let command: UInt8 = 0x01
        static let event: UInt8 = 0x04
        static let vendor: UInt8 = 0xFF
    }

    /// Creates a controller that isn't plugged in.
    init(
        _ generation: ControllerModel.Generation = .bluetooth4, address: DeviceAddress = standardAddress,
        duplicateCapacity: Int = 8
    ) {
        content = WatchedState(
            Content(
                model: ControllerModel(
                    generation: generation, address: address, duplicateCapacity: duplicateCapacity)))
    }

    /// The default address of a controller.
    static let standardAddress = DeviceAddress(rawValue: 0x0050_F200_0001, kind: .public)

    deinit { content.value.watch?.cancel() }

    // MARK: - The plug

    /// Plugs the controller in and waits until the kernel has given it a name.
    func plugIn() async throws {
        let descriptor = open(Self.device, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(call: "open(\(Self.device))", number: errno) }
        let watch = ReadinessWatch(descriptor, on: queue) { [weak self] in
            self?.readPackets(from: descriptor)
        } whenDone: { [content] in
            close(descriptor)
            content.update {
                $0.descriptor = nil
                $0.index = nil
            }
        }
        content.update {
            $0.descriptor = descriptor
            $0.watch = watch
        }
        // The primary controller type.
        let request: [UInt8] = [Kind.vendor, 0]
        guard write(descriptor, request, request.count) == request.count else {
            throw Failure(call: "write(\(Self.device))", number: errno)
        }
        try await wait(for: "a name for the controller") { $0.index != nil }
    }

    /// Unplugs the controller and waits until the kernel has removed it.
    func unplug() async throws {
        let watch = content.update { content in
            defer { content.watch = nil }
            return content.watch
        }
        watch?.cancel()
        try await wait(for: "the end of the controller") { $0.descriptor == nil }
    }

    /// The kernel's name of the controller, such as "hci0"; empty while it isn't plugged in.
    var name: String { content.value.index.map { "hci\($0)" } ?? "" }

    // MARK: - Commands of the host

    /// The scan settings of the host.
    var scan: ControllerModel.Scan { content.value.model.scan }
    /// Counts of the transmissions by outcome.
    var tally: ControllerModel.Tally { content.value.model.tally }
    /// All commands so far.
    var commands: [HostCommand] { content.value.model.commands }

    /// Waits until a condition holds, within the time limit.
    func wait(for awaited: String, until condition: @escaping @Sendable (Content) -> Bool) async throws {
        do {
            try await Bounded.waitInGuest(for: awaited) { [content] in try await content.wait(until: condition) }
        } catch let error as Bounded.Expired {
            throw Bounded.Expired(awaited: "\(error.awaited) (last commands: \(commands.suffix(8)); \(scan); \(tally))")
        }
    }

    /// Waits until a scan is on or off.
    func waitForScan(_ isEnabled: Bool = true) async throws {
        try await wait(for: "scan \(isEnabled ? "on" : "off")") { $0.model.scan.isEnabled == isEnabled }
    }

    /// Waits for a command after the first `count`. Returns the number of commands up to it.
    @discardableResult
    func waitForCommand(
        _ opcode: UInt16, after count: Int = 0,
        where condition: @escaping @Sendable (HostCommand) -> Bool = { _ in true }
    ) async throws -> Int {
        let place: @Sendable (Content) -> Int? = { content in
            content.model.commands.dropFirst(count).firstIndex { $0.opcode == opcode && condition($0) }
        }
        try await wait(for: "command \(String(opcode, radix: 16))") { place($0) != nil }
        return (place(content.value) ?? count) + 1
    }

    // MARK: - The air

    /// Sends transmissions over the air. Returns the number that the controller reported.
    @discardableResult
    func hear(_ transmissions: [Transmission], reportsPerEvent: Int = 1) -> Int {
        queue.sync {
            let (events, reported, descriptor) = content.update { content in
                let before = content.model.tally.reported
                let events = content.model.hear(transmissions, reportsPerEvent: reportsPerEvent)
                return (events, content.model.tally.reported - before, content.descriptor)
            }
            guard let descriptor else { return 0 }
            for event in events where !Self.give(event, to: descriptor) {
                content.update { $0.model.tally.refusedByHost += 1 }
            }
            return reported
        }
    }

    /// Sends the transmissions of a schedule at their times, and returns at the end.
    ///
    /// - Parameters:
    ///   - schedule: The transmissions with their times in seconds from now, in order.
    ///   - speed: The number of seconds of the schedule that pass in one second.
    func play(_ schedule: [(at: Double, transmission: Transmission)], speed: Double = 1) async throws {
        let start = ContinuousClock.now
        var next = 0
        while next < schedule.count {
            try await Task.sleep(until: start + .seconds(schedule[next].at / speed), clock: .continuous)
            let elapsed = (ContinuousClock.now - start).seconds * speed
            let end = schedule[next...].firstIndex { $0.at > elapsed } ?? schedule.count
            hear(schedule[next..<end].map(\.transmission))
            next = max(end, next)
        }
    }

    // MARK: - The kernel

    private func readPackets(from descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            let packet = buffer[..<count]
            switch packet.first {
            case Kind.vendor where count >= 4:
                let index = Int(packet[2]) | Int(packet[3]) << 8
                content.update { $0.index = index }
            case Kind.command:
                guard let command = HostCommand(packet: packet.dropFirst()) else { continue }
                // The kernel sends one command at a time, and counts it only after it has sent it. An answer within
                // microseconds, which no real controller gives, would stall the kernel for two seconds.
                queue.asyncAfter(deadline: .now() + .milliseconds(1)) { [weak self] in
                    self?.carryOut(command, from: descriptor)
                }
            default: break
            }
        }
    }

    private func carryOut(_ command: HostCommand, from descriptor: Int32) {
        // Don't answer if the controller was unplugged in the meantime.
        guard content.value.descriptor == descriptor else { return }
        // A test that waits for the command may continue before the answer; `hear` waits for this queue.
        let answer = content.update { $0.model.answer(command) }
        _ = Self.give(answer, to: descriptor)
    }

    private static func give(_ event: [UInt8], to descriptor: Int32) -> Bool {
        let packet = [Kind.event] + event
        return write(descriptor, packet, packet.count) == packet.count
    }
}
