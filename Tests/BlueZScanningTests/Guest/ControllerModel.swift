import IndoorLocalization

/// What a Bluetooth LE controller does with its host's commands and with what comes over the air.
///
/// A plain value: commands and transmissions in, events out, each from its event code on. It refuses what a real
/// controller refuses. Sources: Bluetooth Core Specification 5.4, Vol 4, Part E, 3.1.1, 7.8.10, 7.8.11, 7.8.64, 7.8.65.
struct ControllerModel: Sendable {
    /// Which commands it knows.
    enum Generation: Sendable, CaseIterable {
        /// Bluetooth 4.2: legacy advertisements only.
        case bluetooth4
        /// Bluetooth 5.2: the extended commands too, which the kernel then prefers.
        case bluetooth5
    }

    /// What the host asked of the scan.
    struct Scan: Hashable, Sendable {
        var isEnabled = false
        /// Whether an advertiser is reported once only.
        var filtersDuplicates = false
        /// Whether advertisers are asked for more.
        var isActive = false
        /// In units of 0.625 ms.
        var interval: UInt16 = 0x10
        /// In units of 0.625 ms.
        var window: UInt16 = 0x10
        /// Whether it was set with the commands of Bluetooth 5.
        var isExtended = false
    }

    /// What became of all transmissions, and of the commands that were no pleasure.
    struct Tally: Hashable, Sendable {
        /// Came over the air.
        var sent = 0
        /// Reported, each as one, in however many fragments.
        var reported = 0
        /// Not heard, as no scan was on.
        var unheard = 0
        /// Left out by the duplicate filter.
        var duplicates = 0
        /// Extended ones during a scan of Bluetooth 4, or of a kind of event that the host does not want.
        var unreportable = 0
        /// Reports that the kernel did not take, as the adapter was down.
        var refusedByHost = 0
        /// Commands that were refused as "Command Disallowed".
        var disallowed = 0
        /// Commands that the controller does not know.
        var unknown: [HostCommand] = []
    }

    let address: DeviceAddress
    let generation: Generation
    /// How many advertisers the duplicate filter remembers.
    let duplicateCapacity: Int
    private(set) var scan = Scan()
    private(set) var commands: [HostCommand] = []
    var tally = Tally()

    /// Which of the two kinds of commands was used since the last reset; nil if none.
    private var usesExtended: Bool?
    private var eventMask = Self.initialEventMask
    /// Advertisers that were reported, the one heard last at the end.
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

    /// Carries a command out; returns the event that answers it.
    mutating func answer(_ command: HostCommand) -> [UInt8] {
        commands.append(command)
        let answer = carryOut(command)
        if answer.first == Status.disallowed { tally.disallowed += 1 }
        if answer.first == Status.unknownCommand { tally.unknown.append(command) }
        let opcode = [UInt8(command.opcode & 0xFF), UInt8(command.opcode >> 8)]
        // Command Complete, with room for one more command.
        return [0x0E, UInt8(3 + answer.count), 1] + opcode + answer
    }

    /// Status and return parameters.
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
        // The extended form names the PHYs first; what follows is for LE 1M.
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

    /// Hears what is sent; returns the events that report it, with at most so many reports each.
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
