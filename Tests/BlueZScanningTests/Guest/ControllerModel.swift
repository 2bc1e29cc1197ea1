import IndoorLocalization

/// A model of a Bluetooth LE controller that handles host commands and transmissions.
///
/// A value type: its input is commands and transmissions, its output events, each starting with its event code. It
/// refuses the same commands as a real controller. Sources: Bluetooth Core Specification 5.4, Vol 4, Part E, 3.1.1,
/// 7.8.10, 7.8.11, 7.8.64, 7.8.65.
struct ControllerModel: Sendable {
    /// The Bluetooth version, which determines the supported commands.
    enum Generation: Sendable, CaseIterable {
        /// Bluetooth 4.2: legacy advertisements only.
        case bluetooth4
        /// Bluetooth 5.2: also the extended commands, which the kernel prefers.
        case bluetooth5
    }

    /// The scan settings of the host.
    struct Scan: Hashable, Sendable {
        var isEnabled = false
        /// Whether the controller reports an advertiser only once.
        var filtersDuplicates = false
        /// Whether the controller requests scan responses.
        var isActive = false
        /// In units of 0.625 ms.
        var interval: UInt16 = 0x10
        /// In units of 0.625 ms.
        var window: UInt16 = 0x10
        /// Whether the host used the commands of Bluetooth 5.
        var isExtended = false
    }

    /// Counts of transmissions by outcome, and of refused commands.
    struct Tally: Hashable, Sendable {
        /// Transmissions sent.
        var sent = 0
        /// Transmissions reported, each counted once regardless of its fragments.
        var reported = 0
        /// Transmissions ignored because no scan was on.
        var unheard = 0
        /// Transmissions removed by the duplicate filter.
        var duplicates = 0
        /// Extended transmissions during a scan of Bluetooth 4, and events that the host has masked.
        var unreportable = 0
        /// Reports that the kernel rejected because the adapter was off.
        var refusedByHost = 0
        /// Commands that were refused as "Command Disallowed".
        var disallowed = 0
        /// Commands that the controller doesn't support.
        var unknown: [HostCommand] = []
    }

    let address: DeviceAddress
    let generation: Generation
    /// The capacity of the duplicate filter in advertisers.
    let duplicateCapacity: Int
    private(set) var scan = Scan()
    private(set) var commands: [HostCommand] = []
    var tally = Tally()

    /// The command set used since the last reset; nil if none.
    private var usesExtended: Bool?
    private var eventMask = Self.initialEventMask
    /// The reported advertisers, the latest last.
    private var reportedAddresses: [DeviceAddress] = []

    private static let initialEventMask: UInt64 = 0x1F

    init(generation: Generation, address: DeviceAddress, duplicateCapacity: Int = 8) {
        self.generation = generation
        self.address = address
        self.duplicateCapacity = duplicateCapacity
    }

    // MARK: - Commands

    private enum Status {
        static let success: UInt8 = 0x00
        static let unknownCommand: UInt8 = 0x01
        static let disallowed: UInt8 = 0x0C
        static let invalidParameters: UInt8 = 0x12
    }

    /// Performs a command and returns the answering event.
    mutating func answer(_ command: HostCommand) -> [UInt8] {
        commands.append(command)
        let answer = carryOut(command)
        if answer.first == Status.disallowed { tally.disallowed += 1 }
        if answer.first == Status.unknownCommand { tally.unknown.append(command) }
        let opcode = [UInt8(command.opcode & 0xFF), UInt8(command.opcode >> 8)]
        // Command Complete, with room for one more command.
        return [0x0E, UInt8(3 + answer.count), 1] + opcode + answer
    }

