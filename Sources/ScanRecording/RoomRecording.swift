import BeaconScanning
import IndoorVocabulary

/// A recording that tells in which rooms the device was.
public struct RoomRecording: Hashable, Sendable {
    /// What was heard while the device was in one room, or in one that is not told.
    public struct Stay: Hashable, Sendable {
        /// The room's name; nil where it is not told.
        public var room: String?
        /// What was heard, about a second at a time.
        public var scans: [RoomScan]
    }

    /// Model of the receiver; nil if unknown.
    public let device: String?
    /// The stays, in their order; a stay in which nothing was heard is left out.
    public private(set) var stays: [Stay]

    /// Reads a recording: its truth with a room, and all sightings, also those within advertisements.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a line.
    public init(path: String, strictness: RecordingReader.Strictness = .strict) throws(RecordingError) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var unfolding = AdvertisementUnfolding()
        var device: String?
        var rooms: [(room: String?, sightings: [Sighting])] = [(nil, [])]
        while let entry = try reader.next() {
            switch entry {
            case .header(let header): device = header.device
            case .truth(let truth):
                if truth.room != rooms[rooms.count - 1].room { rooms.append((truth.room, [])) }
            case .measurement(let recorded):
                let (reading, decoded) = unfolding.unfold(recorded)
                if case .sighting(let sighting) = reading { rooms[rooms.count - 1].sightings.append(sighting) }
                if let decoded { rooms[rooms.count - 1].sightings.append(decoded) }
            }
        }
        self.device = device
        stays = rooms.map { Stay(room: $0.room, scans: RoomScan.scans(of: $0.sightings)) }.filter { !$0.scans.isEmpty }
    }

    /// Gives a room to the stays that tell none.
    public mutating func name(_ room: String) {
        for index in stays.indices where stays[index].room == nil { stays[index].room = room }
    }

    /// What the stays with a known room teach; the recording's beginning is 1970.
    public var training: RoomTrainingSet {
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
