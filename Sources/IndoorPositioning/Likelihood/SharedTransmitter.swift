/// The beacons whose readings look as if one transmitter sent all of them.
///
/// A program that imitates a venue's beacons sends their identities in turn with one power. A receiver therefore gets
/// all of them with the same level and rate, and this rate exceeds that of the other beacons, which it has to outweigh.
/// Beacons that stand at different places have the same level only where the receiver is equally far from all of them.
/// The signature alone therefore accuses no beacon: it lets the other beacons decide between both explanations.
struct SharedTransmitter: Hashable, Sendable {
    /// The minimum number of identities. Fewer are tested one by one.
    private static let fewest = 4
    /// The minimum number of readings of each identity.
    private static let fewestReadings: Float = 12
    /// The minimum ratio between the rate of each identity and that of every other beacon.
    private static let rateRatio: Float = 3
    /// The maximum ratio between the rates of two identities.
    private static let rateSpread: Float = 2
    /// The maximum standard deviation of the levels in dB. The levels of one transmitter differ by the fading of their
    /// medians, which is less than 1 dB for twelve readings.
    private static let levelDeviation = 2.0
    /// The minimum number of other beacons that can decide.
    private static let fewestOthers = 2
    /// The minimum number of readings of all beacons.
    static let fewestInAll = fewest * Int(fewestReadings)

    /// Indexes in the signal field, in ascending order.
    let beacons: [Int]
    /// Whether enough other beacons are received to decide. Without them, the rates exceed those of the survey.
    let hasOthers: Bool

    /// Finds the beacons in the readings of a few seconds; nil without the signature.
    ///
    /// - Parameters:
    ///   - heard: the beacons, each with the number of its readings.
    ///   - seconds: the length of the time.
    ///   - level: returns the median RSSI of a beacon in dBm. The mean would contain the readings of the imitated beacon
    ///     itself, which differ.
    ///   - surveyedRate: returns the largest number of readings per second of a beacon in the survey; nil without a survey.
    init?(
        _ heard: [Evidence.Heard], seconds: Double, level: (_ beacon: Int) -> Double,
        surveyedRate: (_ beacon: Int) -> Double?
    ) {
        let ordered = heard.sorted { ($0.count, $1.beacon) > ($1.count, $0.beacon) }
        guard let largest = ordered.first?.count else { return nil }
        let group = ordered.prefix { $0.count >= Self.fewestReadings && $0.count * Self.rateSpread >= largest }
        let others = ordered.dropFirst(group.count)
        guard group.count >= Self.fewest, let slowest = group.last?.count,
            slowest >= Self.rateRatio * (others.first?.count ?? 0)
        else { return nil }
        let levels = group.map { level($0.beacon) }
        let count = Double(levels.count)
        let mean = levels.reduce(0, +) / count
        let squares = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard squares <= (count - 1) * Self.levelDeviation * Self.levelDeviation else { return nil }
        hasOthers = others.count >= Self.fewestOthers
        if !hasOthers {
            let isFrequent = group.allSatisfy { member in
                let usual = surveyedRate(member.beacon).map { Double(Self.rateRatio) * $0 * seconds }
                return Double(member.count) >= usual ?? .infinity
            }
            guard isFrequent else { return nil }
        }
        beacons = group.map(\.beacon).sorted()
    }
}
