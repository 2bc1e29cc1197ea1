import IndoorPositioning
import IndoorVocabulary

// What the device's own motion tells, beside any beacon.
extension LocalizationMachine {
    /// Takes in what the sensors of motion tell, and returns what there is to tell of it.
    mutating func follow(_ reading: SensorReading) -> [Directive] {
        switch reading {
        case .motion(let sample):
            // A device that gives its attitude needs no filter for the session's own sake.
            guard tellsMotion || sample.attitude == nil else { return [] }
        case .step, .pressure, .gnss:
            guard tellsMotion else { return [] }
        case .sighting, .advertisement, .fix, .radio:
            return []
        }
        motion.observe(reading)
        guard tellsMotion else { return [] }
        return motion.news(at: reading.instant).map(Directive.emitMotion)
    }

    /// The reading with the attitude that was found for it, where the device gives none.
    func oriented(_ reading: SensorReading) -> SensorReading {
        guard case .motion(var sample) = reading, sample.attitude == nil,
            let attitude = motion.reckoner.compass.alignedRotation
        else { return reading }
        sample.attitude = attitude
        return .motion(sample)
    }

    /// Until when motion alone keeps a session in the forced venue, after somebody has said where in it the device is;
    /// nil if nothing does. All in time that was listened to.
    ///
    /// - Parameter heard: when a beacon of the venue was last heard.
    func carried(in venue: VenueID, heard: Instant?) -> Instant? {
        guard settings.forcedVenue == venue, let placed = visit?.placedAt, let moved = visit?.lastMotion else {
            return nil
        }
        return min(moved, max(placed, heard ?? placed).advanced(by: settings.motion.reckoningLimit))
    }
}
