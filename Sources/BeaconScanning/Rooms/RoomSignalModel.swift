import CMath
import IndoorVocabulary

/// The likelihood of a scan in each trained room, for each of several offsets of the receiver.
///
/// The model treats beacons as independent. The RSSI of a beacon that was received in a room's training has a Student
/// distribution around the mean, with tails for hands and doors. A beacon that was never received in a room is weak
/// evidence against it, because the beacon may have been installed after the training. A trained beacon that is now
/// missing is weak evidence, too, because it may have been removed.
struct RoomSignalModel: Sendable {
    /// The distribution of a beacon in a room.
    private struct Link: Sendable {
        var mean: Double
        var deviation: Double
        /// The probability that the beacon is received with that RSSI.
        var known: Double
        /// The weight of the distribution of an unknown beacon.
        var background: Double
        /// The logarithm of the probability that the beacon is not received.
        var silence: Double

        init(mean: Double, deviation: Double, known: Double, background: Double) {
            self.mean = mean
            self.deviation = deviation
            self.known = known
            self.background = background
            silence = cmath_log(1 - presence * (known + background * unknown.share))
        }
    }

    /// The prior standard deviation of RSSI within a room: about 5 dB (Bluetooth, bodies, hands).
    private static let fading = 5.0
    /// The weight of the prior as a number of samples.
    private static let fadingSamples = 30.0
    /// The standard deviation in dB between trained places and other places in the same room.
    private static let placeDeviation = 3.0
    /// The limits of the share of samples with a beacon: no training shows that a beacon is always or never received.
    private static let shares = 0.03...0.97
    /// The probability that a trained beacon is still there.
    private static let presence = 0.6
    /// The share of the beacons never received in a room that were out of reach; the others were not installed yet.
    private static let outOfReach = 0.1
    /// The probability of receiving a beacon that is out of reach, and the probability of an outlier.
    private static let outliers = 0.02
    /// The probability of receiving an unknown beacon, and the mean and deviation of its RSSI.
    private static let unknown = (share: 0.6, mean: -78.0, deviation: 10.0)
    /// The limit of the radio's sensitivity, in dBm.
    private static let faintest = (mean: -92.0, deviation: 5.0)
    /// The width of the uniform distribution of a beacon's RSSI outside all rooms, in standard deviations of the
    /// training.
    ///
    /// The width is in standard deviations, so that rooms with a large scatter are not classified as none of the rooms.
    /// The number is a compromise between false alarms and missed rooms. It was selected with a house of 13 rooms by
    /// leaving out each of them in turn.
    private static let anywhereDeviations = 8.6
    /// The minimum number of beacons shared with other rooms with which a room doesn't need its exclusive beacons.
    private static let enoughShared = 6

    /// The candidate offsets of the receiver, in dB.
    static let offsets = stride(from: -18.0, through: 18, by: 3).map(\.self)

    /// The rooms' names; the state after the last one is none of the rooms.
    let names: [String]
    private let table: RoomTable
    /// The distributions for each room and beacon.
    private let links: [[Link]]
    /// For each room, the logarithm of the probability that no beacon is received.
    private let silences: [Double]
    /// For each beacon, the logarithm of the density of its RSSI outside all rooms, where the model assumes that it is
    /// received as often as in the room that receives it most.
    private let anywhere: [Double]

    /// The standard deviation of a beacon's RSSI at one place, in dB: the default value, or the value from the training
    /// if it is larger.
    let scatter: Double

    /// The number of states: one for each room, and one for none of the rooms.
    var stateCount: Int { links.count + 1 }
    /// The number of trained beacons; a scan refers to beacons by offsets below it.
    var beaconCount: Int { table.beacons.count }

    init(_ training: RoomTrainingSet) {
        let table = RoomTable(Self.comparable(training))
        self.table = table
        names = table.rooms.map(\.name)
        links = table.rooms.map { Self.links(of: $0, beaconCount: table.beacons.count) }
        silences = links.map { $0.reduce(0) { $0 + $1.silence } }
        scatter = Self.scatter(in: table)
        let heard = links.joined().filter { $0.known > Self.outOfReach * Self.outliers }.map(\.deviation)
        let mean = heard.isEmpty ? Self.fading : heard.reduce(0, +) / Double(heard.count)
        anywhere = table.beacons.indices.map { [links] beacon in
            let known = links.reduce(0) { max($0, $1[beacon].known) }
            return cmath_log(max(known, 1e-3) / (Self.anywhereDeviations * mean))
        }
    }

    /// Returns the known beacons of a scan; nil if there are too few for a valid answer.
    func known(of scan: RoomScan, atLeast count: Int) -> [(beacon: Int, rssi: Double)]? {
        table.known(of: scan, atLeast: count)
    }

