import CMath
import IndoorVocabulary

/// A room classifier that continuously estimates this receiver's offset from the receiver of the training.
///
/// The classifier is a hidden Markov model: the device stays in a room for about `meanStay`, its receiver keeps its
/// offset, and each scan updates the joint probability of room and offset (L. R. Rabiner, *A Tutorial on Hidden Markov
/// Models*, 1989). Consecutive scans have correlated errors, because a person hardly moves within a second. The
/// classifier therefore uses only a share of the evidence of each scan, and a larger share of the first scans at a
/// place. A change-point test detects from the RSSI alone that the device has moved to another place (E. S. Page,
/// *Continuous Inspection Schemes*, 1954). After a change, all rooms are equally probable, so that earlier scans don't
/// delay the new room. The memory of rooms can be turned off; the classifier then still learns the offset.
public struct AdaptiveClassifier: Classifier {
    /// The settings of an adaptive classifier.
    public struct Settings: Hashable, Sendable {
        /// The minimum number of known beacons in a scan for an answer; 1 or more.
        package var minimumBeacons = 3
        /// Whether earlier scans contribute to the estimate of the room; if false, each scan is classified by itself.
        public var remembersRooms = true
        /// The approximate time that a device stays in a room, between changes that the change-point test doesn't
        /// detect; above 0 s. With a shorter time, the classifier reports such changes sooner, but also more false
        /// changes.
        package var meanStay = Duration.seconds(90)
        /// The approximate time that a device stays among the trained rooms, or elsewhere; above 0 s.
        ///
        /// It is much longer than the stay in one room: the signal in an untrained room is similar to that in its
        /// neighbours, and only minutes of scans distinguish them.
        package var meanVisit = Duration.seconds(3600)
        /// The probability that a device outside of the trained rooms has entered one when it is detected at another place;
        /// in [0, 1].
        package var returnProbability = 0.0
        /// The weight of a scan's evidence relative to the previous scans; above 0, at most 1.
        ///
        /// The default is about a thirtieth. Bodies cause fading of about 5 dB that lasts for seconds. A place also
        /// differs from the trained places by about 3 dB, which no further scan averages out. A minute of scans
        /// therefore has the information of about two scans. With a larger share, the classifier is wrong more often.
        package var evidenceShare = 0.03
        /// The weight of the evidence of the first scan at a place; from `evidenceShare` to 1.
        ///
        /// The first scan is independent of the earlier ones. The n-th scan has 1/n of this weight, but at least
        /// `evidenceShare`.
        package var firstEvidenceShare = 0.35
        /// The log likelihood ratio at which the classifier accepts that the device is at another place, in nats; above
        /// 0, or infinity to turn the change-point test off. With a smaller ratio, it reports changes sooner, but also
        /// more false changes.
        public var changeThreshold = 6.0
        /// The standard deviation in dB of the receiver's offset before the first scan; above 0.
        package var offsetDeviation = 8.0
        /// The probability that the device is in none of the trained rooms before the first scan; in [0, 1), 0 to
        /// exclude it.
        public var elsewhereProbability = 0.02

        /// Creates the settings with their defaults.
        public init() {}
    }

    private let settings: Settings
    private let model: RoomSignalModel
    /// The prior probability of each state: the same for all rooms, followed by the state outside all rooms.
    private let statePrior: [Double]
    private let offsetPrior: [Double]
    /// The probability of each pair of offset and state, ordered like the model's likelihoods.
    private var belief: [Double]
    private var latest: Instant?
    private var place: PlaceChangeTest

