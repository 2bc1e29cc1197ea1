import CMath
import IndoorVocabulary

/// A classifier that estimates from scans which of the trained rooms the device is in.
///
/// The caller passes scans in the order of their instants.
public protocol Classifier: Sendable {
    /// Estimates the room of a scan; returns nil if there is no valid answer, for example with too few beacons or
    /// without training.
    mutating func classify(_ scan: RoomScan) -> RoomEstimate?

    /// Forgets the rooms of earlier scans, for example after the device was elsewhere.
    mutating func forgetRooms()
}

extension Classifier {
    /// Does nothing, because a classifier without memory has nothing to forget.
    public mutating func forgetRooms() {}
}

/// The estimated probabilities of the rooms that the device may be in.
public struct RoomEstimate: Hashable, Sendable {
    /// A room, or the state outside all trained rooms, with its probability.
    public struct Candidate: Hashable, Sendable {
        /// The room's name; nil for none of the trained rooms.
        public var room: String?
        /// The probability; in [0, 1].
        public var probability: Double

        /// Creates a candidate.
        public init(room: String?, probability: Double) {
            self.room = room
            self.probability = probability
        }
    }

    /// The time of the scan.
    public var instant: Instant
    /// All candidates, the most probable first; their probabilities add up to 1.
    public let candidates: [Candidate]

    /// Creates an estimate; candidates of equal probability keep their order.
    ///
    /// The result is nil without candidates.
    public init?(instant: Instant, candidates: [Candidate]) {
        guard !candidates.isEmpty else { return nil }
        self.instant = instant
        let order = candidates.indices.sorted { left, right in
            (-candidates[left].probability, left) < (-candidates[right].probability, right)
        }
        self.candidates = order.map { candidates[$0] }
    }

    /// The most probable room; nil if it is more probable that the device is in none of the trained rooms.
    public var room: String? { candidates[0].room }
    /// The probability of `room`, or, if `room` is nil, of being in none of the trained rooms; in [0, 1].
    public var probability: Double { candidates[0].probability }

    /// Returns the probability of a room; 0 for one that was not trained.
    public func probability(of room: String?) -> Double {
        candidates.first { $0.room == room }?.probability ?? 0
    }
}

/// A room classifier with an independent normal distribution of each beacon's RSSI.
///
/// Source: Crownstone, *localization-improvement*, naive Bayes. Standard deviations are at least 1 dB. The classifier
/// uses the geometric mean of the densities, which is comparable between rooms that share different numbers of beacons
/// with the scan. A room that shares fewer than `minimumBeacons` is excluded; a missing beacon has no effect. The
/// probabilities are not calibrated.
public struct NaiveBayesClassifier: Classifier {
    private struct Normal {
        var mean: Double
        var deviation: Double
    }

    private let table: RoomTable
    /// The distribution for each room and beacon; nil if the beacon was not received in the room.
    private let normals: [[Normal?]]
    private let minimumBeacons: Int

    /// Creates a classifier from a training set.
    ///
    /// - Parameters:
    ///   - training: samples of each room.
    ///   - minimumBeacons: the minimum number of known beacons in a scan for an answer; 1 or more.
    public init(_ training: RoomTrainingSet, minimumBeacons: Int = 3) {
        let table = RoomTable(training)
        self.table = table
        self.minimumBeacons = minimumBeacons
        normals = table.rooms.map { room in
            var values = [[Double]](repeating: [], count: table.beacons.count)
            for (beacon, rssi) in room.samples.joined() { values[beacon].append(rssi) }
            return values.map { values in
                guard !values.isEmpty else { return nil }
                let mean = values.reduce(0, +) / Double(values.count)
                let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)
                return Normal(mean: mean, deviation: max(1, variance.squareRoot()))
            }
        }
    }

    public func classify(_ scan: RoomScan) -> RoomEstimate? {
        guard let heard = table.known(of: scan, atLeast: minimumBeacons) else { return nil }
        let logarithms = normals.map { room -> Double in
            var sum = 0.0
            var count = 0
            for (beacon, rssi) in heard {
                guard let normal = room[beacon] else { continue }
                let z = (rssi - normal.mean) / normal.deviation
                sum -= z * z / 2 + cmath_log(normal.deviation)
                count += 1
            }
            return count < max(1, minimumBeacons) ? -.infinity : sum / Double(count)
        }
        guard let best = logarithms.max(), best > -.infinity else { return nil }
        let weights = logarithms.map { cmath_exp($0 - best) }
        let total = weights.reduce(0, +)
        return RoomEstimate(
            instant: scan.instant,
            candidates: zip(table.rooms, weights).map { .init(room: $0.name, probability: $1 / total) })
    }
}

