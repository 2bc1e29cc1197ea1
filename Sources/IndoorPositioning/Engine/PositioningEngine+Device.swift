import CMath
import VenueModel

/// The receiver prior of a known device model, and the test of whether the device is of that model.
struct KnownDevice: Sendable {
    /// The receiver prior of the named model.
    let named: ReceiverOffset
    /// The receiver prior of an unknown device.
    let any: ReceiverOffset
    /// Log-likelihood ratio of the named model against an unknown device.
    private(set) var evidence = 0.0
    /// The number of comparisons so far.
    private var comparisons = 0

    /// Prior log-odds of the name: for one name in ten, the name is wrong or the device is in another case.
    private static let trust = 2.2
    /// Number of consistent comparisons after which the model is confirmed.
    private static let enough = 10

    init(named: ReceiverOffset, any: ReceiverOffset) {
        (self.named, self.any) = (named, any)
    }

    /// Whether the model is neither confirmed nor rejected yet.
    var isInQuestion: Bool { comparisons < Self.enough }

    /// Compares both priors on new evidence; returns whether the device is not of the named model.
    mutating func compare(_ heard: Evidence, field: SignalField) -> Bool {
        func probability(_ receiver: ReceiverOffset) -> Double {
            let likelihood = Likelihood(
                field: field, evidence: heard, receivers: field.maps.map { _ in receiver }, reference: any)
            let evidence = GridPosterior(likelihood).mapEvidence
            guard let best = evidence.max(), best.isFinite else { return 0 }
            return best + cmath_log(evidence.reduce(0) { $0 + cmath_exp($1 - best) })
        }
        comparisons += 1
        evidence += probability(named) - probability(any)
        return evidence < -Self.trust
    }
}

extension PositioningEngine.Device {
    /// Returns the receiver prior of an unknown device if the evidence shows that the device is not of the named model,
    /// whose name is then forgotten; nil otherwise.
    mutating func rejectModel(by heard: Evidence, field: SignalField) -> ReceiverOffset? {
        guard var known, known.isInQuestion else { return nil }
        let isOther = known.compare(heard, field: field)
        self.known = isOther ? nil : known
        return isOther ? known.any : nil
    }
}

extension PositioningEngine {
    /// Sets the receiver prior of a device model if the venue's survey contains it. Call this before any evidence.
    package mutating func begin(asDevice name: String) {
        guard let receiver = device.models[name] else { return }
        let any = device.prior
        begin(offset: receiver.offset, deviation: receiver.deviation)
        device.known = KnownDevice(named: device.prior, any: any)
    }

    /// Sets the priors from an earlier calibration of the device. Call this before any evidence.
    ///
    /// The calibration replaces the receiver prior of the survey only if its uncertainty is smaller.
    package mutating func begin(with calibration: Calibration) {
        let earlier = calibration.later
        if device.known == nil || earlier.rssiDeviation * earlier.rssiDeviation < device.prior.variance {
            device.known = nil
            begin(offset: earlier.rssiOffset, deviation: earlier.rssiDeviation)
        }
        belief.filter.stepMean = earlier.stepScale
        belief.filter.stepDeviation = min(earlier.stepDeviation, settings.motion.stepScale)
    }

    /// Narrows the prior of the receiver offset by the power of a tag. Call this before any evidence.
    ///
    /// In a fleet, the link is reversed: the venue's receivers take the place of the beacons, and the offset is that of
    /// the tag's power from the power of the tag that the field assumes. A tag's stated power has the same error as a
    /// beacon's: it depends on the case, the battery and the mount. Its deviation is therefore
    /// `SignalModel.powerDeviation`. Without a stated power, the offset keeps the prior of an unknown receiver, whose
    /// deviation of 9 dB includes tags of ±10 dB.
    ///
    /// - Parameter power: the signal strength of the tag at 1 m in dBm.
    package mutating func begin(power: Double) {
        let powers = field.transmitters.map(\.power)
        guard !powers.isEmpty, power.isFinite else { return }
        let mean = powers.reduce(0, +) / Double(powers.count)
        begin(offset: min(max(power - mean, -50), 50), deviation: field.model.powerDeviation)
    }

