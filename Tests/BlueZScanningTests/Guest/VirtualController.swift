import BlueZScanning
import Dispatch
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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

/// One transmission of an advertiser, with the RSSI at the controller.
struct Transmission: Hashable, Sendable {
    /// The address of the advertiser.
    var address: DeviceAddress
    /// The RSSI in dBm.
    var rssi: Int8
    /// The AD structures: at most 31 bytes with Bluetooth 4, and at most 1650 with Bluetooth 5.
    var data: [UInt8]
    /// The scan response; nil if the advertiser isn't scannable.
    var scanResponse: [UInt8]?
    /// Whether it is an extended advertisement of Bluetooth 5, which a scan of Bluetooth 4 doesn't receive.
    var isExtended: Bool

    init(
        address: DeviceAddress, rssi: Int8, data: [UInt8], scanResponse: [UInt8]? = nil, isExtended: Bool = false
    ) {
        self.address = address
        self.rssi = rssi
        self.data = data
        self.scanResponse = scanResponse
        self.isExtended = isExtended || data.count > 31
    }
}

extension Transmission {
    /// Returns the transmission of an iBeacon with an address derived from its numbers.
    static func iBeacon(
        _ uuid: BeaconUUID, major: UInt16, minor: UInt16, rssi: Int8, measuredPower: Int8 = -59
    ) -> Transmission {
        let head: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
        let numbers = [UInt8(major >> 8), UInt8(major & 0xFF), UInt8(minor >> 8), UInt8(minor & 0xFF)]
        let address = DeviceAddress(rawValue: 0xC000_0000_0000 | UInt64(major) << 16 | UInt64(minor), kind: .random)
        return Transmission(
            address: address, rssi: rssi,
            data: head + bytes(of: uuid.high) + bytes(of: uuid.low) + numbers + [UInt8(bitPattern: measuredPower)])
    }

    private static func bytes(of value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }
}

/// A series of numbered beacons, each with an RSSI that depends on its number, so that a test detects lost, repeated,
/// reordered and changed reports.
struct BeaconSeries: Sendable {
    /// The UUID of the series, not used elsewhere.
    static let uuid = BeaconUUID(high: 0x5E71_E500_0000_4000, low: 0x8000_0000_0000_0001)

    /// Returns the RSSI for a number in dBm.
    static func rssi(of number: Int) -> Int8 { Int8(-30 - number % 60) }

    /// Returns the transmission of the beacon with a number.
    static func transmission(_ number: Int) -> Transmission {
        .iBeacon(
            uuid, major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF), rssi: rssi(of: number))
    }

    /// Returns the number of a sighting; nil if it isn't of the series, or differs from what was sent.
    static func number(of sighting: Sighting) -> Int? {
        guard sighting.beacon.uuid == uuid else { return nil }
        let number = Int(sighting.beacon.major) << 16 | Int(sighting.beacon.minor)
        return sighting.rssi == Double(rssi(of: number)) && sighting.measuredPower == -59 ? number : nil
    }

    /// Fails unless the sightings have exactly these numbers, in order, with their RSSI.
    static func assertHeard(
        _ numbers: Range<Int>, in sightings: [Sighting], _ message: String = "", line: UInt = #line
    ) {
        let heard = sightings.map(number)
        if heard == numbers.map({ $0 }) { return }
        let first = zip(heard, numbers).enumerated().first { $0.element.0 != $0.element.1 }
        XCTFail(
            "\(message) \(sightings.count) of \(numbers.count) were received; the first difference is at "
                + (first.map { "\($0.offset): \($0.element.0.map(String.init) ?? "no such beacon")" } ?? "the end"),
            line: line)
    }
}
