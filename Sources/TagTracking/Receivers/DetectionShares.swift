/// The share of tags that a receiver receives within a sampling interval, by the expected RSSI, over all receivers.
struct DetectionShares: Hashable, Sendable {
    /// The expected RSSI in dBm at the lower edge of the first bin, the width of a bin in dB, and the number of bins.
    private static let lowest = -104.0
    private static let width = 4.0
    private static let bins = 16
    /// The number of trials from which the share of a bin is known, and the number of trials at which the weight of the
    /// older ones is halved.
    private static let leastTrials = 40.0
    private static let mostTrials = 4000.0

    var trials = Array(repeating: 0.0, count: DetectionShares.bins)
    var hits = Array(repeating: 0.0, count: DetectionShares.bins)

    /// Adds a tag that a receiver received or not.
    mutating func add(expected: Double, isHit: Bool) {
        let bin = Self.bin(expected)
        if trials[bin] >= Self.mostTrials {
            trials[bin] /= 2
            hits[bin] /= 2
        }
        trials[bin] += 1
        if isHit { hits[bin] += 1 }
    }

    /// Returns the probability that a receiver receives a tag with an expected RSSI in dBm; nil while it is unknown.
    func share(expected: Double) -> Double? {
        let bin = Self.bin(expected)
        return trials[bin] >= Self.leastTrials ? hits[bin] / trials[bin] : nil
    }

    private static func bin(_ expected: Double) -> Int {
        Int(min(max((expected - lowest) / width, 0), Double(bins - 1)))
    }
}
