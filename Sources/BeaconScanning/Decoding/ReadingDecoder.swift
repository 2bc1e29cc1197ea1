import IndoorVocabulary

/// A reading for the machines, with a decoded advertisement and a checked RSSI.
///
/// Only a ``ReadingDecoder`` creates one from a reception, which is thus decoded once, where it arrives.
package struct DecodedReading: Hashable, Sendable {
    /// The decoded content of a reading.
    package enum Content: Hashable, Sendable {
        /// A beacon with a valid RSSI, either delivered as a sighting or decoded from an advertisement.
        case sighting(Sighting)
        /// An advertisement with a valid RSSI that holds no beacon, or is malformed.
        case advertisement(Advertisement)
        /// A sighting or an advertisement that the machines ignore.
        case rejected(Rejection)
        /// Not a reception: a reading of another sensor, a position, or a status of the radio.
        case other
    }

    /// The reason why the machines ignore a sighting or an advertisement.
    package enum Rejection: Hashable, Sendable {
        /// The RSSI is not a measurement, see ``Sighting/isMeasurement(rssi:)``.
        case invalidRSSI
        /// The sighting repeats the one that the advertisement before it holds.
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

    /// When it was sensed.
    package var instant: Instant { reading.instant }

    /// The sighting that an advertisement holds; nil if the reading is a sighting itself, or not of a beacon.
    package var sightingInAdvertisement: Sighting? {
        guard case .advertisement = reading, case .sighting(let sighting) = content else { return nil }
        return sighting
    }
}

/// Decodes each reading once, before it reaches a state machine.
///
/// A source may deliver an advertisement and, right behind it, the sighting that it holds. The decoder rejects the second
/// one. Readings of other sensors between the two make no difference.
package struct ReadingDecoder: Hashable, Sendable {
    /// The sighting in the latest advertisement; nil after any other reception.
    private var previous: Sighting?
    /// The beacons of which an advertisement had no valid measured power, in the order of their first one; only the first
    /// ones are kept.
    package private(set) var uncalibratedBeacons: [BeaconIdentity] = []
    /// The number of those beacons that are kept.
    private static let mostUncalibrated = 16

    /// Creates a decoder, to be used for all readings of a source in their order.
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
            // Malformed data hold no beacon: the `defect` of the advertisement is for the subscriber.
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