    private mutating func begin(offset: Double, deviation: Double) {
        var receiver = device.prior
        receiver.begin(value: offset, deviation: min(deviation, field.model.receiverOffsetDeviation))
        begin(with: receiver)
    }

    /// Begins with a receiver prior on all maps.
    mutating func begin(with receiver: ReceiverOffset) {
        device.prior = receiver
        device.offsets = device.offsets.map { _ in receiver }
        belief.filter.receivers = device.offsets
    }
}

extension PositioningEngine {
    /// Factor on the variance of the learned offset, because the errors of readings are correlated across the filter's
    /// updates.
    private static let correlation = 2.0

    /// Standard deviation in dB that is added to the learned receiver offset for new particles.
    private static let offsetDoubt = 2.0

    /// The calibration that the engine has learned on the most probable map; nil before any evidence, and for methods
    /// that don't learn.
    ///
    /// The receiver offset is that of the map's particles. The step scale is the weighted mean over the particles:
    /// resampling has removed the particles whose step scale led them into walls or away from the beacons. The
    /// remaining particles may descend from few ancestors; the number of steps therefore bounds the certainty.
    package var calibration: Calibration? {
        guard let mapIndex = learnedMapIndex else { return nil }
        var calibration = Calibration()
        let offset = device.offsets[mapIndex]
        calibration.rssiOffset = min(max(offset.value, -50), 50)
        // The correlation factor raises the variance at most to that of the prior, which keeps the earlier calibration.
        let most = max(offset.variance, device.prior.variance)
        calibration.rssiDeviation = min(min(Self.correlation * offset.variance, most).squareRoot(), 50)
        let (mean, deviation) = belief.filter.stepScale(mapIndex: mapIndex)
        calibration.stepScale = min(max(mean, 0.4), 2.5)
        calibration.stepDeviation = min(max(deviation, stepUncertainty), 1)
        return calibration
    }

    /// The receiver regardless of the map: the offsets of all maps, weighted by their probabilities.
    var receiver: ReceiverOffset {
        var (all, sum, squares) = (0.0, 0.0, 0.0)
        for (offset, share) in zip(device.offsets, mapShares) {
            all += share
            sum += share * offset.value
            squares += share * (offset.variance + offset.value * offset.value)
        }
        var receiver = device.prior
        guard all > 0 else { return receiver }
        let mean = sum / all
        receiver.begin(value: mean, deviation: max(0, squares / all - mean * mean).squareRoot())
        return receiver
    }

    /// Updates the receiver offsets from the particles; the receiver is the same on all maps.
    ///
    /// New particles begin with the mean offset over all maps and a larger variance, because the belief may be wrong.
    mutating func learnOffsets() {
        for mapIndex in device.offsets.indices {
            guard let (mean, variance) = belief.filter.receiverOffset(mapIndex: mapIndex) else { continue }
            device.offsets[mapIndex].begin(value: mean, deviation: variance.squareRoot())
        }
        let learned = receiver
        let variance = learned.variance + Self.offsetDoubt * Self.offsetDoubt
        for mapIndex in device.offsets.indices {
            belief.filter.receivers[mapIndex] = device.prior
            belief.filter.receivers[mapIndex].begin(
                value: learned.value, deviation: min(variance, max(device.prior.variance, 1)).squareRoot())
        }
    }
}

extension ParticleFilter {
    /// Returns the mean and the standard deviation of the particles' step scale on a map.
    func stepScale(mapIndex: Int) -> (mean: Double, deviation: Double) {
        // Once: without optimization, each access copies the arrays.
        let particles = particles
        var (weight, sum, squares) = (0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let (share, scale) = (Double(particles.weight[index]), Double(particles.scale[index]))
            weight += share
            sum += share * scale
            squares += share * scale * scale
        }
        guard weight > 0 else { return (stepMean, stepDeviation) }
        let mean = sum / weight
        return (mean, max(0, squares / weight - mean * mean).squareRoot())
    }
}
