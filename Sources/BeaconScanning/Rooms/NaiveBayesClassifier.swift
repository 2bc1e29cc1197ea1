import CMath

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