    /// Returns the status and the return parameters.
    private mutating func carryOut(_ command: HostCommand) -> [UInt8] {
        let opcode = command.opcode
        if HostOpcode.extended.contains(opcode), generation == .bluetooth4 { return [Status.unknownCommand] }
        if HostOpcode.legacy.contains(opcode) || HostOpcode.extended.contains(opcode) {
            let isExtended = HostOpcode.extended.contains(opcode)
            guard usesExtended ?? isExtended == isExtended else { return [Status.disallowed] }
            usesExtended = isExtended
        }
        switch opcode {
        case HostOpcode.reset:
            scan = Scan()
            usesExtended = nil
            eventMask = Self.initialEventMask
            reportedAddresses = []
            return [Status.success]
        case HostOpcode.setLEEventMask:
            eventMask = (0..<8).reduce(0) { $0 | UInt64(command.byte(at: $1)) << UInt64(8 * $1) }
            return [Status.success]
        case HostOpcode.setRandomAddress: return [scan.isEnabled ? Status.disallowed : Status.success]
        case HostOpcode.setScanParameters, HostOpcode.setExtendedScanParameters: return [setScanParameters(command)]
        case HostOpcode.setScanEnable, HostOpcode.setExtendedScanEnable: return [setScanEnable(command)]
        default:
            if HostOpcode.acknowledged.contains(opcode) { return [Status.success] }
            guard let parameters = information(for: command) else { return [Status.unknownCommand] }
            return [Status.success] + parameters
        }
    }

    private mutating func setScanParameters(_ command: HostCommand) -> UInt8 {
        guard !scan.isEnabled else { return Status.disallowed }
        let isExtended = command.opcode == HostOpcode.setExtendedScanParameters
        // The extended form has the PHYs first; the rest applies to LE 1M.
        guard !isExtended || command.byte(at: 2) & 1 == 1 else { return Status.invalidParameters }
        let start = isExtended ? 3 : 0
        let (interval, window) = (command.word(at: start + 1), command.word(at: start + 3))
        guard window <= interval, window >= 4, command.byte(at: start) <= 1 else { return Status.invalidParameters }
        scan.isActive = command.byte(at: start) == 1
        scan.interval = interval
        scan.window = window
        scan.isExtended = isExtended
        return Status.success
    }

    private mutating func setScanEnable(_ command: HostCommand) -> UInt8 {
        guard command.byte(at: 0) <= 1, command.byte(at: 1) <= 1 else { return Status.invalidParameters }
        scan.isEnabled = command.byte(at: 0) == 1
        scan.filtersDuplicates = command.byte(at: 1) == 1
        scan.isExtended = command.opcode == HostOpcode.setExtendedScanEnable
        reportedAddresses = []
        return Status.success
    }

    // MARK: - The air

    /// Receives transmissions and returns the events that report them, with a limited number of reports each.
    mutating func hear(_ transmissions: some Sequence<Transmission>, reportsPerEvent: Int = 1) -> [[UInt8]] {
        var packets = AdvertisingPackets(isExtended: scan.isExtended, reportsPerEvent: reportsPerEvent)
        for transmission in transmissions {
            tally.sent += 1
            guard scan.isEnabled else {
                tally.unheard += 1
                continue
            }
            let wanted: UInt64 = scan.isExtended ? 1 << 12 : 1 << 1
            guard eventMask & wanted != 0, scan.isExtended || !transmission.isExtended else {
                tally.unreportable += 1
                continue
            }
            guard passesFilter(transmission.address) else {
                tally.duplicates += 1
                continue
            }
            tally.reported += 1
            packets.add(transmission)
            if scan.isActive { packets.addResponse(of: transmission) }
        }
        return packets.finish()
    }

    private mutating func passesFilter(_ address: DeviceAddress) -> Bool {
        guard scan.filtersDuplicates else { return true }
        let known = reportedAddresses.firstIndex(of: address)
        if let known { reportedAddresses.remove(at: known) }
        reportedAddresses.append(address)
        if reportedAddresses.count > duplicateCapacity { reportedAddresses.removeFirst() }
        return known == nil
    }
}
