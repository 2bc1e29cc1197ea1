/// The numbers of the beacons' test, each with its unit and with what chose it.
///
/// The sources are, beside derivations from other numbers:
///
/// - *False alarms*: the clean tracks of ten public data sets with their surveys. With the values marked so, the test
///   named 1 healthy beacon in 1.9 hours; with the earlier values, in brackets, it named 55. The values were measured
///   together, not one by one.
/// - *Clones*: the mean error with clones that `indoorloc evaluate --disturb` adds.
/// - *By hand*: chosen by hand; not measured. <doc:BeaconIntegrity> has the results of the test with all these values,
///   which don't show whether another value would be better.
///
/// The odds of a fault are natural logarithms of a ratio of probabilities.
enum IntegrityConstants {
    // MARK: Posterior of a look

    /// The range of a faulty beacon's level, in dB. By hand.
    static let faultyRange: Float = 60
    /// The share of a faulty beacon in the detections, relative to an equal share. By hand.
    static let faultyShare: Float = 0.1
    /// Variance that the user's body adds to a reading, in dB². By hand.
    static let bodyVariance: Float = 2
    /// The share of the prior that is spread over the whole venue, in [0, 1]. The rest is spread over the current
    /// belief. By hand.
    static let gridShare: Float = 0.3
    /// The minimum weight of a cell in the venue's prior, in (0, 1]. By hand.
    static let leastCellWeight: Float = 0.01
    /// The maximum number of candidates from the belief. Clones: with 120, and 400 on the grid, three clones in the
    /// simulated office decided the position.
    static let beliefCount = 160
    /// The approximate number of candidates on the grid of a map. Clones: see `beliefCount`.
    static let mapCount = 900
    /// The variance of the receiver offset, in dB², above which its estimate needs more passes, and the numbers of passes
    /// below and above it. By hand.
    static let offsetPasses = (doubt: Float(6), few: 2, many: 4)

    // MARK: Beacons of a look

    /// The minimum number of detected beacons from which one can be excluded. Derived: a position and the receiver
    /// offset take three beacons, a fourth one shows a contradiction, and a fifth one shows which beacon is wrong.
    static let fewestBeacons = 5
    /// The minimum weight of the position in the prior of a surveyed venue for a test, in [0, 1]. Away from the surveyed
    /// places, the field extrapolates. False alarms [no limit].
    static let leastSupport = 0.7
    /// The time after which the errors of a beacon's readings are independent, in s. By hand.
    static let errorTime = 4.0
    /// The distance after which they are independent, in m. By hand.
    static let errorLength = 2.0

    // MARK: Odds of a fault

    /// The logarithm of the prior odds of a fault: one beacon in 150. False alarms [−4].
    static let prior = -5.0
    /// The lower limit of the logarithm of the odds. By hand.
    static let lowest = -6.0
    /// The upper limit of the logarithm of the odds. Both limits allow the record to clear a beacon as quickly as it
    /// reports a fault. False alarms [6].
    static let highest = 6.5
    /// The logarithm of the odds at which a beacon is reported as faulty: 55 to 1. False alarms [3.5].
    static let named = 4.0
    /// The logarithm of the odds at which a reported beacon is cleared: 1 to 3. By hand.
    static let forgiven = -1.0
    /// The minimum number of independent looks before a beacon is reported: at one place, the errors persist. False
    /// alarms [no limit].
    static let fewestLooks = 2.0
    /// The maximum of the counted independent looks. By hand; without evidence, it takes 20 minutes until a beacon needs
    /// new looks.
    static let mostLooks = 100.0
    /// The maximum that one look adds to the logarithm of the odds. By hand.
    static let mostGain = 6.0
    /// The maximum that one look subtracts from it, as a negative number. By hand.
    static let leastGain = -2.5
    /// The time constant with which the odds return to the prior without evidence, in s. By hand.
    static let oddsMemory = 300.0
    /// The standard deviation of a persistent change of a beacon's power, in dB. By hand.
    static let changedShift = 10.0

    // MARK: Size of the errors

    /// The ratio of the errors to the expected ones before any reading. False alarms [0.5]: the largest ratio of the
    /// public data sets. A smaller one would report healthy beacons as faulty.
    static let firstRatio = 0.8
    /// The weight of this ratio, as a number of readings. False alarms [60].
    static let firstRatioCount = 30.0
    /// The maximum number of readings in the average of the ratio. By hand.
    static let ratioMemory = 300.0
    /// The limit of an error, in standard deviations. By hand.
    static let errorLimit = 1.5
    /// The mean magnitude of normal errors with this limit, in standard deviations. By hand, near the derived 0.739.
    static let meanError = 0.72
    /// The range of the factor on the standard deviations. By hand.
    static let ratioRange = 0.5...1.2

