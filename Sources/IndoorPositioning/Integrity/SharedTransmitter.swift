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
    /// The minimum number of other beacons, without which nothing decides.
    private static let fewestOthers = 2
    /// The minimum number of readings of all beacons.
    static let fewestInAll = fewest * fewestReadings + fewestOthers

    /// Indexes in the signal field, in ascending order.
    let beacons: [Int]

    /// Finds the beacons in the readings of a few seconds; nil without the signature.
    ///
    /// - Parameter level: returns the median RSSI of a beacon in dBm. The mean would contain the readings of the imitated
    ///   beacon itself, which differ.
    init?(_ counts: [Count], level: (_ beacon: Int) -> Double) {
        let ordered = counts.sorted { ($0.readings, $1.beacon) > ($1.readings, $0.beacon) }
        guard ordered.count >= Self.fewest + Self.fewestOthers, let largest = ordered.first?.readings,
            largest >= Self.fewestReadings
        else { return nil }
        let group = ordered.prefix { $0.readings >= Self.fewestReadings && $0.readings * Self.rateSpread >= largest }
        let others = ordered.dropFirst(group.count)
        guard group.count >= Self.fewest, others.count >= Self.fewestOthers, let slowest = group.last?.readings,
            let fastest = others.first?.readings, slowest >= Self.rateRatio * fastest
        else { return nil }
        let levels = group.map { level($0.beacon) }
        let count = Double(levels.count)
        let mean = levels.reduce(0, +) / count
        let squares = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard squares <= (count - 1) * Self.levelDeviation * Self.levelDeviation else { return nil }
        beacons = group.map(\.beacon).sorted()
    }
}
