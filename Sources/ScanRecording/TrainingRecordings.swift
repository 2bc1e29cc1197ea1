import BeaconScanning
import IndoorVocabulary
import VenueModel

extension SurveyRecording {
    /// Reads a survey from a recording.
    ///
    /// The survey consists of the ground truth with a point, and all sightings, including those in advertisements. A truth
    /// with a room only ends a stay.
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
                waypoints.append(truth)
            case .measurement(let recorded):
                switch decoder.decode(recorded).content {
                case .sighting(let sighting): sightings.append(addresses.resolve(sighting))
                case .advertisement(let advertisement):
                    if let sighting = addresses.sighting(of: advertisement) { sightings.append(sighting) }
                case .rejected, .other: continue
                }
            }
            guard sightings.count + waypoints.count <= limits.surveyReadings else {
                // A lenient reader has read lines after the entry's.
                throw RecordingError(
                    file: path, line: strictness == .strict ? reader.tally.lines : nil,
                    problem: .tooManyReadings(limit: limits.surveyReadings))
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

extension [SurveyRecording.Waypoint] {
    /// Creates the waypoints of ground truths, ordered by instant.
    package init(_ truths: [Truth]) {
        self = []
        for truth in truths { append(truth) }
    }

    /// Appends the waypoint of a later ground truth. One with a room only says that the device has left the place of a stay;
    /// at the same instant, it names the room of that place.
    package mutating func append(_ truth: Truth) {
        if let waypoint = truth.waypoint { return append(waypoint) }
        guard let last = indices.last, self[last].isHold, self[last].instant < truth.instant else { return }
        self[last].leftAt = self[last].leftAt ?? truth.instant
    }
}

/// A recording that states in which rooms the device was.
package struct RoomRecording: Hashable, Sendable {
    /// The scans while the device was in one room, or in an unknown one.
    package struct Stay: Hashable, Sendable {
        /// The name of the room; nil if unknown.
        package var room: String?
        /// The scans, each about a second long.
        package var scans: [RoomScan]
    }

    /// The model of the receiver; nil if unknown.
    package let device: String?
    /// The stays in chronological order, without those that received no beacon.
    package private(set) var stays: [Stay]
    /// The counts of lines read, lines skipped and sightings dropped.
    package let tally: RecordingReader.Tally

    /// Reads a recording: its ground truth with a room, and all sightings, including those in advertisements.
    ///
    /// - Parameter scans: combines the sightings of a stay into scans.
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    package init(
        path: String, strictness: RecordingReader.Strictness = .strict,
        scans: ([Sighting]) -> [RoomScan] = { RoomScan.scans(of: $0) }
    ) throws(RecordingError) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var decoder = ReadingDecoder()
        var device: String?
        var rooms: [(room: String?, sightings: [Sighting])] = [(nil, [])]
        while let entry = try reader.next() {
            switch entry {
            case .header(let header): device = header.device
            case .truth(let truth):
                if truth.room != rooms[rooms.count - 1].room { rooms.append((truth.room, [])) }
            case .measurement(let recorded):
                guard case .sighting(let sighting) = decoder.decode(recorded).content else { continue }
                rooms[rooms.count - 1].sightings.append(sighting)
            }
        }
        self.device = device
        tally = reader.tally
        stays = rooms.map { Stay(room: $0.room, scans: scans($0.sightings)) }.filter { !$0.scans.isEmpty }
    }

    /// Assigns a room to the stays in an unknown one.
    package mutating func name(_ room: String) {
        for index in stays.indices where stays[index].room == nil { stays[index].room = room }
    }

    /// The training data from the stays in known rooms. Its time stamps treat the start of the recording as 1970.
    package var training: RoomTrainingSet {
        var training = RoomTrainingSet()
        for stay in stays {
            guard let room = stay.room else { continue }
            var recorder = TrainingRecorder()
            recorder.start(at: .zero, unixTime: 0)
            for scan in stay.scans { recorder.observe(scan) }
            if let fingerprint = recorder.finish() { training.add(fingerprint, to: room) }
        }
        return training
    }
}
