import BeaconScanning
import IndoorVocabulary
import VenueModel

extension SurveyRecording {
    /// Reads a survey from a recording.
    ///
    /// The survey consists of the ground truth with a point, and all sightings, including those in advertisements.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    public init(path: String, strictness: RecordingReader.Strictness = .strict) throws(RecordingError) {
        try self.init(path: path, strictness: strictness, limits: .standard)
    }

    package init(
        path: String, strictness: RecordingReader.Strictness, limits: InputLimits
    ) throws(RecordingError) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var decoder = ReadingDecoder()
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
                if case .sighting(let sighting) = decoder.decode(recorded).content { sightings.append(sighting) }
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
    /// The ground truth as a waypoint; nil if only the room is known.
    package var waypoint: SurveyRecording.Waypoint? {
        guard let mapID, let point else { return nil }
        return SurveyRecording.Waypoint(instant: instant, mapID: mapID, point: point, isHold: isHold)
    }
}
