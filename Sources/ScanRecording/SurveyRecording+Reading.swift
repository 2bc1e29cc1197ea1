import BeaconScanning
import IndoorVocabulary
import VenueModel

extension SurveyRecording {
    /// Reads a survey from a recording.
    ///
    /// The survey consists of the ground truth with a point, and all sightings, including those in advertisements.
    ///
    /// - Parameter venue: the venue whose beacons are also recognised by their device address, as in a session; nil to
    ///   recognise beacons only by the identity that they send.
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    public init(
        path: String, in venue: Venue? = nil, strictness: RecordingReader.Strictness = .strict
    ) throws(RecordingError) {
        self = try Self.read(path, in: venue, strictness: strictness).recording
    }

    /// Reads a survey; returns it with the counts of lines read, lines skipped and sightings dropped.
    package static func read(
        _ path: String, in venue: Venue? = nil, strictness: RecordingReader.Strictness, limits: InputLimits = .standard
    ) throws(RecordingError) -> (recording: SurveyRecording, tally: RecordingReader.Tally) {
        let addresses = venue.map(KnownAddresses.init(of:)) ?? KnownAddresses()
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
                switch decoder.decode(recorded).content {
                case .sighting(let sighting): sightings.append(addresses.resolve(sighting))
                case .advertisement(let advertisement):
                    if let sighting = addresses.sighting(of: advertisement) { sightings.append(sighting) }
                case .rejected, .other: continue
                }
            }
            guard sightings.count + waypoints.count <= limits.surveyReadings else {
                throw RecordingError(
                    file: path, line: reader.tally.lines, problem: .tooManyReadings(limit: limits.surveyReadings))
            }
        }
        let recording = SurveyRecording(
            waypoints: waypoints, sightings: sightings, end: end, device: reader.header?.device)
        return (recording, reader.tally)
    }
}

extension Truth {
    /// The ground truth as a waypoint; nil if only the room is known.
    package var waypoint: SurveyRecording.Waypoint? {
        guard let mapID, let point else { return nil }
        return SurveyRecording.Waypoint(instant: instant, mapID: mapID, point: point, isHold: isHold)
    }
}
