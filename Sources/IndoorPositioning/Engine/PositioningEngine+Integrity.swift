import CMath
import IndoorVocabulary
import VenueModel

extension PositioningEngine {
    /// Whether beacons are tested.
    var testsBeacons: Bool { effort.testsBeacons && settings.testedBeacons != .none }

    /// Tests the detected beacons against each other.
    ///
    /// The test takes the receivers and the particles from the belief. It sets the faults of the beacons, and those that
    /// the collector doesn't count.
    /// - Returns: whether the belief must restart, because faulty beacons have made it wrong.
    mutating func examine(_ heard: Evidence, at now: Instant) -> Bool {
        checks.beacons.suspect(readings.beacons.sharedTransmitter(in: heard, field: field))
        readings.beacons.imitated = checks.beacons.imitated
        var evidence = heard
        evidence.heard.removeAll { $0.share <= 0 }
        let likelihood = Likelihood(field: field, evidence: evidence, receivers: belief.filter.receivers)
        let faults = evidence.heard.map { Float(checks.beacons.priorFault(of: $0.beacon)) }
        // The beacons that one transmitter seems to send may have captured the belief and the receiver's state.
        let isTrusted = checks.beacons.imitated.isEmpty
        let known = isTrusted ? belief.filter.receivers.first : device.prior
        let receiver = known.map { ($0.value, $0.variance) } ?? (0, 0)
        placeCandidates(likelihood, usingBelief: isTrusted)
        belief.filter.workspace.consensus.weigh(
            likelihood, faults: faults, receiver: receiver, scale: checks.beacons.scale.value)
        guard !belief.filter.workspace.consensus.tests.isEmpty else { return false }
        var place: (mapIndex: Int, point: MapPoint, variance: Double)?
        if let mapIndex = learnedMapIndex, let moments = belief.filter.moments(mapIndex: mapIndex) {
            place = (mapIndex, moments.mean, moments.variance)
        }
        checks.beacons.observe(belief.filter.workspace.consensus, heard, belief: place, field: field, at: now)
        return checks.beacons.isAstray
    }

    /// Sets the candidate positions of the test: particles of the belief, and cells of each possible map.
    private mutating func placeCandidates(_ likelihood: Likelihood, usingBelief: Bool) {
        let particles = belief.filter.particles
        let count = usingBelief ? min(IntegrityConstants.beliefCount, particles.count) : 0
        if count > 0 {
            particles.pick(count, of: 0..<particles.count, start: 0.5, into: &belief.filter.workspace.picks)
        }
        // A copy, because the closure reads the picks while the call modifies the workspace's consensus.
        let picks = belief.filter.workspace.picks
        belief.filter.workspace.consensus.place(likelihood, count: count) { place in
            let index = Int(picks[place])
            return (
                Int(particles.mapIndex[index]),
                MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            )
        }
    }

    /// Prepares the restart of a belief that faulty beacons have made wrong: reduces the weight of these beacons in the
    /// last seconds' evidence, and resets the map probabilities and the receiver offsets.
    mutating func leave(_ heard: inout Evidence) {
        let consensus = belief.filter.workspace.consensus
        for test in consensus.tests where test.fault > IntegrityConstants.probableFault {
            for place in heard.heard.indices where heard.heard[place].beacon == test.beacon {
                heard.heard[place].share *= Float(2 * (1 - test.fault))
                heard.heard[place].draws *= Float(2 * (1 - test.fault))
            }
        }
        belief.floors.observe(
            evidence: consensus.mapShares.map { cmath_log($0 + IntegrityConstants.leastMapShare) }, height: nil,
            after: 0)
        for mapIndex in device.offsets.indices {
            belief.filter.receivers[mapIndex] = device.prior
            belief.filter.receivers[mapIndex].begin(
                value: consensus.offset, deviation: IntegrityConstants.restartDeviation)
            device.offsets[mapIndex] = belief.filter.receivers[mapIndex]
        }
    }

    /// The beacons whose readings contradict the belief or that are missing, in the order of their identities.
    public var beaconFaults: [BeaconFault] {
        checks.beacons.faults(of: field).sorted { $0.beacon < $1.beacon }
    }

    /// Collects the residuals of the beacons from now on.
    mutating func collectResiduals() { checks.beacons.atlas = ResidualAtlas() }

    /// The residuals of the beacons; nil unless they are collected.
    var residuals: ResidualAtlas? { checks.beacons.atlas }

    package mutating func collectLevels() {
        if testsBeacons, settings.method == .particle, checks.beacons.levels == nil {
            checks.beacons.levels = BeaconLevelCollector()
        }
    }

    package mutating func drainLevels() -> BeaconLevels? {
        guard checks.beacons.levels?.isEmpty == false else { return nil }
        return checks.beacons.levels?.drain(field)
    }

    /// Whether the beacons contradict each other and no majority of them agrees.
    public var isContradictory: Bool { checks.beacons.isContradictory }
}

/// A test of whether the belief is consistent with the evidence of the last seconds alone.
///
/// If the model holds, the two positions differ by no more than their variances predict, because the belief includes
/// the evidence of the last seconds. A persistent larger difference shows that the belief is overconfident: the device
/// is outside the surveyed area, the radio map is outdated, or the filter has lost the device.
///
/// Source: J. A. Hausman, *Specification Tests in Econometrics*, Econometrica 46(6), 1978: the variance of the
/// difference between an efficient estimate and an inefficient one is the difference of their variances.
package struct ConsistencyTest: Hashable, Sendable {
    /// The weighted sum of the ratios, and the sum of the weights.
    private(set) var ratios = 0.0
    private(set) var weight = 0.0

    /// Time constant in seconds of the exponential average.
    private static let memory = 30.0
    /// Lower bound of the expected variance as a share of the latest evidence's variance: a walker's belief can be as
    /// wide as the latest evidence.
    private static let leastShare = 0.5

    /// Creates a test without comparisons.
    package init() {}

    /// Creates a test with the sums of an earlier one.
    init(ratios: Double, weight: Double) { (self.ratios, self.weight) = (ratios, weight) }

    /// Adds a comparison.
    ///
    /// - Parameters:
    ///   - difference: distance in metres between the two mean positions.
    ///   - latest: variance in m², summed over both axes, from the last seconds' evidence.
    ///   - belief: variance in m², summed over both axes, of the belief.
    ///   - seconds: time since the previous comparison.
    package mutating func observe(difference: Double, latest: Double, belief: Double, after seconds: Double) {
        let expected = max(latest - belief, Self.leastShare * latest)
        guard expected > 0, expected.isFinite, difference.isFinite else { return }
        let keep = cmath_exp(-max(0, seconds) / Self.memory)
        ratios = ratios * keep + difference * difference / expected
        weight = weight * keep + 1
    }

    /// Whether there was a comparison.
    package var hasComparison: Bool { weight > 0 }

    /// The ratio of the mean squared difference to its expected value over the last half minute; 0 before any
    /// comparison.
    package var ratio: Double { weight > 0 ? ratios / weight : 0 }
}
