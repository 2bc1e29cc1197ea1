import IndoorVocabulary

/// One report of an advertisement from a controller to its host.
///
/// Sources: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 (LE Advertising Report) and 7.7.65.13
/// (LE Extended Advertising Report).
package struct AdvertisingReport: Hashable, Sendable {
    /// Properties of the advertisement and its reception: the lower bits of the extended event type.
    package struct Properties: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let connectable = Properties(rawValue: 1 << 0)
        package static let scannable = Properties(rawValue: 1 << 1)
        /// The advertisement is addressed to one device.
        package static let directed = Properties(rawValue: 1 << 2)
        /// The report is of a response to an active scan, not of an advertisement.
        package static let scanResponse = Properties(rawValue: 1 << 3)
        /// The advertiser sent a legacy packet of Bluetooth 4, with at most 31 bytes of data.
        package static let legacy = Properties(rawValue: 1 << 4)
    }

    /// Whether the report completes the advertiser's data.
    package enum DataStatus: UInt8, Hashable, Sendable {
        /// The data are complete, or this is their last fragment.
        case complete = 0
        /// Further reports contain the rest.
        case moreToCome = 1
        /// The controller did not receive the rest.
        case truncated = 2
    }

    /// The properties in the event type.
    package var properties: Properties
    /// Whether the data are complete.
    package var dataStatus: DataStatus
    /// The address of the advertiser; nil if it is anonymous.
    ///
    /// Its kind is nil if the address type is reserved in the specification.
    package var address: DeviceAddress?
    /// The advertising set, in [0, 15]; nil if there is none, as in legacy reports.
    package var setID: UInt8?
    /// Transmit power in dBm; nil if the advertiser does not send it.
    package var transmitPower: Int8?
    /// Received signal strength in dBm, as the controller reports it; 127 means "not available".
    package var rssi: Int8
    /// The byte range of the AD structures within the event.
    package var data: Range<Int>

    /// Creates a report from its parts, without checking them.
    package init(
        properties: Properties, dataStatus: DataStatus, address: DeviceAddress?, setID: UInt8?, transmitPower: Int8?,
        rssi: Int8, data: Range<Int>
    ) {
        self.properties = properties
        self.dataStatus = dataStatus
        self.address = address
        self.setID = setID
        self.transmitPower = transmitPower
        self.rssi = rssi
        self.data = data
    }

    /// Whether the RSSI is a measurement, see ``Sighting/isMeasurement(rssi:)``.
    package var hasMeasurement: Bool { Sighting.isMeasurement(rssi: Double(rssi)) }
}

extension AdvertisingReport {
    /// Returns the HCI events with which a controller reports one reception of an advertisement.
    ///
    /// If the data fit into 31 bytes, the report is a legacy report; otherwise it is an extended report in as many
    /// fragments as needed. The report of an anonymous advertiser is always extended. An address of unknown kind is
    /// written as public, because the format has no value for unknown.
    ///
    /// - Parameters:
    ///   - address: the address of the advertiser; nil if it is anonymous.
    ///   - rssi: received signal strength in dBm.
    ///   - data: the AD structures, at most `AdvertisingReassembler.maximumLength` bytes.
    package static func events(address: DeviceAddress?, rssi: Int8, data: [UInt8]) -> [[UInt8]] {
        if let address, data.count <= AdvertisingReportIterator.Layout.legacyMaximumData {
            return [legacyEvent(address: address, rssi: rssi, data: data)]
        }
        let limit = maximumFragment
        return stride(from: 0, to: max(1, data.count), by: limit).map { start in
            let end = min(start + limit, data.count)
            return extendedEvent(
                address: address, rssi: rssi, fragment: data[start..<end],
                status: end < data.count ? .moreToCome : .complete)
        }
    }

    private typealias Layout = AdvertisingReportIterator.Layout

    /// The maximum number of data bytes in an event, whose parameters have at most 255 bytes.
    package static let maximumFragment = 229

