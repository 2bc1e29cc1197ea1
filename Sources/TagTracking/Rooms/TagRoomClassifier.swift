import BeaconScanning
import IndoorVocabulary

/// A classifier of the rooms of a tag that gateways hear: an ``AdaptiveClassifier`` in which a room can have several
/// places.
///
/// Each training of a room, and each correction, is a place of its own. A place at the edge of a room, which someone has
/// corrected, hardly changes the mean levels of the whole room, but has its own levels.
package struct TagRoomClassifier: Classifier {
    /// The time in seconds without a sample after which another place of a room begins.
    private static let pause = 120.0
    /// The number of samples that a place needs, and the largest number of places of a room.
    private static let (fewestSamples, mostPlaces) = (10, 8)
    /// The character between the name of a room and the number of a place, which no name contains.
    private static let separator: Character = "\u{1F}"

    private var classifier: AdaptiveClassifier
    /// The rooms of the places, by the names of the places.
    private let rooms: [String: String]

    /// Creates a classifier from a training set.
    ///
    /// A single gateway is enough for an estimate, because a small home has few of them. Tags lie in a room for longer than
    /// a person with a telephone stays in it.
    ///
    /// - Parameter remembersRooms: whether earlier scans contribute to the estimate.
    package init(_ training: RoomTrainingSet, remembersRooms: Bool = true) {
        var settings = AdaptiveClassifier.Settings()
        settings.minimumBeacons = 1
        settings.meanStay = .seconds(900)
        settings.returnProbability = 0.2
        settings.changeThreshold = 5
        settings.remembersRooms = remembersRooms
        var (places, rooms) = (RoomTrainingSet(), [String: String]())
        for (room, fingerprint) in training.rooms {
            for (number, place) in Self.places(of: fingerprint).enumerated() {
                let name = "\(room)\(Self.separator)\(number)"
                (places.rooms[name], rooms[name]) = (place, room)
            }
        }
        self.rooms = rooms
        classifier = AdaptiveClassifier(places, settings: settings)
    }

    private static func places(of fingerprint: RoomFingerprint) -> [RoomFingerprint] {
        var places: [RoomFingerprint] = []
        var last = -Double.infinity
        for sample in fingerprint.samples {
            let isNext =
                abs(sample.timestamp - last) > pause && places.last?.samples.count ?? fewestSamples >= fewestSamples
            last = sample.timestamp
            if places.isEmpty || isNext { places.append(RoomFingerprint()) }
            places[places.count - 1].samples.append(sample)
        }
        // Too few samples have no levels of their own.
        if places.count > 1, let short = places.last, short.samples.count < fewestSamples {
            places.removeLast()
            places[places.count - 1].add(short)
        }
        while places.count > mostPlaces { places[0].add(places.remove(at: 1)) }
        return places
    }

    package mutating func classify(_ scan: RoomScan) -> RoomEstimate? {
        guard let estimate = classifier.classify(scan) else { return nil }
        var order: [String?] = []
        var sums: [String?: Double] = [:]
        for candidate in estimate.candidates {
            let room = candidate.room.flatMap { rooms[$0] }
            if sums[room] == nil { order.append(room) }
            sums[room, default: 0] += candidate.probability
        }
        return RoomEstimate(
            instant: estimate.instant,
            candidates: order.map { RoomEstimate.Candidate(room: $0, probability: sums[$0] ?? 0) })
    }

    package mutating func forgetRooms() { classifier.forgetRooms() }
}
