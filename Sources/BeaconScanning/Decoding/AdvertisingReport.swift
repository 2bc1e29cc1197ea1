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
