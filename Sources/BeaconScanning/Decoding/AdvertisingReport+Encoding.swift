import IndoorVocabulary

extension AdvertisingReport {
    /// The HCI events in which a controller would report an advertisement that it heard once.
    ///
    /// Legacy where the data fit into 31 bytes, else extended, in as many fragments as it takes; an anonymous one is
    /// always extended. An address of unknown kind is written as public, since the format has no word for unknown.
    ///
    /// - Parameters:
    ///   - address: who sent it; nil of an anonymous advertiser.
    ///   - rssi: signal strength in dBm.
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

    /// Bytes of data that fit into an event, whose parameters have at most 255.
    package static let maximumFragment = 229

    /// Not connectable, not scannable, undirected: all that is known of it is that it was heard.
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

    /// The last pair first.
    private static func bytes(of address: DeviceAddress) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.rawValue >> UInt64(8 * $0)) }
    }
}
