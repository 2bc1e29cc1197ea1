import IndoorVocabulary

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
