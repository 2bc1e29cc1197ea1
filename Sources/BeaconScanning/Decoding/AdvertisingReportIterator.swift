import IndoorVocabulary

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
