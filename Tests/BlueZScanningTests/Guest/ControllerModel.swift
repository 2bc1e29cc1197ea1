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

/// The controller's answers to reading commands. Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 6.27, 7.3,
/// 7.4, 7.8.
extension ControllerModel {
    /// Returns the return parameters of a reading command; nil if the controller doesn't support it.
    func information(for command: HostCommand) -> [UInt8]? {
        switch command.opcode {
        // Bluetooth 4.2 or 5.2, with the company number for tests.
        case HostOpcode.readVersion: [version, 0, 0, version, 0xFF, 0xFF, 0, 0]
        case HostOpcode.readCommands: supportedCommands
        // LE, and no classic Bluetooth.
        case HostOpcode.readFeatures: [0, 0, 0, 0, 0x60, 0, 0, 0]
        case HostOpcode.readExtendedFeatures: [command.byte(at: 0), 0, 0, 0, 0, 0, 0, 0, 0, 0]
        case HostOpcode.readBufferSize: [251, 0, 0, 8, 0, 0, 0]
        case HostOpcode.readAddress: (0..<6).map { UInt8(truncatingIfNeeded: address.rawValue >> UInt64(8 * $0)) }
        case HostOpcode.readStoredLinkKey: [0, 0, 0, 0]
        case HostOpcode.readLocalName: [UInt8](repeating: 0, count: 248)
        case HostOpcode.readClass: [0, 0, 0]
        case HostOpcode.readLEBufferSize: [251, 0, 8]
        // Extended advertising is bit 12.
        case HostOpcode.readLEFeatures: [0, generation == .bluetooth5 ? 0x10 : 0, 0, 0, 0, 0, 0, 0]
        case HostOpcode.readAdvertisingPower: [0]
        case HostOpcode.readAcceptListSize, HostOpcode.readResolvingListSize: [8]
        case HostOpcode.random: [1, 2, 3, 4, 5, 6, 7, UInt8(truncatingIfNeeded: commands.count)]
        case HostOpcode.readStates: [UInt8](repeating: 0xFF, count: 5) + [0x03, 0, 0]
        case HostOpcode.setExtendedAdvertisingParameters: [0]
        case HostOpcode.readAdvertisingDataLength: [0x72, 0x06]
        case HostOpcode.readAdvertisingSets: [4]
        default: nil
        }
    }

    private var version: UInt8 { generation == .bluetooth4 ? 0x08 : 0x0B }

    /// The bits of the commands that `answer(_:)` supports, by octet.
    private var supportedCommands: [UInt8] {
        var octets = [UInt8](repeating: 0, count: 64)
        octets[5] = 0xC0  // event mask, reset
        octets[14] = 0x28  // version, features
        octets[15] = 0x02  // address
        octets[25] = 0xF7  // LE: event mask, buffer size, features, random address, advertising
        octets[26] = 0xCF  // scan response data, advertising on, scan parameters, scan on, accept list
        octets[27] = 0x83  // accept list, random number
        octets[28] = 0x08  // states
        guard generation == .bluetooth5 else { return octets }
        octets[36] = 0xFE  // advertising sets, extended advertising
        octets[37] = 0x63  // advertising sets removed, extended scan
        return octets
    }
}

/// A command from the host to its controller. Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.
struct HostCommand: Hashable, Sendable, CustomStringConvertible {
    /// The opcode, with the group in the upper six bits.
    var opcode: UInt16
    /// The bytes after the header.
    var parameters: [UInt8]

    init(opcode: UInt16, parameters: [UInt8]) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// Decodes a packet of the kernel after its kind byte; returns nil if it is truncated.
    init?(packet: some Collection<UInt8>) {
        let bytes = Array(packet)
        guard bytes.count >= 3, bytes.count == 3 + Int(bytes[2]) else { return nil }
        self.init(opcode: UInt16(bytes[0]) | UInt16(bytes[1]) << 8, parameters: Array(bytes[3...]))
    }

    /// Returns two bytes of the parameters in little-endian order; 0 beyond their end.
    func word(at index: Int) -> UInt16 { UInt16(byte(at: index)) | UInt16(byte(at: index + 1)) << 8 }