    // MARK: One transmitter with many identities

    /// The logarithm of the odds of an imitation by its signature alone. By hand.
    static let signatureOdds = 1.0
    /// What each look with the signature adds to it without other beacons. By hand.
    static let signatureGain = 1.5
    /// The probability of a fault with which a beacon has no influence on the test of the others. By hand.
    static let ignoringFault = 0.99

    // MARK: Effect on the belief and the radius

    /// The probability of a fault from which the fault counts as the more probable case. Derived: one half.
    static let probableFault = 0.5
    /// The time constant with which the separation of the solutions decreases, in s. By hand.
    static let separationTime = 10.0
    /// The range of a fault's probability over which the weight of the solution without the beacon increases to 1 in
    /// the 68 % radius. Derived: above 32 %, the radius must contain both solutions; the width around it is by hand.
    static let decisiveFault = (low: 0.2, high: 0.4)
    /// The minimum share of the posterior outside the belief for a restart of the belief, in [0, 1]. By hand.
    static let decisiveShare = 0.8
    /// The minimum squared distance between belief and posterior for a restart, relative to the sum of their variances
    /// over both axes. Derived: three standard deviations along an axis, 3² / 2.
    static let decisiveRatio = 4.5
    /// The minimum of this distance, in m. By hand.
    static let decisiveDistance = 2.0
    /// Standard deviation of the receiver offset after a restart, in dB. By hand.
    static let restartDeviation = 3.0
    /// The minimum probability of a map after a restart. By hand.
    static let leastMapShare = 1e-3

    // MARK: Silent beacons

    /// The maximum variance of a position that determines which beacons are expected, in m², summed over both axes. By
    /// hand.
    static let sharpVariance = 12.0
    /// The minimum probability of its map. By hand.
    static let certainShare = 0.9
    /// The minimum number of received beacons: the receiver works if others arrive. By hand.
    static let fewestHeard = 2
    /// The maximum distance of a beacon that must be received, in m. By hand.
    static let nearDistance = 12.0
    /// The time after which a body or a door no longer hides a beacon, in s. By hand.
    static let shadowTime = 6.0
    /// The longest time since the previous look that counts as silence, in s. Derived: the window of a look's readings.
    static let longestSilence = 4.0
    /// The maximum that one look adds to the logarithm of the odds of silence. By hand.
    static let mostSilenceGain = 1.5
    /// The minimum that a look adds; less is left out. By hand.
    static let leastSilenceGain = 0.02
    /// The time constant of the average of received and expected readings, in s. By hand.
    static let receptionTime = 60.0
    /// The readings that are added to the received and to the expected ones, so that their ratio is defined, and the
    /// maximum of the ratio. By hand.
    static let receptionPrior = (heard: 0.1, expected: 1.0, most: 3.0)

    // MARK: Kind of a fault

    /// The logarithm of the odds above which the readings are stored for a diagnosis. By hand.
    static let suspect = -2.0
    /// The maximum number of stored samples of a suspect beacon. By hand.
    static let sampleLimit = 24
    /// The number of new samples after which the kind is determined again. By hand.
    static let samplesOfKind = 4
    /// The minimum number of a look's readings with two levels. By hand.
    static let doubleCount: Float = 4
    /// Their minimum variance, in dB²: (12 dB)², more than that of a walker's readings. By hand.
    static let doubleSpread: Float = 144
    /// The weight of one look in the share of looks with two levels. By hand.
    static let doublePace = 0.15
    /// The share of looks with two levels above which two transmitters send the identity. By hand.
    static let doubleShare = 0.25
    /// The distance after which the errors of two samples are independent, in m. By hand.
    static let sampleErrorLength = 3.0
    /// The variance that the user's body adds to a sample, in dB². By hand.
    static let sampleBodyVariance = 4.0
    /// The minimum distance of a receiver from a beacon, in m: nobody holds it closer. By hand.
    static let nearest = 0.3
    /// The minimum excess over the level at that distance for a fault, in dB. By hand.
    static let leastExcess = 6.0
    /// The minimum number of independent samples that determine a place. By hand.
    static let fewestForPlace = 4.0
    /// The approximate number of candidate places on a map. By hand.
    static let placeCount = 1200.0
    /// The minimum distance of a moved beacon, in m. By hand.
    static let leastMove = 3.0
    /// The minimum change of a power, in dB. By hand.
    static let leastChange = 3.0

    // MARK: Audit

    /// The maximum variance of a position that an audit uses, in m², summed over both axes. By hand.
    static let auditVariance = 30.0
    /// The edge length of a place, in m; the errors of two places are independent. By hand.
    static let placeEdge = 3.0
    /// The maximum number of places of all beacons together. Derived: 64 MB.
    static let mostPlaces = 500_000
}
