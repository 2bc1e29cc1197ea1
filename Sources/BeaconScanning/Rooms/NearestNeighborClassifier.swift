import CMath

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
