import IndoorVocabulary

/// An advertisement as a whole, put together from one report or several.
package struct AssembledAdvertisement: Hashable, Sendable {
    /// The report that completed it; its range of data is that of the last fragment.
    package var report: AdvertisingReport
    /// The AD structures of all fragments.
    package var data: [UInt8]
    /// Whether the rest of the data was not heard, or was too long to be kept.
    package var isTruncated: Bool

    /// What was heard: the advertisement or, of an anonymous one, the sighting of the beacon that it holds.
    ///
    /// Nil if the RSSI is no measurement, and of an anonymous advertisement that holds no beacon.
    package func reading(at instant: Instant) -> SensorReading? {
        guard report.hasMeasurement else { return nil }
        let rssi = Double(report.rssi)
        if let address = report.address {
            return .advertisement(Advertisement(instant: instant, address: address, rssi: rssi, data: data))
        }
        // Malformed data hold no beacon.
        guard case .beacon(let frame)? = try? BeaconFrame.decode(data.span) else { return nil }
        return .sighting(
            Sighting(
                instant: instant, beacon: frame.beacon, rssi: rssi, measuredPower: Double(frame.measuredPower)))
    }
}

/// Puts the fragments of long advertisements together, by advertiser and advertising set.
///
/// Bounded: at most `maximumSets` advertisements are unfinished at a time, each with at most `maximumLength` bytes.
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.13.
package struct AdvertisingReassembler: Hashable, Sendable {
    /// How many advertisements may be unfinished; the one that began first makes room for another.
    package static let maximumSets = 64
    /// The longest advertising data in bytes. Source: the same specification, 7.8.57.
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

        /// Adds what there is room for.
        mutating func append(_ fragment: Span<UInt8>) {
            let room = AdvertisingReassembler.maximumLength - data.count
            if fragment.count > room { isTooLong = true }
            for index in 0..<min(fragment.count, room) { data.append(fragment[index]) }
        }
    }

    /// In the order in which they began.
    private var unfinished: [Unfinished] = []
    /// Advertisements whose last fragment never came.
    package private(set) var abandoned = 0

    /// Begins with nothing unfinished.
    package init() {}

    /// How many advertisements are unfinished.
    package var pending: Int { unfinished.count }

    /// Whether a report is an advertisement of its own: complete, and no fragment came before it.
    @inline(__always)
    package func isWhole(_ report: AdvertisingReport) -> Bool {
        report.dataStatus == .complete && (unfinished.isEmpty || !unfinished.contains { $0.isContinued(by: report) })
    }

    /// Takes in a report of an event: gives the whole advertisement, or nil as long as more is to come.
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

    /// Forgets what is unfinished, as where reports were lost: what comes next may not continue it.
    package mutating func reset() {
        abandoned += unfinished.count
        unfinished.removeAll()
    }
}
