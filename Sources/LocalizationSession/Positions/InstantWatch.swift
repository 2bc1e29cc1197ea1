import IndoorVocabulary

/// The detection of a source whose instants don't advance.
struct InstantWatch: Hashable, Sendable {
    /// The number of sightings of one beacon at one instant at which the watch reports them. No beacon sends so often.
    static let sightings = 20
    /// The same number for samples of the other sensors, which deliver about a hundred samples per second.
    static let samples = 200
    /// The greatest number of beacons whose sightings are counted.
    private static let beaconLimit = 1024

    private var latest: Instant?
    private var counts: [BeaconIdentity: Int] = [:]
    private var sampleCount = 0
    private var isOver = false

    /// Handles a reading. Returns the repeated instant once it occurs too often, the first time only; otherwise nil.
    mutating func note(_ reading: SensorReading) -> Instant? {
        guard !isOver else { return nil }
        switch reading {
        case .sighting, .motion, .step, .pressure: break
        // Readings of other senders, which may be ahead of the source or behind it.
        case .advertisement, .gnss, .fix, .range, .radio: return nil
        }
        guard let latest, reading.instant <= latest else {
            latest = reading.instant
            if !counts.isEmpty { counts.removeAll(keepingCapacity: true) }
            sampleCount = 0
            return nil
        }
        guard isRepeated(reading) else { return nil }
        isOver = true
        return latest
    }

    /// Counts a reading that isn't newer than the ones before; returns whether there were too many.
    private mutating func isRepeated(_ reading: SensorReading) -> Bool {
        guard case .sighting(let sighting) = reading else {
            sampleCount += 1
            return sampleCount == Self.samples
        }
        let known = counts[sighting.beacon]
        guard known != nil || counts.count < Self.beaconLimit else { return false }
        counts[sighting.beacon] = (known ?? 1) + 1
        return counts[sighting.beacon] == Self.sightings
    }
}
