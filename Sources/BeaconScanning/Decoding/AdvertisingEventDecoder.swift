import IndoorVocabulary

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
