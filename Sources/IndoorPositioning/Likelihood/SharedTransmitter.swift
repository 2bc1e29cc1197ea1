/// The beacons whose readings look as if one transmitter sent all of them.
///
/// A program that imitates a venue's beacons sends their identities in turn with one power. A receiver therefore gets
/// all of them with the same level and rate, and this rate exceeds that of the other beacons, which it has to outweigh.
/// Beacons that stand at different places have the same level only where the receiver is equally far from all of them.
/// The signature alone therefore accuses no beacon: it lets the other beacons decide between both explanations.
struct SharedTransmitter: Hashable, Sendable {
    /// The number of a beacon's readings in a few seconds.
    struct Count: Sendable {
        /// Index in the signal field.
        var beacon: Int
        var readings: Int
    }

    /// The minimum number of identities. Fewer are tested one by one.
    private static let fewest = 4
    /// The minimum number of readings of each identity.
    private static let fewestReadings = 12
    /// The minimum ratio between the rate of each identity and that of every other beacon.
    private static let rateRatio = 3
    /// The maximum ratio between the rates of two identities.
    private static let rateSpread = 2
    /// The maximum standard deviation of the levels in dB. The levels of one transmitter differ by the fading of their
    /// medians, which is less than 1 dB for twelve readings.
    private static let levelDeviation = 2.0
    /// The minimum number of other beacons that can decide.
    private static let fewestOthers = 2
    /// The minimum number of readings of all beacons.
    static let fewestInAll = fewest * fewestReadings

    /// Indexes in the signal field, in ascending order.
    let beacons: [Int]
    /// Whether enough other beacons are received to decide. Without them, the rates exceed those of the survey.
    let hasWitnesses: Bool

    /// Finds the beacons in the readings of a few seconds; nil without the signature.
    ///
    /// - Parameters:
    ///   - seconds: the length of the time.
    ///   - level: returns the median RSSI of a beacon in dBm. The mean would contain the readings of the imitated beacon
    ///     itself, which differ.
    ///   - surveyedRate: returns the largest number of readings per second of a beacon in the survey; nil without a survey.
    init?(
        _ counts: [Count], seconds: Double, level: (_ beacon: Int) -> Double,
        surveyedRate: (_ beacon: Int) -> Double?
    ) {
        let ordered = counts.sorted { ($0.readings, $1.beacon) > ($1.readings, $0.beacon) }
        guard let largest = ordered.first?.readings else { return nil }
        let group = ordered.prefix { $0.readings >= Self.fewestReadings && $0.readings * Self.rateSpread >= largest }
        let others = ordered.dropFirst(group.count)
        guard group.count >= Self.fewest, let slowest = group.last?.readings,
            slowest >= Self.rateRatio * (others.first?.readings ?? 0)
        else { return nil }
        let levels = group.map { level($0.beacon) }
        let count = Double(levels.count)
        let mean = levels.reduce(0, +) / count
        let squares = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard squares <= (count - 1) * Self.levelDeviation * Self.levelDeviation else { return nil }
        hasWitnesses = others.count >= Self.fewestOthers
        if !hasWitnesses {
            let isFrequent = group.allSatisfy { member in
                let usual = surveyedRate(member.beacon).map { Double(Self.rateRatio) * $0 * seconds }
                return Double(member.readings) >= usual ?? .infinity
            }
            guard isFrequent else { return nil }
        }
        beacons = group.map(\.beacon).sorted()
    }
}
