import CMath
import IndoorVocabulary
import VenueModel

/// A monitor that tests each beacon against the others over time.
struct IntegrityMonitor: Sendable {
    /// The beacons that can be reported as faulty.
    let tested: TestedBeacons
    /// The records of the beacons that were detected, ordered by beacon.
    private(set) var records: [BeaconRecord] = []
    /// The position from the latest global update.
    private var place: (mapIndex: Int, point: MapPoint)?
    private var latest: Instant?
    /// Whether the beacons contradict each other and no majority of them agrees.
    private(set) var isContradictory = false
    /// The variance in m² that faulty beacons may add to the error of the position.
    private(set) var separation = 0.0
    /// Whether faulty beacons have made the belief wrong, so that it must restart.
    private(set) var isAstray = false

    var byteCount: Int {
        records.reduce(MemoryLayout<BeaconRecord>.stride * records.capacity) {
            $0 + MemoryLayout<BeaconRecord.Sample>.stride * $1.samples.capacity
        } + MemoryLayout<SilenceRecord>.stride * silences.capacity
    }

    /// The transmitter that seems to send several identities in the current global update; nil without its signature.
    private var transmitter: SharedTransmitter?
    /// The beacons whose identities it seems to send, in ascending order.
    var imitated: [Int] { transmitter?.beacons ?? [] }
    /// The latest beacons with the signature, and the logarithm of the odds that one transmitter sends them.
    private var imitation = (beacons: [Int](), odds: 0.0)
    /// The beacons that are expected and missing, ordered by beacon.
    var silences: [SilenceRecord] = []
    /// The numbers of recently received and recently expected readings.
    var reception = (heard: 0.0, expected: 0.0)
    /// The residuals of all beacons by place; nil unless an audit collects them.
    var atlas: ResidualAtlas?
    /// The levels of all beacons by place; nil unless a history collects them.
    var levels: BeaconLevelCollector?
    /// The ratio of the errors to the expected errors.
    private(set) var scale = InnovationScale()

    /// Creates a monitor that tests only the given beacons.
    init(_ tested: TestedBeacons) { self.tested = tested }

    /// Returns the index of a beacon's record, or the index at which to insert one.
    private func index(of beacon: Int) -> (index: Int, isKnown: Bool) {
        let index = records.indices.bisection { records[$0].beacon >= beacon }
        return (index, index < records.count && records[index].beacon == beacon)
    }

    /// Returns the record of a beacon; nil if the beacon wasn't detected.
    func record(of beacon: Int) -> BeaconRecord? {
        let (index, isKnown) = index(of: beacon)
        return isKnown ? records[index] : nil
    }

    /// Returns the probability that a beacon is faulty.
    func fault(of beacon: Int) -> Double {
        record(of: beacon)?.fault ?? 1 / (1 + cmath_exp(-IntegrityConstants.prior))
    }

    /// Notes the beacons that one transmitter seems to send, before the test of a global update.
    mutating func suspect(_ transmitter: SharedTransmitter?) {
        self.transmitter = transmitter
        guard transmitter != nil else { return }
        let isOther = 2 * imitated.count { imitation.beacons.contains($0) } < imitated.count
        imitation = (imitated, isOther ? IntegrityConstants.signatureOdds : imitation.odds)
    }

    /// Returns the probability of a fault for the test of a global update. The beacons that one transmitter seems to send
    /// are tested together against the others, so that none of them supports the position.
    func priorFault(of beacon: Int) -> Double {
        imitated.contains(beacon) ? IntegrityConstants.ignoringFault : fault(of: beacon)
    }

    /// Reduces the weight of the readings of faulty beacons.
    func weigh(_ evidence: inout Evidence) {
        guard records.contains(where: { $0.odds > 0 }) else { return }
        for place in evidence.heard.indices {
            guard let record = record(of: evidence.heard[place].beacon), record.odds > 0 else { continue }
            evidence.heard[place].share *= Float(record.weight)
            evidence.heard[place].draws *= Float(record.weight)
        }
    }