    /// Returns a report of a non-connectable, non-scannable, undirected advertisement, because the properties are
    /// unknown.
    private static func legacyEvent(address: DeviceAddress, rssi: Int8, data: [UInt8]) -> [UInt8] {
        let report =
            [3, address.kind == .random ? 1 : 0] + bytes(of: address) + [UInt8(data.count)] + data
            + [UInt8(bitPattern: rssi)]
        return [Layout.metaEvent, UInt8(report.count + 2), Layout.advertisingReport, 1] + report
    }

    private static func extendedEvent(
        address: DeviceAddress?, rssi: Int8, fragment: ArraySlice<UInt8>, status: DataStatus
    ) -> [UInt8] {
        let addressType = address.map { $0.kind == .random ? 1 : 0 } ?? Layout.anonymous
        let bytes = address.map(bytes) ?? [0, 0, 0, 0, 0, 0]
        // Both PHYs LE 1M, set 0, transmit power not available, not periodic, no target.
        let middle: [UInt8] = [1, 1, 0, UInt8(bitPattern: Layout.noPower), UInt8(bitPattern: rssi), 0, 0]
        let target: [UInt8] = [0, 0, 0, 0, 0, 0, 0]
        let head: [UInt8] = [status.rawValue << 5, 0, addressType] + bytes + middle + target
        let report = head + [UInt8(fragment.count)] + fragment
        return [Layout.metaEvent, UInt8(report.count + 2), Layout.extendedAdvertisingReport, 1] + report
    }

    /// Returns the bytes of an address, the last pair first.
    private static func bytes(of address: DeviceAddress) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.rawValue >> UInt64(8 * $0)) }
    }
}