/// A room classifier that returns the room of the trained sample most similar to a scan.
///
/// Source: Crownstone's app, `knn.ts`: k = 1, RSSI mapped by a sigmoid around -50 dBm, 1 for a missing beacon, and the
/// distance Σ(x² + y² - 1.95xy) over the beacons. Among samples at equal distances, the first one is used, with rooms
/// ordered by name. The probabilities decrease exponentially with the distance and are not calibrated.
public struct NearestNeighborClassifier: Classifier {
    private struct Vector {
        /// 1 minus the mapped RSSI for the received beacons; 0 for all others.
        var nearness: [(beacon: Int, value: Double)]
        /// Σx² over all beacons.
        var square: Double
        var sum: Double
    }

    private let table: RoomTable
    private let rooms: [[Vector]]
    private let minimumBeacons: Int

    /// Creates a classifier from a training set.
    ///
    /// - Parameters:
    ///   - training: samples of each room.
    ///   - minimumBeacons: the minimum number of known beacons in a scan for an answer; 1 or more.
    public init(_ training: RoomTrainingSet, minimumBeacons: Int = 3) {
        let table = RoomTable(training)
        self.table = table
        self.minimumBeacons = minimumBeacons
        rooms = table.rooms.map { room in room.samples.map { Self.vector($0, count: table.beacons.count) } }
    }

    public func classify(_ scan: RoomScan) -> RoomEstimate? {
        guard let heard = table.known(of: scan, atLeast: minimumBeacons) else { return nil }
        let vector = Self.vector(heard, count: table.beacons.count)
        var dense = [Double](repeating: 0, count: table.beacons.count)
        for (beacon, value) in vector.nearness { dense[beacon] = value }
        let distances = rooms.map { samples in
            samples.reduce(Double.infinity) { min($0, distance(vector, dense, $1)) }
        }
        guard let best = distances.min() else { return nil }
        let weights = distances.map { cmath_exp(best - $0) }
        let total = weights.reduce(0, +)
        return RoomEstimate(
            instant: scan.instant,
            candidates: zip(table.rooms, weights).map { .init(room: $0.name, probability: $1 / total) })
    }

    private static func vector(_ heard: [(beacon: Int, rssi: Double)], count: Int) -> Vector {
        let values = heard.map { (beacon: $0.beacon, value: 1 / (1 + cmath_exp(0.1 * ($0.rssi + 50)))) }
        let missing = Double(count - values.count)
        return Vector(
            nearness: values.map { (beacon: $0.beacon, value: 1 - $0.value) },
            square: values.reduce(missing) { $0 + $1.value * $1.value },
            sum: values.reduce(missing) { $0 + $1.value })
    }

    /// Returns the distance between two vectors.
    ///
    /// With x = 1 - a and y = 1 - b, Σxy is Σx + Σy - n + Σab, so only beacons in both vectors need a multiplication.
    private func distance(_ left: Vector, _ dense: [Double], _ right: Vector) -> Double {
        var both = left.sum + right.sum - Double(table.beacons.count)
        for (beacon, value) in right.nearness { both += dense[beacon] * value }
        return left.square + right.square - 1.95 * both
    }
}

/// Training data as indexed arrays, for the classifiers.
struct RoomTable: Sendable {
    /// A room's samples: each has the received beacons, as offsets into `beacons`, and their RSSI.
    struct Entry: Sendable {
        var name: String
        var samples: [[(beacon: Int, rssi: Double)]]
        /// The number of samples from which classifiers estimate how often a beacon is received: the first samples,
        /// which are the samples in a hand if there are any. In a pocket, a device can miss beacons.
        var countedSamples: Int
    }

    /// The rooms with at least one sample that contains a beacon, by name.
    let rooms: [Entry]
    /// The beacons, in order, so that the same training always gives the same sums.
    let beacons: [BeaconIdentity]
    private let offsets: [BeaconIdentity: Int]

    init(_ training: RoomTrainingSet) {
        let beacons = training.beacons.sorted()
        let offsets = Dictionary(uniqueKeysWithValues: beacons.enumerated().map { ($1, $0) })
        self.beacons = beacons
        self.offsets = offsets
        rooms = training.rooms.sorted { $0.key < $1.key }.compactMap { name, fingerprint in
            let inHand = fingerprint.samples(in: .hand)
            let samples = (inHand + fingerprint.samples(in: .pocket)).map { sample in
                sample.rssi.compactMap { beacon, rssi in offsets[beacon].map { (beacon: $0, rssi: rssi) } }
                    .sorted { $0.beacon < $1.beacon }
            }
            return samples.allSatisfy(\.isEmpty)
                ? nil
                : Entry(
                    name: name, samples: samples, countedSamples: inHand.isEmpty ? samples.count : inHand.count)
        }
    }

    /// Returns the trained beacons of a scan, in order; nil if there are too few for a valid answer.
    func known(of scan: RoomScan, atLeast count: Int) -> [(beacon: Int, rssi: Double)]? {
        guard !rooms.isEmpty else { return nil }
        let known = scan.rssi.compactMap { beacon, rssi in offsets[beacon].map { (beacon: $0, rssi: rssi) } }
        return known.count >= max(1, count) ? known.sorted { $0.beacon < $1.beacon } : nil
    }
}
