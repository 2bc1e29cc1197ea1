import IndoorVocabulary
import VenueModel

extension SurveyRecording {
    /// Reads a survey from a recording: its truth with a point, and all sightings, also those within advertisements.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a line.
    public init(path: String, strictness: RecordingReader.Strictness = .strict) throws(RecordingError) {
        try self.init(path: path, strictness: strictness, limits: .standard)
    }

    package init(
        path: String, strictness: RecordingReader.Strictness, limits: InputLimits
    ) throws(RecordingError) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var unfolding = AdvertisementUnfolding()
        var waypoints: [Waypoint] = []
        var sightings: [Sighting] = []
        var end = Instant.zero
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            switch entry {
            case .header:
                continue
            case .truth(let truth):
                if let waypoint = truth.waypoint { waypoints.append(waypoint) }
            case .measurement(let recorded):
                let (reading, decoded) = unfolding.unfold(recorded)
                if case .sighting(let sighting) = reading { sightings.append(sighting) }
                if let decoded { sightings.append(decoded) }
            }
            guard sightings.count + waypoints.count <= limits.surveyReadings else {
                throw RecordingError(
                    file: path, line: reader.tally.lines, problem: .tooManyReadings(limit: limits.surveyReadings))
            }
        }
        self.init(waypoints: waypoints, sightings: sightings, end: end, device: reader.header?.device)
    }
}

extension Truth {
    /// The same as a way point; nil where only the room is known.
    package var waypoint: SurveyRecording.Waypoint? {
        guard let mapID, let point else { return nil }
        return SurveyRecording.Waypoint(instant: instant, mapID: mapID, point: point, isHold: isHold)
    }
}