    /// Adds a global update.
    ///
    /// - Parameters:
    ///   - consensus: the posterior of the global update.
    ///   - evidence: the readings of the global update, including those that the posterior doesn't use.
    ///   - belief: the most probable map of the belief, the mean position on it, and the sum of the variances along
    ///     both axes.
    mutating func observe(
        _ consensus: BeaconConsensus, _ evidence: Evidence, belief: (mapIndex: Int, point: MapPoint, variance: Double)?,
        field: SignalField, at now: Instant
    ) {
        let seconds = latest.map { max(0, $0.seconds(to: now)) } ?? .infinity
        latest = now
        var walked = Double.infinity
        if let place, place.mapIndex == consensus.mapIndex { walked = place.point.distance(to: consensus.mean) }
        place = (consensus.mapIndex, consensus.mean)
        let fresh = 1 - cmath_exp(-seconds / IntegrityConstants.errorTime - walked / IntegrityConstants.errorLength)
        let count = consensus.tests.count
        observeImitation(consensus, fresh: fresh, at: now)
        for test in consensus.tests where !imitated.contains(test.beacon) {
            guard let reading = evidence.heard.first(where: { $0.beacon == test.beacon }) else { continue }
            let (index, isKnown) = index(of: test.beacon)
            if !isKnown { records.insert(BeaconRecord(beacon: test.beacon, at: now), at: index) }
            let extent = extent(of: test, field)
            records[index].observe(
                test, extent: extent, reading: reading, independence: isKnown ? fresh : 1,
                ceiling: extent == .nothing
                    ? IntegrityConstants.prior : count >= IntegrityConstants.fewestBeacons ? .infinity : 0,
                mapIndex: consensus.mapIndex, offset: consensus.offset, powerDoubt: field.powerDoubt(of: test.beacon),
                at: now)
        }
        if count >= IntegrityConstants.fewestBeacons - 1 {
            let scale = scale.value
            for test in consensus.tests where !imitated.contains(test.beacon) {
                self.scale.observe(test.residual.magnitude / test.variance.squareRoot(), scale: scale)
            }
        }
        collect(consensus, evidence, field)
        if levels != nil { collectLevels(consensus, evidence, field, fresh: fresh) }
        assess(consensus, belief, field, after: seconds)
        listen(
            consensus, evidence, field: field, seconds: min(seconds, IntegrityConstants.longestSilence), fresh: fresh,
            at: now)
        diagnose(field)
    }

    /// Adds the tests of the beacons that one transmitter seems to send: either all of them are faulty or none is.
    private mutating func observeImitation(_ consensus: BeaconConsensus, fresh: Double, at now: Instant) {
        guard let transmitter else { return }
        let sum = consensus.tests.reduce(0) { imitated.contains($1.beacon) ? $0 + $1.logRatio : $0 }
        let isFirst = imitated.allSatisfy { !(record(of: $0)?.isImitated ?? false) }
        let independence = isFirst ? 1 : fresh
        // Without others, the signature lasts only if one transmitter sends all: elsewhere, the levels differ.
        imitation.odds += BeaconRecord.gain(
            transmitter.hasOthers ? sum : IntegrityConstants.signatureGain, independence: independence)
        imitation.odds = min(max(imitation.odds, IntegrityConstants.lowest), IntegrityConstants.highest)
        for beacon in imitated {
            let (index, isKnown) = index(of: beacon)
            if !isKnown { records.insert(BeaconRecord(beacon: beacon, at: now), at: index) }
            records[index].observeImitation(odds: imitation.odds, independence: independence, at: now)
        }
    }

