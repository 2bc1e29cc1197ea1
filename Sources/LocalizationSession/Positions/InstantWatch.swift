import IndoorVocabulary

/// Finds out that the instants of what is sensed do not advance.
struct InstantWatch: Hashable, Sendable {
    /// A beacon that is heard so often without any reading being newer than before: none sends so often at once.
    static let sightings = 20
    /// Likewise for samples of the other sensors, which come a hundred times a second.
    static let samples = 200
    /// Of so many beacons it is counted how often each is heard at one instant.
    private static let beaconLimit = 1024

    private var latest: Instant?
    private var counts: [BeaconIdentity: Int] = [:]
    private var sampleCount = 0
    private var isOver = false

    /// Takes in a reading. Returns the instant at which time stands still, once; else nil.
    mutating func note(_ reading: SensorReading) -> Instant? {
        guard !isOver else { return nil }
        switch reading {
        case .sighting, .motion, .step, .pressure: break
        // Of other senders, which may be ahead of the source or behind it.
        case .advertisement, .gnss, .fix, .radio: return nil
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

    /// Counts a reading that is not newer than what was there; whether it has come too often.
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
