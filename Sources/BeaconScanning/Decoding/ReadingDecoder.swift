import IndoorVocabulary

/// A reading for the state machines, with a decoded advertisement and a checked RSSI.
///
/// Only a ``ReadingDecoder`` creates one from a reception, so each reception is decoded once, on arrival.
package struct DecodedReading: Hashable, Sendable {
    /// The decoded content of a reading.
    package enum Content: Hashable, Sendable {
        /// A beacon with a valid RSSI, either delivered as a sighting or decoded from an advertisement.
        case sighting(Sighting)
        /// An advertisement with a valid RSSI that contains no beacon or is malformed.
        case advertisement(Advertisement)
        /// A sighting or an advertisement that the machines ignore.
        case rejected(Rejection)
        /// A reading that isn't a reception: from another sensor, a position, or a status of the radio.
        case other
    }

    /// The reason why the machines ignore a sighting or an advertisement.
    package enum Rejection: Hashable, Sendable {
        /// The RSSI is not a measurement, see ``Sighting/isMeasurement(rssi:)``.
        case invalidRSSI
        /// The sighting repeats the one that the previous advertisement contains.
        case repetition
    }

    /// The reading as the source delivered it.
    package let reading: SensorReading
    /// The decoded content.
    package let content: Content

    fileprivate init(_ reading: SensorReading, _ content: Content) {
        self.reading = reading
        self.content = content
    }

    /// Creates the reading of a fix, which needs no decoding.
    package init(_ fix: Fix) { self.init(.fix(fix), .other) }

    /// The time of the reading.
    package var instant: Instant { reading.instant }

    /// The sighting in an advertisement; nil if the reading itself is a sighting, or isn't from a beacon.
    package var sightingInAdvertisement: Sighting? {
        guard case .advertisement = reading, case .sighting(let sighting) = content else { return nil }
        return sighting
    }
}

/// A decoder that decodes each reading once, before it reaches a state machine.
///
/// A source may deliver an advertisement and, directly after it, the sighting that it contains. The decoder rejects the
/// sighting, even if readings of other sensors are between the two.
package struct ReadingDecoder: Hashable, Sendable {
    /// The sighting in the latest advertisement; nil after any other reception.
    private var previous: Sighting?
    /// The beacons that sent an advertisement without a valid measured power, in the order of the first such
    /// advertisement; at most 16.
    package private(set) var uncalibratedBeacons: [BeaconIdentity] = []
    /// The maximum number of these beacons.
    private static let mostUncalibrated = 16

    /// Creates a decoder. Use one decoder for all readings of a source, in order.
    package init() {}

    /// Returns a reading with its decoded content.
    package mutating func decode(_ reading: SensorReading) -> DecodedReading {
        switch reading {
        case .sighting(let sighting):
            defer { previous = nil }
            if sighting == previous { return DecodedReading(reading, .rejected(.repetition)) }
            return DecodedReading(reading, sighting.hasMeasurement ? .sighting(sighting) : .rejected(.invalidRSSI))
        case .advertisement(let advertisement):
            previous = nil
            guard advertisement.hasMeasurement else { return DecodedReading(reading, .rejected(.invalidRSSI)) }
            // Malformed data contain no beacon. The subscriber can read the advertisement's `defect`.
            previous = try? advertisement.sighting()
            if let previous, previous.measuredPower == nil { note(uncalibrated: previous.beacon) }
            return DecodedReading(reading, previous.map { .sighting($0) } ?? .advertisement(advertisement))
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio:
            return DecodedReading(reading, .other)
        }
    }

    private mutating func note(uncalibrated beacon: BeaconIdentity) {
        guard uncalibratedBeacons.count < Self.mostUncalibrated, !uncalibratedBeacons.contains(beacon) else { return }
        uncalibratedBeacons.append(beacon)
    }
}