    /// Returns the faults for which a beacon is tested: none unless the field knows its level at the position. Away
    /// from the surveyed places, the field extrapolates, and its errors are larger than it expects.
    private func extent(of test: BeaconConsensus.Test, _ field: SignalField) -> TestedBeacons.Extent {
        guard field.isEstablished(test.beacon), !field.areRatesKnown || test.support >= IntegrityConstants.leastSupport
        else { return .nothing }
        return tested.extent(isSurveyed: field.isPowerSurveyed(test.beacon))
    }

    /// Collects the residuals of a global update for an audit, if the position is certain.
    private mutating func collect(_ consensus: BeaconConsensus, _ evidence: Evidence, _ field: SignalField) {
        guard atlas != nil, consensus.tests.count >= IntegrityConstants.fewestBeacons,
            consensus.variance < IntegrityConstants.auditVariance
        else { return }
        for test in consensus.tests
        where test.isOnMap && !imitated.contains(test.beacon) && extent(of: test, field) == .everything {
            guard let reading = evidence.heard.first(where: { $0.beacon == test.beacon }) else { continue }
            atlas?.add(
                test, level: Double(reading.rssi) - consensus.offset, isDouble: BeaconRecord.hasTwoLevels(reading),
                mapIndex: consensus.mapIndex)
        }
    }

    /// Collects the levels of a global update for a history, if the position is certain.
    private mutating func collectLevels(
        _ consensus: BeaconConsensus, _ evidence: Evidence, _ field: SignalField, fresh: Double
    ) {
        guard consensus.tests.count >= IntegrityConstants.fewestHeard,
            consensus.variance < IntegrityConstants.auditVariance,
            consensus.mapShares[consensus.mapIndex] > IntegrityConstants.certainShare
        else { return }
        let tests = consensus.tests.filter { test in
            test.isOnMap && !imitated.contains(test.beacon) && field.isEstablished(test.beacon)
                && (!field.areRatesKnown || test.support >= IntegrityConstants.leastSupport)
        }
        levels?.add(
            tests, at: consensus.mean, mapIndex: consensus.mapIndex, field: field, fresh: fresh,
            heard: { beacon in evidence.heard.contains { $0.beacon == beacon } })
    }

    private mutating func diagnose(_ field: SignalField) {
        guard records.contains(where: { $0.needsKind }) else { return }
        let others = records.filter { $0.odds > 0 }.map(\.beacon)
        for index in records.indices where records[index].needsKind {
            let kind =
                records[index].isImitated
                ? .imitated(count: records.count { $0.isImitated })
                : FaultDiagnosis(records[index], field: field).kind(others: others)
            records[index].setKind(kind)
        }
    }

    /// Computes the separation: how far the solutions, each without one of the beacons, lie from the belief.
    private mutating func assess(
        _ consensus: BeaconConsensus, _ belief: (mapIndex: Int, point: MapPoint, variance: Double)?,
        _ field: SignalField, after seconds: Double
    ) {
        let faults = consensus.tests.map { test in
            let known = fault(of: test.beacon)
            guard !imitated.contains(test.beacon) else { return known }
            return extent(of: test, field) == .everything ? max(known, test.fault) : known
        }
        let worst = faults.max() ?? 0
        let isMinority = consensus.tests.count < IntegrityConstants.fewestBeacons
        // The beacons that one transmitter seems to send count as one.
        let surplus = zip(consensus.tests, faults).filter { imitated.contains($0.0.beacon) }.map(\.1).dropFirst()
        isContradictory =
            faults.reduce(0, +) - surplus.reduce(0, +) > 0.5 * Double(consensus.tests.count - surplus.count)
            || isMinority && worst >= IntegrityConstants.probableFault
        isAstray = false
        var center = belief?.mapIndex == consensus.mapIndex ? belief?.point ?? consensus.mean : consensus.mean
        let stray = consensus.mean.distance(to: center)
        if worst > IntegrityConstants.probableFault, let belief, consensus.strayShare > IntegrityConstants.decisiveShare
        {
            isAstray =
                belief.mapIndex != consensus.mapIndex
                || stray * stray > IntegrityConstants.decisiveRatio * (consensus.variance + belief.variance)
                    + IntegrityConstants.decisiveDistance * IntegrityConstants.decisiveDistance
        }
        // A belief that restarts continues at the posterior, so the distance from its earlier place is no longer an
        // error.
        if isAstray { (center, separation) = (consensus.mean, 0) }
        var mixture = Mixture()
        for (test, fault) in zip(consensus.tests, faults) {
            mixture.add(test.point.distance(to: center), weight: Self.share(ofFault: fault))
            // With few beacons, the beacon that seems faulty may be the healthy one.
            if isMinority, fault >= IntegrityConstants.probableFault {
                mixture.add(test.ownPoint.distance(to: center), weight: 1)
            }
        }
        mixture.add(
            consensus.mean.distance(to: center), variance: consensus.variance, weight: Self.share(ofFault: worst))
        let kept = separation * cmath_exp(-seconds / IntegrityConstants.separationTime)
        let bound = field.maps[consensus.mapIndex].grid.meanSquare(from: center)
        separation = min(max(mixture.meanSquare, kept), bound)
    }