    /// Returns the training with pocket samples converted to hand samples, and without exclusive beacons, which only
    /// one room received, if that room has enough others.
    ///
    /// If beacons were installed over time, exclusive beacons may identify the time of the training instead of the
    /// room.
    private static func comparable(_ training: RoomTrainingSet) -> RoomTrainingSet {
        var roomCounts: [BeaconIdentity: Int] = [:]
        for room in training.rooms.values { for beacon in room.beacons { roomCounts[beacon, default: 0] += 1 } }
        var comparable = training
        comparable.rooms = training.rooms.mapValues(\.inHand)
        for (name, room) in training.rooms {
            let own = room.beacons.filter { roomCounts[$0] == 1 }
            guard room.beacons.count - own.count >= enoughShared else { continue }
            for beacon in own { comparable.rooms[name]?.forget(beacon) }
        }
        return comparable
    }

    /// Returns the standard deviation of all readings around the mean of their beacon and room, at least the default
    /// one.
    private static func scatter(in table: RoomTable) -> Double {
        var (squares, count) = (0.0, 0.0)
        for room in table.rooms {
            var sums = [(count: Double, sum: Double, squares: Double)](
                repeating: (0, 0, 0), count: table.beacons.count)
            for (beacon, rssi) in room.samples.joined() {
                sums[beacon] = (sums[beacon].count + 1, sums[beacon].sum + rssi, sums[beacon].squares + rssi * rssi)
            }
            for readings in sums where readings.count > 1 {
                squares += max(0, readings.squares - readings.sum * readings.sum / readings.count)
                count += readings.count - 1
            }
        }
        return max(fading, (squares / max(1, count)).squareRoot())
    }

    private static func links(of room: RoomTable.Entry, beaconCount: Int) -> [Link] {
        var values = [[Double]](repeating: [], count: beaconCount)
        for (beacon, rssi) in room.samples.joined() { values[beacon].append(rssi) }
        var heardCounts = [Int](repeating: 0, count: beaconCount)
        for (beacon, _) in room.samples.prefix(room.countedSamples).joined() { heardCounts[beacon] += 1 }
        return zip(values, heardCounts).map { values, heardCount in
            guard !values.isEmpty else {
                return Link(
                    mean: faintest.mean, deviation: faintest.deviation, known: outOfReach * outliers,
                    background: 1 - outOfReach)
            }
            let count = Double(values.count)
            let mean = values.reduce(0, +) / count
            let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            let variance = (squares + fadingSamples * fading * fading) / (count + fadingSamples)
            let share = (Double(heardCount) + 1) / (Double(room.countedSamples) + 2)
            let bounded = min(max(share, shares.lowerBound), shares.upperBound)
            return Link(
                mean: mean, deviation: (variance + placeDeviation * placeDeviation).squareRoot(),
                known: (1 - outliers) * bounded, background: outliers)
        }
    }

    /// Returns the logarithms of the likelihoods, ordered by offset and then by state.
    ///
    /// For missing beacons, the state outside all rooms has the likelihood of the best matching room.
    func logLikelihoods(of heard: [(beacon: Int, rssi: Double)]) -> [Double] {
        let silent = links.indices.map { room in
            heard.reduce(silences[room]) { $0 - links[room][$1.beacon].silence }
        }
        let elsewhere = heard.reduce(silent.max() ?? 0) { $0 + anywhere[$1.beacon] }
        let backgrounds = heard.map { heard in
            Self.unknown.share * Self.student(heard.rssi, Self.unknown.mean, Self.unknown.deviation)
        }
        var logarithms: [Double] = []
        logarithms.reserveCapacity(Self.offsets.count * stateCount)
        for offset in Self.offsets {
            for room in links.indices {
                logarithms.append(silent[room] + logDensity(of: heard, in: links[room], offset, backgrounds))
            }
            logarithms.append(elsewhere)
        }
        return logarithms
    }

    /// Returns the logarithm of the density of the received beacons in a room, for a receiver with an offset.
    private func logDensity(
        of heard: [(beacon: Int, rssi: Double)], in room: [Link], _ offset: Double, _ backgrounds: [Double]
    ) -> Double {
        var sum = 0.0
        // Multiply a few factors before taking a logarithm; their product stays well within the range of `Double`.
        var product = 1.0
        for index in heard.indices {
            let link = room[heard[index].beacon]
            let density = Self.student(heard[index].rssi - offset, link.mean, link.deviation)
            product *= link.known * density + link.background * backgrounds[index]
            if index % 8 == 7 {
                sum += cmath_log(product)
                product = 1
            }
        }
        return sum + cmath_log(product)
    }

    /// Returns the density of Student's distribution with ten degrees of freedom.
    ///
    /// With four degrees, which are usual in robust statistics, outlying readings are too weak as evidence against a
    /// room. The classifier then mistakes an untrained room for its neighbour more often.
    private static func student(_ value: Double, _ mean: Double, _ deviation: Double) -> Double {
        let z = (value - mean) / deviation
        let spread = 1 + z * z / 10
        let square = spread * spread
        return tenDegrees / (deviation * square * square * spread * spread.squareRoot())
    }

    /// Γ(11/2) / (Γ(5) √(10π)), which normalizes the density.
    private static let tenDegrees = 0.389_108_383_966_031
}