    /// Creates a classifier from a training set.
    public init(_ training: RoomTrainingSet, settings: Settings = Settings()) {
        self.settings = settings
        model = RoomSignalModel(training)
        let roomCount = Double(max(1, model.stateCount - 1))
        let elsewhere = min(max(0, settings.elsewhereProbability), 0.99)
        statePrior = model.names.map { _ in (1 - elsewhere) / roomCount } + [elsewhere]
        let weights = RoomSignalModel.offsets.map { offset in
            let z = offset / max(0.1, settings.offsetDeviation)
            return cmath_exp(-z * z / 2)
        }
        let total = weights.reduce(0, +)
        offsetPrior = weights.map { $0 / total }
        belief = offsetPrior.flatMap { [statePrior] offset in statePrior.map { $0 * offset } }
        place = Self.placeTest(model, settings)
    }

    private static func placeTest(_ model: RoomSignalModel, _ settings: Settings) -> PlaceChangeTest {
        PlaceChangeTest(
            beaconCount: model.beaconCount, deviation: model.scatter, threshold: settings.changeThreshold)
    }

    /// The learned offset in dB: the RSSI of this receiver minus the RSSI of the receiver of the training.
    package var receiverOffset: Double {
        zip(RoomSignalModel.offsets, offsetBelief).reduce(0) { $0 + $1.0 * $1.1 }
    }

    public mutating func classify(_ scan: RoomScan) -> RoomEstimate? {
        guard let heard = model.known(of: scan, atLeast: settings.minimumBeacons) else { return nil }
        let elapsed = latest.map { max(Self.shortestStep, $0.seconds(to: scan.instant)) } ?? 0
        latest = scan.instant
        let change = place.observe(heard, after: elapsed)
        predict(over: elapsed, changeRatio: cmath_exp(change))
        let logarithms = model.logLikelihoods(of: heard)
        let share = settings.remembersRooms ? evidenceShare : 1
        var highest: Double?
        for index in belief.indices where belief[index] > 0 {
            if highest.map({ $0 < logarithms[index] }) ?? true { highest = logarithms[index] }
        }
        guard let best = highest else { return nil }
        for index in belief.indices { belief[index] *= cmath_exp((logarithms[index] - best) * share) }
        var total = 0.0
        for index in belief.indices { total += belief[index] }
        for index in belief.indices { belief[index] /= total }
        let stateBelief = stateBelief
        var candidates = zip(model.names, stateBelief).map { RoomEstimate.Candidate(room: $0, probability: $1) }
        if statePrior[model.names.count] > 0 {
            candidates.append(.init(room: nil, probability: stateBelief[model.names.count]))
        }
        return RoomEstimate(instant: scan.instant, candidates: candidates)
    }

    public mutating func forgetRooms() {
        belief = offsetBelief.flatMap { [statePrior] offset in statePrior.map { $0 * offset } }
        latest = nil
        place = Self.placeTest(model, settings)
    }

    /// The weight of the evidence of the current scan.
    private var evidenceShare: Double {
        max(settings.evidenceShare, settings.firstEvidenceShare / Double(max(1, place.scanCount)))
    }

    private var offsetBelief: [Double] {
        let count = statePrior.count
        return RoomSignalModel.offsets.indices.map { belief[($0 * count)..<(($0 + 1) * count)].reduce(0, +) }
    }

    private var stateBelief: [Double] {
        var sums = statePrior.map { _ in 0.0 }
        for index in belief.indices { sums[index % sums.count] += belief[index] }
        return sums
    }

    /// The probability per scan that the offset drifts by a step of its grid (once in about 50 scans), and that the
    /// receiver is a different one.
    private static let (drift, renewal) = (0.02, 0.001)
    /// The minimum time between scans in seconds. The scans of a batch have the same instant, although they are about a
    /// second apart.
    private static let shortestStep = 1.0

