import IndoorPositioning
import IndoorVocabulary

// The motion of the device, estimated without beacons.
extension LocalizationMachine {
    /// Handles a reading of a motion sensor and returns the motion updates.
    mutating func follow(_ reading: SensorReading) -> [Directive] {
        switch reading {
        case .motion(let sample):
            // If the sample contains the attitude, the session itself needs no attitude filter.
            guard reportsMotion || sample.attitude == nil else { return [] }
        case .step, .pressure, .gnss:
            guard reportsMotion else { return [] }
        case .sighting, .advertisement, .fix, .range, .radio:
            return []
        }
        motion.observe(reading)
        guard reportsMotion else { return [] }
        return motion.updates(at: reading.instant).map(Directive.emitMotion)
    }

    /// Returns the reading with an estimated attitude if the device supplies none.
    func oriented(_ reading: SensorReading) -> SensorReading {
        guard case .motion(var sample) = reading, sample.attitude == nil,
            let attitude = motion.reckoner.compass.alignedRotation
        else { return reading }
        sample.attitude = attitude
        return .motion(sample)
    }

    /// Returns the instant until which motion alone keeps the session in the forced venue after a fix, in listening
    /// time; nil without such a fix or without motion.
    ///
    /// - Parameter heard: the instant of the latest sighting of a beacon of the venue.
    func carried(in venue: VenueID, heard: Instant?) -> Instant? {
        guard settings.forcedVenue == venue, let placed = visit?.placedAt, let moved = visit?.lastMotion else {
            return nil
        }
        return min(moved, max(placed, heard ?? placed).advanced(by: settings.motion.reckoningLimit))
    }
}