/// An iterator over the advertising reports of one HCI event, without copying.
///
/// The event begins with its event code, without the packet type of the UART transport. Pass the event to each call,
/// because a span cannot be stored. Events of other types contain no reports.
///
/// Sources: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13; 5.4.4 for the event's header.
package struct AdvertisingReportIterator: Sendable {
    private enum Step { case header, legacy, extended, finished }

    private var step = Step.header
    private var offset = 0
    private var remaining = 0

    /// Creates an iterator before the first report.
    package init() {}

    /// Returns the next report; nil after the last one, after an error, and if the event contains none.
    ///
    /// - Throws: `AdvertisingReportError` if the event is malformed. The reports before the error are valid.
    @inline(__always)
    package mutating func next(in event: Span<UInt8>) throws(AdvertisingReportError) -> AdvertisingReport? {
        do throws(AdvertisingReportError) {
            if step == .header { try begin(event) }
            guard step != .finished else { return nil }
            guard remaining > 0 else {
                step = .finished
                guard offset == event.count else { throw .surplus(offset: offset, count: event.count - offset) }
                return nil
            }
            remaining -= 1
            return step == .legacy ? try legacyReport(event) : try extendedReport(event)
        } catch {
            step = .finished
            throw error
        }
    }

    /// Numbers from the specification.
    package enum Layout {
        /// The event code of LE Meta events.
        package static let metaEvent: UInt8 = 0x3E
        package static let advertisingReport: UInt8 = 0x02
        package static let extendedAdvertisingReport: UInt8 = 0x0D
        /// Bytes before the reports: event code, length, subevent code, number of reports.
        package static let headerLength = 4
        /// Bytes of a report before its data: event type, address type, address, data length.
        package static let legacyHeadLength = 9
        package static let legacyMaximumData = 31
        package static let extendedHeadLength = 24
        package static let anonymous: UInt8 = 0xFF
        package static let noSetID: UInt8 = 0xFF
        /// The value for a power that is not available, in place of dBm.
        package static let noPower: Int8 = 127
    }

    @inline(__always)
    private mutating func begin(_ event: Span<UInt8>) throws(AdvertisingReportError) {
        step = .finished
        guard event.count > 0 else { throw .truncated(offset: 0, expected: 2, found: 0) }
        guard event[0] == Layout.metaEvent else { return }
        guard event.count > 2 else { throw .truncated(offset: 0, expected: 3, found: event.count) }
        guard event[2] == Layout.advertisingReport || event[2] == Layout.extendedAdvertisingReport else { return }
        let length = 2 + Int(event[1])
        guard length <= event.count else { throw .truncated(offset: 0, expected: length, found: event.count) }
        guard length == event.count else { throw .surplus(offset: length, count: event.count - length) }
        guard length >= Layout.headerLength else {
            throw .truncated(offset: 0, expected: Layout.headerLength, found: length)
        }
        step = event[2] == Layout.advertisingReport ? .legacy : .extended
        remaining = Int(event[3])
        offset = Layout.headerLength
    }

    /// Throws if a report needs more bytes than the event has.
    private func need(_ count: Int, _ event: Span<UInt8>) throws(AdvertisingReportError) {
        guard event.count - offset >= count else {
            throw .truncated(offset: offset, expected: count, found: event.count - offset)
        }
    }

    /// The properties of each event type of legacy reports. A table avoids the allocation of a set literal at each use.
    private static let legacyProperties: [AdvertisingReport.Properties] = [
        [.legacy, .connectable, .scannable],
        [.legacy, .connectable, .directed],
        [.legacy, .scannable],
        [.legacy],
        // The report does not state whether the advertisement before the scan response was connectable.
        [.legacy, .scannable, .scanResponse],
    ]

    @inline(__always)
    private mutating func legacyReport(_ event: Span<UInt8>) throws(AdvertisingReportError) -> AdvertisingReport {
        try need(Layout.legacyHeadLength + 1, event)
        let type = Int(event[offset])
        guard type < Self.legacyProperties.count else { throw .reservedValue(.eventType, type, offset: offset) }
        let length = Int(event[offset + 8])
        guard length <= Layout.legacyMaximumData else {
            throw .reservedValue(.dataLength, length, offset: offset + 8)
        }
        try need(Layout.legacyHeadLength + length + 1, event)
        let data = (offset + Layout.legacyHeadLength)..<(offset + Layout.legacyHeadLength + length)
        let report = AdvertisingReport(
            properties: Self.legacyProperties[type], dataStatus: .complete,
            address: Self.address(type: event[offset + 1], at: offset + 2, of: event), setID: nil, transmitPower: nil,
            rssi: Int8(bitPattern: event[data.upperBound]), data: data)
        offset = data.upperBound + 1
        return report
    }

    private mutating func extendedReport(_ event: Span<UInt8>) throws(AdvertisingReportError) -> AdvertisingReport {
        try need(Layout.extendedHeadLength, event)
        // The upper byte of the event type is reserved.
        let type = event[offset]
        guard let status = AdvertisingReport.DataStatus(rawValue: type >> 5 & 3) else {
            throw .reservedValue(.dataStatus, Int(type >> 5 & 3), offset: offset)
        }
        let length = Int(event[offset + 23])
        try need(Layout.extendedHeadLength + length, event)
        let power = Int8(bitPattern: event[offset + 12])
        let setID = event[offset + 11]
        let data = (offset + Layout.extendedHeadLength)..<(offset + Layout.extendedHeadLength + length)
        let report = AdvertisingReport(
            properties: AdvertisingReport.Properties(rawValue: type & 0x1F), dataStatus: status,
            address: Self.address(type: event[offset + 2], at: offset + 3, of: event),
            setID: setID == Layout.noSetID ? nil : setID, transmitPower: power == Layout.noPower ? nil : power,
            rssi: Int8(bitPattern: event[offset + 13]), data: data)
        offset = data.upperBound
        return report
    }

    /// Returns an address, whose last pair comes first in the event; nil if the advertiser is anonymous.
    @inline(__always)
    private static func address(type: UInt8, at offset: Int, of event: Span<UInt8>) -> DeviceAddress? {
        guard type != Layout.anonymous else { return nil }
        let bytes = event.bytes
        let low = UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let high = UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 4, as: UInt16.self))
        let value = UInt64(high) << 32 | UInt64(low)
        // Types 2 and 3 are identity addresses, to which the controller resolved a private address.
        let kind: DeviceAddress.Kind? = type > 3 ? nil : type & 1 == 0 ? .public : .random
        return DeviceAddress(rawValue: value, kind: kind)
    }
}