    /// Returns a byte of the parameters; 0 beyond their end.
    func byte(at index: Int) -> UInt8 { index < parameters.count ? parameters[index] : 0 }

    var description: String {
        String(opcode, radix: 16) + " " + parameters.map { String($0, radix: 16) }.joined(separator: ".")
    }
}

/// The commands that the virtual controller supports.
enum HostOpcode {
    static let setEventMask: UInt16 = 0x0C01
    static let reset: UInt16 = 0x0C03
    static let readStoredLinkKey: UInt16 = 0x0C0D
    static let writeLocalName: UInt16 = 0x0C13
    static let readLocalName: UInt16 = 0x0C14
    static let readClass: UInt16 = 0x0C23
    static let setEventMaskPage2: UInt16 = 0x0C63
    static let writeLEHostSupport: UInt16 = 0x0C6D
    static let readVersion: UInt16 = 0x1001
    static let readCommands: UInt16 = 0x1002
    static let readFeatures: UInt16 = 0x1003
    static let readExtendedFeatures: UInt16 = 0x1004
    static let readBufferSize: UInt16 = 0x1005
    static let readAddress: UInt16 = 0x1009
    static let setLEEventMask: UInt16 = 0x2001
    static let readLEBufferSize: UInt16 = 0x2002
    static let readLEFeatures: UInt16 = 0x2003
    static let setRandomAddress: UInt16 = 0x2005
    static let setAdvertisingParameters: UInt16 = 0x2006
    static let readAdvertisingPower: UInt16 = 0x2007
    static let setAdvertisingData: UInt16 = 0x2008
    static let setScanResponseData: UInt16 = 0x2009
    static let setAdvertisingEnable: UInt16 = 0x200A
    static let setScanParameters: UInt16 = 0x200B
    static let setScanEnable: UInt16 = 0x200C
    static let readAcceptListSize: UInt16 = 0x200F
    static let clearAcceptList: UInt16 = 0x2010
    static let addToAcceptList: UInt16 = 0x2011
    static let removeFromAcceptList: UInt16 = 0x2012
    static let random: UInt16 = 0x2018
    static let readStates: UInt16 = 0x201C
    static let clearResolvingList: UInt16 = 0x2029
    static let readResolvingListSize: UInt16 = 0x202A
    static let setResolution: UInt16 = 0x202D
    static let setResolvableTimeout: UInt16 = 0x202E
    static let setAdvertisingSetAddress: UInt16 = 0x2035
    static let setExtendedAdvertisingParameters: UInt16 = 0x2036
    static let setExtendedAdvertisingData: UInt16 = 0x2037
    static let setExtendedScanResponseData: UInt16 = 0x2038
    static let setExtendedAdvertisingEnable: UInt16 = 0x2039
    static let readAdvertisingDataLength: UInt16 = 0x203A
    static let readAdvertisingSets: UInt16 = 0x203B
    static let removeAdvertisingSet: UInt16 = 0x203C
    static let clearAdvertisingSets: UInt16 = 0x203D
    static let setExtendedScanParameters: UInt16 = 0x2041
    static let setExtendedScanEnable: UInt16 = 0x2042
    static let readTransmitPower: UInt16 = 0x204B

    /// The commands of Bluetooth 4 that must not be mixed with those of Bluetooth 5 until the next reset (3.1.1).
    static let legacy: Set<UInt16> = [
        setAdvertisingParameters, readAdvertisingPower, setAdvertisingData, setScanResponseData, setAdvertisingEnable,
        setScanParameters, setScanEnable,
    ]
    /// The commands of Bluetooth 5 that must not be mixed with those of Bluetooth 4.
    static let extended: Set<UInt16> = [
        setExtendedAdvertisingParameters, setExtendedAdvertisingData, setExtendedScanResponseData,
        setExtendedAdvertisingEnable, readAdvertisingDataLength, readAdvertisingSets, removeAdvertisingSet,
        clearAdvertisingSets, setExtendedScanParameters, setExtendedScanEnable,
    ]
    /// The commands without an observable effect, which the controller only acknowledges.
    static let acknowledged: Set<UInt16> = [
        setEventMask, writeLocalName, setEventMaskPage2, writeLEHostSupport, setAdvertisingParameters,
        setAdvertisingData, setScanResponseData, setAdvertisingEnable, clearAcceptList, addToAcceptList,
        removeFromAcceptList, clearResolvingList, setResolution, setResolvableTimeout, setAdvertisingSetAddress,
        setExtendedAdvertisingData, setExtendedScanResponseData, setExtendedAdvertisingEnable, removeAdvertisingSet,
        clearAdvertisingSets,
    ]
}

