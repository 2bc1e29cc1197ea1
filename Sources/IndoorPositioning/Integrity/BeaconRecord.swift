import CMath
import IndoorVocabulary
import VenueModel

/// The evidence about one detected beacon over time.
struct BeaconRecord: Sendable {
    /// A reading of a suspect beacon, at the position from the other beacons.
    struct Sample: Sendable {
        var mapIndex: Int32
        var x: Float
        var y: Float
        /// The reading in dBm without the receiver offset, and its difference from the field in dB.
        var level: Float
        var residual: Float
    }

    /// The logarithm of the prior odds of a fault: one beacon in 150.
    static let prior = -5.0
    /// The limits of the logarithm of the odds. They allow the record to clear a beacon as quickly as it reports a
    /// fault.
    static let lowest = -6.0
    static let highest = 6.5
    /// The logarithm of the odds at which a beacon is reported as faulty, and at which it is cleared again.
    static let named = 4.0
    static let forgiven = -1.0
    /// The minimum number of independent global updates before a beacon is reported: at one place, the errors persist.
    private static let fewestLooks = 2.0
    /// The maximum of the counted independent global updates.
    private static let mostLooks = 100.0
    /// The logarithm of the odds above which the readings are stored for a diagnosis.
    private static let suspect = -2.0
    /// The limits of the change of the logarithm of the odds by one global update.
    private static let most = 6.0
    private static let least = -2.5
    /// The time constant in seconds with which the odds return to the prior without evidence.
    private static let memory = 300.0
    /// The maximum number of stored samples of a suspect beacon.
    private static let sampleLimit = 24
    /// The number of new samples after which the kind is determined again.
    private static let samplesOfKind = 4
    /// The minimum number of a global update's readings with two levels, and their minimum variance in dB², which is
    /// larger than the variance of a walker's readings.
    private static let doubleCount: Float = 4
    private static let doubleSpread: Float = 144
    /// The weight of one global update in the share of global updates with two levels.
    private static let doublePace = 0.15
    /// The standard deviation in dB of a persistent change of the power.
    private static let changedShift = 10.0

    /// Index in the signal field.
    let beacon: Int
    /// The logarithm of the odds of a fault.
    private(set) var odds = BeaconRecord.prior
    /// The number of independent global updates.
    private var looks = 0.0
    /// The latest global update with a reading.
    private(set) var latest: Instant
    /// The instant since which the fault is reported; nil without a reported fault.
    private(set) var since: Instant?
    private(set) var samples: [Sample] = []
    /// The most probable kind of the fault.
    private(set) var kind = BeaconFault.Kind.contradictory
    /// The number of samples since the kind was determined.
    private var newSamples = 0
    /// The sums of 1/v and r/v over independent residuals r with the variance v.
    private(set) var precision = 0.0
    private(set) var shift = 0.0
    /// The share of the recent global updates whose readings have two levels.
    private(set) var duplicity = 0.0
    /// Whether one transmitter seems to send the identity together with others: see `SharedTransmitter`.
    private(set) var isImitated = false
    /// The logarithm of the probability ratio of a changed power, from all residuals so far.
    private var shiftRatio = 0.0

    init(beacon: Int, at instant: Instant) { (self.beacon, latest) = (beacon, instant) }

    /// The probability of a fault.
    var fault: Double { 1 / (1 + cmath_exp(-odds)) }

    /// The weight of the beacon's evidence, in [0, 1]: full until a fault is more probable than not.
    var weight: Double { min(1, 2 * (1 - fault)) }

    /// Whether the kind of the fault must be determined again.
    var needsKind: Bool { since != nil && newSamples >= Self.samplesOfKind }

    mutating func setKind(_ kind: BeaconFault.Kind) { (self.kind, newSamples) = (kind, 0) }

    /// Adds a global update in which one transmitter seems to send the identity together with others.
    ///
    /// - Parameters:
    ///   - odds: the logarithm of the odds that it does, between `lowest` and `highest`.
    ///   - independence: the share of the error that is independent of the previous global update, in (0, 1].
    mutating func observeImitation(odds: Double, independence: Double, at now: Instant) {
        self.odds = odds
        isImitated = true
        latest = now
        looks = min(looks + independence, Self.mostLooks)
        decide(at: now)
    }

    /// Returns what the result of one global update adds to the logarithm of the odds.
    static func gain(_ logRatio: Double, independence: Double) -> Double {
        min(max(logRatio, least), most) * independence
    }

    /// Adds the result of a global update.
    ///
    /// - Parameters:
    ///   - extent: the faults for which the beacon is tested.
    ///   - independence: the share of the error that is independent of the previous global update, in (0, 1].
    ///   - ceiling: the maximum logarithm of the odds after the global update.
    ///   - powerDoubt: the standard deviation in dB of the persistent error of a healthy beacon's power.
    mutating func observe(
        _ test: BeaconConsensus.Test, extent: TestedBeacons.Extent, reading: Evidence.Heard, independence: Double,
        ceiling: Double, mapIndex: Int,
        offset: Double, powerDoubt: Double, at now: Instant
    ) {
        let seconds = max(0, latest.duration(to: now).seconds)
        let keep = cmath_exp(-seconds / Self.memory)
        odds = Self.prior + (odds - Self.prior) * keep
        precision *= keep
        shift *= keep
        latest = now
        duplicity += (Self.hasTwoLevels(reading) ? 1 - duplicity : -duplicity) * Self.doublePace
        let before = odds
        // A persistent difference of the power: the probability ratio from all residuals so far.
        precision += independence / test.variance
        shift += independence * test.residual / test.variance
        let ratio = Self.shiftRatio(precision, shift, usual: powerDoubt)
        let logRatio = extent == .excess ? test.excessRatio : test.logRatio
        let gain = Self.gain(logRatio, independence: independence)
        looks = min(looks * keep + independence, Self.mostLooks)
        odds += extent == .excess ? gain : max(gain, min(ratio - shiftRatio, Self.most))
        shiftRatio = ratio
        odds = min(max(odds, Self.lowest), Self.highest)
        if odds > ceiling { odds = max(before, ceiling) }
        if odds > Self.suspect {
            if samples.count == Self.sampleLimit { samples.removeFirst() }
            newSamples += 1
            samples.append(
                Sample(
                    mapIndex: Int32(mapIndex), x: Float(test.point.x), y: Float(test.point.y),
                    level: reading.rssi - Float(offset), residual: Float(test.residual)))
        } else if since == nil, !samples.isEmpty {
            samples.removeAll()
        }
        decide(at: now)
    }

    /// Reports the beacon as faulty or clears it.
    private mutating func decide(at now: Instant) {
        if since == nil, odds >= Self.named, looks >= Self.fewestLooks {
            (since, newSamples) = (now, Self.samplesOfKind)
        }
        if odds <= Self.forgiven { (since, isImitated) = (nil, false) }
    }

    /// Returns whether the readings of a global update have two levels.
    static func hasTwoLevels(_ reading: Evidence.Heard) -> Bool {
        reading.count >= doubleCount && reading.spread > doubleSpread
    }

    private static func shiftRatio(_ precision: Double, _ shift: Double, usual: Double) -> Double {
        func evidence(_ deviation: Double) -> Double {
            let variance = deviation * deviation
            return shift * shift / (2 * (precision + 1 / variance)) - cmath_log(1 + variance * precision) / 2
        }
        return evidence(changedShift) - evidence(usual)
    }
}