/// The reason why an HCI event with advertising reports is malformed. Offsets are in bytes from the event code.
package enum AdvertisingReportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A field of the event that can have a reserved value.
    package enum Field: String, Hashable, Sendable {
        /// The event type of a legacy report, in [0, 4].
        case eventType = "event type"
        /// The data status of an extended report, in [0, 2].
        case dataStatus = "data status"
        /// The length in bytes of a legacy report's data, in [0, 31].
        case dataLength = "data length"
    }

    /// The structure at the offset needs more bytes than the event has.
    case truncated(offset: Int, expected: Int, found: Int)
    /// Bytes follow the end of the event or of its last report.
    case surplus(offset: Int, count: Int)
    /// A field has a value that the specification reserves.
    case reservedValue(Field, Int, offset: Int)

    package var description: String {
        switch self {
        case .truncated(let offset, let expected, let found):
            "Event needs \(expected) bytes at byte \(offset), \(found) are there: it was cut off."
        case .surplus(let offset, let count):
            "\(count) bytes too many at byte \(offset): the event's lengths do not agree."
        case .reservedValue(let field, let value, let offset):
            "The \(field.rawValue) at byte \(offset) is \(value), which has no meaning: check who wrote the event."
        }
    }
}

/// A complete advertisement, assembled from one or more reports.
package struct AssembledAdvertisement: Hashable, Sendable {
    /// The last report; its `data` is the range of the last fragment.
    package var report: AdvertisingReport
    /// The AD structures of all fragments.
    package var data: [UInt8]
    /// Whether the rest of the data was not received, or exceeded the maximum length.
    package var isTruncated: Bool

    /// Returns the advertisement or, if it is anonymous, the sighting of its beacon.
    ///
    /// The result is nil if the RSSI is not a measurement, or if an anonymous advertisement contains no beacon.
    package func reading(at instant: Instant) -> SensorReading? {
        guard report.hasMeasurement else { return nil }
        let rssi = Double(report.rssi)
        if let address = report.address {
            return .advertisement(Advertisement(instant: instant, address: address, rssi: rssi, data: data))
        }
        // Malformed data contain no beacon.
        guard case .beacon(let frame)? = try? BeaconFrame.decode(data.span) else { return nil }
        return .sighting(
            Sighting(
                instant: instant, beacon: frame.beacon, rssi: rssi, measuredPower: frame.measuredPower.map(Double.init))
        )
    }
}

/// An assembler of fragments into complete advertisements, by advertiser and advertising set.
///
/// Its memory is bounded: at most `maximumSets` advertisements are incomplete at a time, each with at most `maximumLength`
/// bytes.
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.13.
package struct AdvertisingReassembler: Hashable, Sendable {
    /// The maximum number of incomplete advertisements; if there are more, the oldest one is discarded.
    package static let maximumSets = 64
    /// The maximum length of advertising data in bytes. Source: the same specification, 7.8.57.
    package static let maximumLength = 1650

    private struct Unfinished: Hashable {
        var address: DeviceAddress?
        var setID: UInt8?
        var isScanResponse: Bool
        var data: [UInt8]
        var isTooLong = false

        func isContinued(by report: AdvertisingReport) -> Bool {
            address == report.address && setID == report.setID
                && isScanResponse == report.properties.contains(.scanResponse)
        }

        /// Appends as many bytes as fit.
        mutating func append(_ fragment: Span<UInt8>) {
            let room = AdvertisingReassembler.maximumLength - data.count
            if fragment.count > room { isTooLong = true }
            for index in 0..<min(fragment.count, room) { data.append(fragment[index]) }
        }
    }

    /// Incomplete advertisements, the oldest first.
    private var unfinished: [Unfinished] = []
    /// The number of advertisements that were discarded incomplete.
    package private(set) var abandoned = 0

    /// Creates a reassembler without fragments.
    package init() {}

    /// The number of incomplete advertisements.
    package var pending: Int { unfinished.count }

    /// Returns whether a report is a complete advertisement that continues no fragments.
    @inline(__always)
    package func isWhole(_ report: AdvertisingReport) -> Bool {
        report.dataStatus == .complete && (unfinished.isEmpty || !unfinished.contains { $0.isContinued(by: report) })
    }

    /// Adds a report of an event; returns the complete advertisement, or nil while fragments are missing.
    package mutating func add(_ report: AdvertisingReport, of event: Span<UInt8>) -> AssembledAdvertisement? {
        let fragment = event.extracting(report.data)
        let place = unfinished.firstIndex { $0.isContinued(by: report) }
        var whole: Unfinished
        if let place {
            whole = unfinished.remove(at: place)
        } else {
            whole = Unfinished(
                address: report.address, setID: report.setID,
                isScanResponse: report.properties.contains(.scanResponse), data: [])
            whole.data.reserveCapacity(fragment.count)
        }
        whole.append(fragment)
        guard report.dataStatus == .moreToCome else {
            return AssembledAdvertisement(
                report: report, data: whole.data, isTruncated: whole.isTooLong || report.dataStatus == .truncated)
        }
        if unfinished.count == Self.maximumSets {
            unfinished.removeFirst()
            abandoned += 1
        }
        unfinished.insert(whole, at: place ?? unfinished.count)
        return nil
    }

    /// Discards incomplete advertisements. Call this after reports were lost, because the next fragment may not
    /// continue them.
    package mutating func reset() {
        abandoned += unfinished.count
        unfinished.removeAll()
    }
}

