import IndoorVocabulary

/// Turns HCI events with advertising reports into readings.
///
/// A beacon's sighting is read straight from the event's bytes: unless an advertisement comes in fragments, nothing is
/// allocated. Advertisements, which keep their bytes, are made where they are wanted.
package struct AdvertisingEventDecoder: Sendable {
    /// What is made of a report.
    package enum Content: Hashable, Sendable {
        /// The sighting of the beacon that it holds.
        case sightings
        /// The advertisement, and behind it the sighting of the beacon that it holds.
        case everything
    }

    /// What is made of each report.
    package let content: Content
    /// Events that were malformed; the reports before the fault were taken.
    package private(set) var malformed = 0
    /// Reports whose RSSI is no measurement.
    package private(set) var unmeasured = 0
    private var reassembler = AdvertisingReassembler()

    /// Begins without fragments.
    package init(content: Content) { self.content = content }

    /// Hands what an event holds to the closures, in order; an event without reports holds nothing.
    ///
    /// Each has a closure of its own, as a reading, which can be any of them, is large and costs more to copy than to
    /// decode.
    ///
    /// - Parameters:
    ///   - event: the event from its event code on.
    ///   - instant: when it was received.
    package mutating func decode(
        _ event: Span<UInt8>, at instant: Instant, advertisement: (Advertisement) -> Void, sighting: (Sighting) -> Void
    ) {
        var iterator = AdvertisingReportIterator()
        do throws(AdvertisingReportError) {
            while let report = try iterator.next(in: event) {
                take(report, of: event, at: instant, advertisement: advertisement, sighting: sighting)
            }
        } catch {
            malformed += 1
        }
    }

    /// Forgets the fragments, as where events were lost.
    package mutating func reset() { reassembler.reset() }

    @inline(__always)
    private mutating func take(
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

    /// The sighting of the beacon that the data hold; malformed data hold none.
    @inline(__always)
    private static func sighting(_ report: AdvertisingReport, _ data: Span<UInt8>, at instant: Instant) -> Sighting? {
        guard case .found(let place)? = try? BeaconFrame.search(data) else { return nil }
        let frame = BeaconFrame.frame(at: place, of: data)
        return Sighting(
            instant: instant, beacon: frame.beacon, rssi: Double(report.rssi),
            measuredPower: Double(frame.measuredPower), address: report.address)
    }
}
