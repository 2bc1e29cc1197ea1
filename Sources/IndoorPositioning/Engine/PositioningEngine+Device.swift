import CMath
import VenueModel

/// What the survey told of the device, while it is still to be seen whether that is true.
struct KnownDevice: Sendable {
    /// What is expected of the device.
    let told: ReceiverOffset
    /// What is expected of any.
    let any: ReceiverOffset
    /// How much more probable what was heard is of the device than of any, as a logarithm.
    private(set) var evidence = 0.0
    /// How often the two were compared.
    private var comparisons = 0

    /// A name in ten is wrong, or of a device in another case: as a logarithm of the odds.
    private static let trust = 2.2
    /// Whoever agrees for so many comparisons is the one that he is told to be.
    private static let enough = 10

    init(told: ReceiverOffset, any: ReceiverOffset) {
        (self.told, self.any) = (told, any)
    }

    /// Whether it is still to be seen.
    var isInQuestion: Bool { comparisons < Self.enough }

    /// Takes in what was heard; returns whether the device is another one.
    mutating func compare(_ heard: Evidence, field: SignalField) -> Bool {
        func probability(_ receiver: ReceiverOffset) -> Double {
            let likelihood = Likelihood(field: field, evidence: heard, receivers: field.maps.map { _ in receiver })
            let evidence = GridPosterior(likelihood).mapEvidence
            guard let best = evidence.max(), best.isFinite else { return 0 }
            return best + cmath_log(evidence.reduce(0) { $0 + cmath_exp($1 - best) })
        }
        comparisons += 1
        evidence += probability(told) - probability(any)
        return evidence < -Self.trust
    }
}

extension PositioningEngine {
    /// Begins with what the venue's survey tells of that model of device, if it tells of it. Before any evidence only.
    ///
    /// Within the first looks at the venue the engine compares that with what any receiver would hear there, and drops it
    /// where that is more probable: the name may be wrong, or the device in a pocket. The ratio of both is a Bayes factor.
    /// Source: R. E. Kass, A. E. Raftery, *Bayes Factors*, JASA 90(430), 1995.
    package mutating func begin(asDevice name: String) {
        guard let receiver = devices[name] else { return }
        let any = firstReceiver
        begin(offset: receiver.offset, deviation: receiver.deviation)
        knownDevice = KnownDevice(told: firstReceiver, any: any)
    }

    /// Whether what was heard tells that the device is another one than it was told to be; then any is expected.
    mutating func isOtherDevice(than snapshot: Evidence) -> Bool {
        guard var known = knownDevice, known.isInQuestion else { return false }
        let isOther = known.compare(snapshot, field: field)
        knownDevice = isOther ? nil : known
        guard isOther else { return false }
        begin(with: known.any)
        return true
    }

    /// Begins with what an earlier session learned of the device. Before any evidence only.
    ///
    /// What it learned of the receiver counts, unless the survey tells more of such devices.
    package mutating func begin(with calibration: Calibration) {
        let earlier = calibration.later
        if knownDevice == nil || earlier.rssiDeviation * earlier.rssiDeviation < firstReceiver.variance {
            knownDevice = nil
            begin(offset: earlier.rssiOffset, deviation: earlier.rssiDeviation)
        }
        filter.stepMean = earlier.stepScale
        filter.stepDeviation = min(earlier.stepDeviation, settings.motion.stepScale)
    }

    private mutating func begin(offset: Double, deviation: Double) {
        var receiver = firstReceiver
        receiver.begin(value: offset, deviation: min(deviation, field.model.receiverOffsetDeviation))
        begin(with: receiver)
    }

    private mutating func begin(with receiver: ReceiverOffset) {
        firstReceiver = receiver
        offsets = offsets.map { _ in receiver }
        filter.receivers = offsets
    }
}