/// An encoder of reports into events, as controllers send them. It is independent of the package's own code, which it
/// tests.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
struct AdvertisingPackets {
    private let isExtended: Bool
    private let reportsPerEvent: Int
    private var events: [[UInt8]] = []
    private var reports: [[UInt8]] = []

    /// The bytes for reports: an event has 255 bytes of parameters, of which the subevent code and the report count use
    /// two.
    private static let room = 253
    /// The longest data of a fragment: the rest of an extended report has 24 bytes.
    static let longestFragment = room - 24

    init(isExtended: Bool, reportsPerEvent: Int) {
        self.isExtended = isExtended
        self.reportsPerEvent = reportsPerEvent
    }

    /// Adds the report of an advertisement.
    mutating func add(_ transmission: Transmission) {
        let isScannable = transmission.scanResponse != nil
        if !isExtended {
            // ADV_SCAN_IND or ADV_NONCONN_IND.
            append(legacyReport(type: isScannable ? 2 : 3, transmission, transmission.data))
        } else if !transmission.isExtended {
            append(extendedReport(type: isScannable ? 0x12 : 0x10, transmission, transmission.data[...]))
        } else {
            addFragments(of: transmission)
        }
    }

    /// Adds the report of the scan response, if the advertiser has one.
    mutating func addResponse(of transmission: Transmission) {
        guard let response = transmission.scanResponse else { return }
        append(
            isExtended
                ? extendedReport(type: 0x1A, transmission, response[...])
                : legacyReport(type: 4, transmission, response))
    }

    /// Returns all events, including the last.
    mutating func finish() -> [[UInt8]] {
        flush()
        return events
    }

    private mutating func addFragments(of transmission: Transmission) {
        let data = transmission.data
        for start in stride(from: 0, to: max(1, data.count), by: Self.longestFragment) {
            let end = min(start + Self.longestFragment, data.count)
            // Neither connectable nor scannable; bit 5 means that more data follows.
            append(extendedReport(type: end < data.count ? 0x20 : 0, transmission, data[start..<end]))
        }
    }

    private mutating func append(_ report: [UInt8]) {
        if reports.count == reportsPerEvent || reports.reduce(report.count, { $0 + $1.count }) > Self.room { flush() }
        reports.append(report)
    }

    private mutating func flush() {
        guard !reports.isEmpty else { return }
        let content = [isExtended ? 0x0D : 0x02, UInt8(reports.count)] + reports.joined()
        events.append([0x3E, UInt8(content.count)] + content)
        reports = []
    }

    private func legacyReport(type: UInt8, _ transmission: Transmission, _ data: [UInt8]) -> [UInt8] {
        [type] + sender(transmission) + [UInt8(data.count)] + data + [UInt8(bitPattern: transmission.rssi)]
    }

    private func extendedReport(type: UInt8, _ transmission: Transmission, _ data: ArraySlice<UInt8>) -> [UInt8] {
        // Primary PHY LE 1M. A legacy advertisement has no secondary PHY and no set.
        let physical: [UInt8] = transmission.isExtended ? [1, 1, 0] : [1, 0, 0xFF]
        // No transmit power; not periodic; no target.
        let middle = [127, UInt8(bitPattern: transmission.rssi), 0, 0] + [UInt8](repeating: 0, count: 7)
        return [type, 0] + sender(transmission) + physical + middle + [UInt8(data.count)] + data
    }

    /// Returns the address with its kind, in little-endian order.
    private func sender(_ transmission: Transmission) -> [UInt8] {
        let address = transmission.address
        return [address.kind == .random ? 1 : 0]
            + (0..<6).map { UInt8(truncatingIfNeeded: address.rawValue >> UInt64(8 * $0)) }
    }
}