    /// Updates the probabilities for the elapsed time: the device may have changed rooms, left all of them, or
    /// returned.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the previous scan, in seconds.
    ///   - changeRatio: the likelihood ratio of the scan at another place to the same place; infinite if the test has
    ///     detected a change, so that all rooms are equally probable.
    private mutating func predict(over elapsed: Double, changeRatio: Double) {
        let count = statePrior.count
        let elsewhere = count - 1
        func staying(_ mean: Duration) -> Double {
            settings.remembersRooms ? cmath_exp(-elapsed / max(1e-3, mean.seconds)) : 0
        }
        let (expected, onVisit) = (staying(settings.meanStay), staying(settings.meanVisit))
        // Bayes' rule, with the expected stay and the result of the change-point test.
        let inRoom =
            expected > 0 && changeRatio.isFinite
            ? expected / (expected + (1 - expected) * max(1, changeRatio)) : 0
        let returning = changeRatio.isFinite ? 0 : settings.returnProbability
        let offsets = offsetBelief
        let anyRoom = statePrior[..<elsewhere].reduce(0, +)
        var moved = belief
        for offset in offsets.indices {
            let first = offset * count
            let outside = belief[first + elsewhere]
            let changed = (1 - inRoom) * max(0, offsets[offset] - outside) + returning * outside
            for state in 0..<count {
                let entered = changed * statePrior[state] / max(anyRoom, 1e-300)
                let stayed =
                    state == elsewhere ? (1 - returning) * outside : inRoom * belief[first + state] + entered
                moved[first + state] = onVisit * stayed + (1 - onVisit) * offsets[offset] * statePrior[state]
            }
        }
        let last = offsets.count - 1
        for offset in offsets.indices {
            for state in 0..<count {
                let neighbors = moved[max(0, offset - 1) * count + state] + moved[min(last, offset + 1) * count + state]
                let drifted = (1 - Self.drift) * moved[offset * count + state] + Self.drift / 2 * neighbors
                belief[offset * count + state] =
                    (1 - Self.renewal) * drifted + Self.renewal * offsetPrior[offset] * statePrior[state]
            }
        }
    }
}

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