    /// Returns the share of the squared distance between two solutions that is added to the variance of the position.
    ///
    /// For two solutions, this variance is the squared distance times the probability of the other solution. But if
    /// that probability is above 32 %, the 68 % radius must contain the other solution. The share therefore increases
    /// to 1 near this probability.
    static func share(ofFault fault: Double) -> Double {
        let (low, high) = IntegrityConstants.decisiveFault
        guard fault > low else { return fault }
        return low + (1 - low) * min(1, (fault - low) / (high - low))
    }

    /// The mixture of the solutions, each without one of the beacons. The belief has the rest of the weight. The mean
    /// square is at most that of the farthest solution, regardless of the number of solutions.
    private struct Mixture {
        private var weight = 0.0
        private var sum = 0.0

        mutating func add(_ distance: Double, variance: Double = 0, weight: Double) {
            self.weight += weight
            sum += weight * (distance * distance + variance)
        }

        /// The mean square of the distance to the belief, in m².
        var meanSquare: Double { sum / max(1, weight) }
    }

    /// The faults, in the order of the beacons' indexes.
    func faults(of field: SignalField) -> [BeaconFault] {
        let contradictory = records.compactMap { record in
            record.since.map { BeaconFault(beacon: field.beacons[record.beacon], kind: record.kind, since: $0) }
        }
        let silent = silences.compactMap { record in
            record.since.map { BeaconFault(beacon: field.beacons[record.beacon], kind: .silent, since: $0) }
        }
        return contradictory + silent
    }
}