/// A decoder of HCI events with advertising reports.
///
/// It decodes a sighting from the bytes of the event without allocating memory, unless an advertisement arrives in
/// fragments. It creates advertisements, which store their bytes, only on request.
package struct AdvertisingEventDecoder: Sendable {
    /// The readings that are decoded from a report.
    package enum Content: Hashable, Sendable {
        /// The sighting of the report's beacon.
        case sightings
        /// The advertisement, followed by the sighting of its beacon.
        case everything
    }

    /// The readings that are decoded from each report.
    package let content: Content
    /// The number of malformed events; the reports before each defect were decoded.
    package private(set) var malformed = 0
    /// The number of reports whose RSSI is not a measurement.
    package private(set) var unmeasured = 0
    private var reassembler = AdvertisingReassembler()

    /// Creates a decoder without fragments.
    package init(content: Content) { self.content = content }

    /// Decodes an event and passes its advertisements and sightings to the closures, in order.
    ///
    /// Each kind has a separate closure, because copying a large `SensorReading` takes longer than decoding one.
    ///
    /// - Parameters:
    ///   - event: the event, beginning with its event code.
    ///   - instant: when the host received it.
    package mutating func decode(
        _ event: Span<UInt8>, at instant: Instant, advertisement: (Advertisement) -> Void, sighting: (Sighting) -> Void
    ) {
        var iterator = AdvertisingReportIterator()
        do throws(AdvertisingReportError) {
            while let report = try iterator.next(in: event) {
                handle(report, of: event, at: instant, advertisement: advertisement, sighting: sighting)
            }
        } catch {
            malformed += 1
        }
    }

    /// Discards the fragments. Call this after events were lost.
    package mutating func reset() { reassembler.reset() }

    @inline(__always)
    private mutating func handle(
        _ report: AdvertisingReport, of event: Span<UInt8>, at instant: Instant, advertisement: (Advertisement) -> Void,
        sighting: (Sighting) -> Void
    ) {
        guard content == .everything || !reassembler.isWhole(report) else {
            guard report.hasMeasurement else { return unmeasured += 1 }
            let data = event.extracting(report.data)
            if let found = Self.sighting(report, data, at: instant) { sighting(found) }
            return
        }
        guard let whole = reassembler.add(report, of: event) else { return }
        guard report.hasMeasurement else { return unmeasured += 1 }
        if content == .everything, let address = report.address {
            advertisement(
                Advertisement(instant: instant, address: address, rssi: Double(report.rssi), data: whole.data))
        }
        if let found = Self.sighting(report, whole.data.span, at: instant) { sighting(found) }
    }

    /// Returns the sighting of the beacon in the data; nil without a beacon, or if the data are malformed.
    @inline(__always)
    private static func sighting(_ report: AdvertisingReport, _ data: Span<UInt8>, at instant: Instant) -> Sighting? {
        guard case .found(let place)? = try? BeaconFrame.search(data) else { return nil }
        let frame = BeaconFrame.frame(at: place, of: data)
        return Sighting(
            instant: instant, beacon: frame.beacon, rssi: Double(report.rssi),
            measuredPower: frame.measuredPower.map(Double.init), address: report.address)
    }
}