/// A change-point test that detects from the RSSI alone that a receiver has moved to another place.
///
/// The test is a cumulative sum of log likelihood ratios (E. S. Page, *Continuous Inspection Schemes*, Biometrika
/// 1954). Under one hypothesis, a beacon's readings scatter around its mean at the current place, and the beacon is
/// received as often as before. Under the other, they come from a new place with an unknown mean, and the beacon is
/// received in every second scan. The test doesn't use the trained rooms. Readings at two places differ more than
/// readings at one place, so the test detects a change after a few scans, while the rooms' likelihoods show it only
/// after many.
package struct PlaceChangeTest: Sendable {
    /// The statistics of a beacon at a place.
    private struct Reading: Sendable {
        var mean = 0.0
        /// The number of readings that the mean represents; older readings have less weight.
        var weight = 0.0
        /// Whether the current scan contains the beacon.
        var isHeard = false

        mutating func add(_ rssi: Double) {
            mean = (mean * weight + rssi) / (weight + 1)
            weight += 1
        }
    }

    /// The distribution of an unknown beacon at a place, in dBm and dB.
    private static let unknown = (mean: -78.0, deviation: 10.0)
    /// The time constant in seconds of a mean, which follows slow movements within a room: readings of this age have
    /// the weight e^-1.
    private static let memory = 10.0
    /// The limits of one beacon's contribution; a single beacon can neither cause nor exclude a change.
    private static let bounds = (least: -3.0, greatest: 6.0)
    /// The weight of missing beacons; it is below 1 because a silence of a beacon often lasts for several scans.
    private static let silenceShare = 0.5
    /// The limits of the estimated share of the scans that contain a beacon.
    private static let shares = (least: 0.1, greatest: 0.9)
    /// The minimum number of scans to estimate how often a beacon is received, and the weight below which a beacon is
    /// no longer expected.
    private static let (enoughScans, forgotten) = (2.0, 0.05)

    /// The variance of readings at one place, in dB².
    private let variance: Double
    /// The sum at which the test reports a change, in nats.
    private let threshold: Double
    private var present: [Reading]
    /// The number of scans at the current place; older scans have less weight.
    private var weight = 0.0
    /// The statistics since the sum was last zero; if there was a change, these are the statistics of the new place.
    private var candidate: [Reading]
    private var candidateCount = 0.0
    private var sum = 0.0
    /// The number of scans at the current place.
    package private(set) var scanCount = 0

    /// Creates a test without scans.
    ///
    /// - Parameters:
    ///   - deviation: the standard deviation of a beacon's readings at one place, in dB; above 0.
    ///   - threshold: the log likelihood ratio at which the test reports a change, in nats; above 0; infinity turns the
    ///     test off.
    package init(beaconCount: Int, deviation: Double, threshold: Double) {
        variance = deviation * deviation
        self.threshold = threshold
        present = Array(repeating: Reading(), count: beaconCount)
        candidate = present
    }

    /// Compares a scan with the current place.
    ///
    /// - Parameters:
    ///   - heard: the beacons, each once, as offsets below the beacon count, with their RSSI in dBm.
    ///   - elapsed: the time since the previous scan, in seconds.
    /// - Returns: the log likelihood ratio in nats between a change and no change; 0 without evidence of a change, and
    ///   infinity if the test reports a change. In that case, this scan and the earlier scans with evidence of the
    ///   change are the first scans at a new place.
    package mutating func observe(_ heard: [(beacon: Int, rssi: Double)], after elapsed: Double) -> Double {
        guard threshold.isFinite else {
            scanCount += 1
            return 0
        }
        for (beacon, _) in heard { present[beacon].isHeard = true }
        let audibility = weight > Self.enoughScans ? Self.silenceShare * audibilityRatio : 0
        for (beacon, _) in heard { present[beacon].isHeard = false }
        sum = max(0, sum + audibility + heard.reduce(0) { $0 + logRatio(of: $1.rssi, to: present[$1.beacon]) })
        if sum > 0 {
            for (beacon, rssi) in heard { candidate[beacon].add(rssi) }
            candidateCount += 1
        } else {
            clearCandidate()
        }
        guard sum < threshold else {
            swap(&present, &candidate)
            weight = candidateCount
            clearCandidate()
            (sum, scanCount) = (0, 1)
            return .infinity
        }
        let fading = cmath_exp(-max(0, elapsed) / Self.memory)
        for index in present.indices { present[index].weight *= fading }
        for (beacon, rssi) in heard { present[beacon].add(rssi) }
        weight = weight * fading + 1
        scanCount += 1
        return sum
    }

    private mutating func clearCandidate() {
        for index in candidate.indices { candidate[index] = Reading() }
        candidateCount = 0
    }

    /// The log likelihood ratio between a new place and the current one, from the presence of each beacon in the scan.
    private var audibilityRatio: Double {
        present.reduce(0) { total, reading in
            guard reading.isHeard || reading.weight > Self.forgotten else { return total }
            let share = min(max(reading.weight / weight, Self.shares.least), Self.shares.greatest)
            return total - cmath_log(2 * (reading.isHeard ? share : 1 - share))
        }
    }

    /// Returns the log likelihood ratio between a new place and the current one, from a reading.
    private func logRatio(of rssi: Double, to reading: Reading) -> Double {
        let spread = Self.unknown.deviation * Self.unknown.deviation
        // The readings at the current place narrow the distribution of an unknown beacon.
        let meanVariance = 1 / (1 / spread + reading.weight / variance)
        let mean = meanVariance * (Self.unknown.mean / spread + reading.weight * reading.mean / variance)
        let (here, anew) = (meanVariance + variance, spread + variance)
        let (fromHere, fromAnew) = (rssi - mean, rssi - Self.unknown.mean)
        let ratio = (fromHere * fromHere / here - fromAnew * fromAnew / anew + cmath_log(here / anew)) / 2
        return min(max(ratio, Self.bounds.least), Self.bounds.greatest)
    }
}