extension IntegrityMonitor {
    /// Tests whether expected beacons are silent.
    mutating func listen(
        _ consensus: BeaconConsensus, _ evidence: Evidence, field: SignalField, seconds: Double, fresh: Double,
        at now: Instant
    ) {
        let map = field.maps[consensus.mapIndex]
        for reading in evidence.heard { silences.removeAll { $0.beacon == reading.beacon } }
        guard field.areRatesKnown, consensus.variance < IntegrityConstants.sharpVariance,
            consensus.mapShares[consensus.mapIndex] > IntegrityConstants.certainShare,
            evidence.heard.count >= IntegrityConstants.fewestHeard, seconds.isFinite,
            let cell = map.grid.cell(at: consensus.mean)
        else { return }
        let keep = cmath_exp(-seconds / IntegrityConstants.receptionTime)
        let window = Double(evidence.duration)
        var (heard, expected) = (0.0, 0.0)
        var missing: [(beacon: Int, rate: Double)] = []
        for (beacon, transmitter) in field.transmitters.enumerated() where transmitter.mapID == map.mapID {
            let distance = transmitter.point.distance(to: consensus.mean)
            guard distance < IntegrityConstants.nearDistance, let table = map.tables[beacon],
                let entry = table.index(column: cell % map.grid.columns, row: cell / map.grid.columns),
                !table.logRate.isEmpty
            else { continue }
            let rate = cmath_exp(Double(table.logRate[entry]))
            if let reading = evidence.heard.first(where: { $0.beacon == beacon }) {
                heard += Double(reading.count)
                expected += rate * window
            } else if tested.extent(isSurveyed: field.isPowerSurveyed(beacon)) == .everything {
                missing.append((beacon, rate))
                if !(silences.contains { $0.beacon == beacon && $0.odds > 0 }) { expected += rate * window }
            }
        }
        reception.heard = reception.heard * keep + heard
        reception.expected = reception.expected * keep + expected
        let prior = IntegrityConstants.receptionPrior
        let share = min((reception.heard + prior.heard) / (reception.expected + prior.expected), prior.most)
        let independent = 1 - cmath_exp(-seconds / IntegrityConstants.shadowTime) * (1 - fresh)
        for (beacon, rate) in missing {
            let gain = min(share * rate * seconds, IntegrityConstants.mostSilenceGain) * independent
            guard gain > IntegrityConstants.leastSilenceGain else { continue }
            atlas?.addMissed(gain, of: beacon)
            let index = silences.firstIndex { $0.beacon >= beacon } ?? silences.count
            if index == silences.count || silences[index].beacon != beacon {
                silences.insert(SilenceRecord(beacon: beacon), at: index)
            }
            silences[index].odds = min(silences[index].odds + gain, IntegrityConstants.highest)
            if silences[index].since == nil, silences[index].odds >= IntegrityConstants.named {
                silences[index].since = now
            }
        }
    }
}

/// The evidence that an expected beacon is silent.
struct SilenceRecord: Sendable {
    /// Index in the signal field.
    let beacon: Int
    /// The logarithm of the odds that the beacon is silent.
    var odds = IntegrityConstants.prior
    /// The instant from which the silence is known; nil before.
    var since: Instant?
}

/// The beacons that the engine tests against the others. See <doc:BeaconIntegrity>.
public enum TestedBeacons: String, Hashable, Sendable, CaseIterable {
    /// No beacon.
    case none
    /// Each beacon whose level the venue's survey measured. The other beacons are tested only for levels that are far
    /// too strong for the place: walls and bodies can weaken a signal, but nothing strengthens it much.
    case surveyed
    /// Every beacon. Without a survey, the test also reports healthy beacons: their levels can differ from the
    /// path-loss law by as much as a change of power makes.
    case all

    /// The extent of the test of one beacon.
    enum Extent { case nothing, excess, everything }

    /// Returns the extent of the test of a beacon with or without a survey.
    func extent(isSurveyed: Bool) -> Extent {
        switch self {
        case .none: .nothing
        case .surveyed: isSurveyed ? .everything : .excess
        case .all: .everything
        }
    }
}

/// The ratio of the beacons' errors in this venue to the errors that the signal field expects.
///
/// The deviations of the signal field are upper bounds, and are largest in a venue without a survey. The differences
/// between the beacons show how large the errors really are in this venue. The smaller the errors are, the smaller is
/// the contradiction that the test can detect.
struct InnovationScale: Sendable {
    /// The mean of the errors' magnitudes, relative to that of a normal distribution.
    private var ratio = IntegrityConstants.firstRatio
    private var count = IntegrityConstants.firstRatioCount

    /// The factor on the standard deviations.
    var value: Double {
        let range = IntegrityConstants.ratioRange
        return min(max(ratio, range.lowerBound), range.upperBound)
    }

    /// Adds the error of a reading, in standard deviations that include the factor.
    mutating func observe(_ error: Double, scale: Double) {
        count = min(count + 1, IntegrityConstants.ratioMemory)
        ratio += (min(error, IntegrityConstants.errorLimit) * scale / IntegrityConstants.meanError - ratio) / count
    }
}
