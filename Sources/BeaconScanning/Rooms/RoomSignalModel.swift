import CMath
import IndoorVocabulary

/// How likely each trained room makes a scan, for each of several offsets of the receiver.
///
/// Beacons are taken as independent. Where a beacon was heard while a room was trained, its RSSI has a Student
/// distribution around the mean, with tails for hands and doors. What was never heard in a room is weak evidence
/// against it: the beacon may have been installed after the training. So is a trained beacon that is silent now: it may
/// have been taken away.
struct RoomSignalModel: Sendable {
    /// A beacon in a room.
    private struct Link: Sendable {
        var mean: Double
        var deviation: Double
        /// How often the beacon is heard with that RSSI.
        var known: Double
        /// How much of what is known of any beacon counts for this one too.
        var background: Double
        /// The logarithm of the probability that the beacon is not heard.
        var silence: Double

        init(mean: Double, deviation: Double, known: Double, background: Double) {
            self.mean = mean
            self.deviation = deviation
            self.known = known
            self.background = background
            silence = cmath_log(1 - presence * (known + background * unknown.share))
        }
    }

    /// RSSI within a room scatters like this, before samples tell better: some 5 dB (Bluetooth, bodies, hands).
    private static let fading = 5.0
    /// How many samples that is worth.
    private static let fadingSamples = 30.0
    /// Trained places stand for others of the same room that lie off by this, in dB.
    private static let placeDeviation = 3.0
    /// Shares of heard samples stay within this: no training tells that a beacon is always or never heard.
    private static let shares = 0.03...0.97
    /// How likely a beacon that was trained is still there.
    private static let presence = 0.6
    /// Of beacons that were never heard in a room, so many were out of reach, and not yet installed.
    private static let outOfReach = 0.1
    /// What is out of reach is heard this often all the same, and readings are outliers this often.
    private static let outliers = 0.02
    /// A beacon of which nothing is known is heard this often, at an RSSI of that mean and deviation.
    private static let unknown = (share: 0.6, mean: -78.0, deviation: 10.0)
    /// Where the radio's sensitivity ends, in dBm.
    private static let faintest = (mean: -92.0, deviation: 5.0)
    /// In none of the rooms a beacon is heard at any RSSI alike, over so many deviations of what was trained.
    ///
    /// Counted in deviations, so that a house in which all scatters much is not taken for elsewhere. How many is a choice
    /// between false alarms and rooms that are missed, made on a house of 13 rooms by leaving each of them out.
    private static let anywhereDeviations = 8.6
    /// With so many beacons that are heard in other rooms too, a room does not need those of its own.
    private static let enoughShared = 6

    /// The offsets of the receiver that are weighed, in dB.
    static let offsets = stride(from: -18.0, through: 18, by: 3).map(\.self)

    /// The rooms' names; behind them, none of them is one more state.
    let names: [String]
    private let table: RoomTable
    /// For each room and beacon.
    private let links: [[Link]]
    /// For each room, the logarithm of the probability that no beacon is heard at all.
    private let silences: [Double]
    /// For each beacon, the logarithm of the density of its RSSI in none of the rooms, where it is heard as often as in
    /// the room that hears it most.
    private let anywhere: [Double]

    /// By how much the RSSI of a beacon scatters at one place, in dB: what is usual, or what the training tells if that
    /// is more.
    let scatter: Double

    /// How many states there are: the rooms, and none of them.
    var stateCount: Int { links.count + 1 }
    /// How many beacons were trained: a scan's are told as offsets below it.
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

    /// What of a scan is known; nil if that is too little for a valid answer.
    func known(of scan: RoomScan, atLeast count: Int) -> [(beacon: Int, rssi: Double)]? {
        table.known(of: scan, atLeast: count)
    }

    /// Fits samples from pockets to those in hand, and leaves out the beacons that a single room has heard, if it has
    /// enough others.
    ///
    /// They may tell when the room was trained, if beacons were added since, rather than which room it is.
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

    /// The standard deviation of all readings around the mean of their beacon and room, at least the usual one.
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

    /// The logarithms of the likelihoods: for each offset in order, for each state in order.
    ///
    /// Of what is silent, none of the rooms thinks like the room that it suits best.
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

    /// The logarithm of the density of what was heard in a room, by a receiver with an offset.
    private func logDensity(
        of heard: [(beacon: Int, rssi: Double)], in room: [Link], _ offset: Double, _ backgrounds: [Double]
    ) -> Double {
        var sum = 0.0
        // Products of a few factors stay far within the range of numbers, and spare logarithms.
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

    /// The density of Student's distribution with ten degrees of freedom.
    ///
    /// With four, as robust statistics like it, readings that lie far off tell too little against a room, and a room
    /// that was not trained is taken for its neighbour more often.
    private static func student(_ value: Double, _ mean: Double, _ deviation: Double) -> Double {
        let z = (value - mean) / deviation
        let spread = 1 + z * z / 10
        let square = spread * spread
        return tenDegrees / (deviation * square * square * spread * spread.squareRoot())
    }

    /// Γ(11/2) / (Γ(5) √(10π)), which makes the density's integral one.
    private static let tenDegrees = 0.389_108_383_966_031
}
