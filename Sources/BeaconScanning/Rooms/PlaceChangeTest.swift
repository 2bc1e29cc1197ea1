import CMath

/// A change-point test that detects from the RSSI alone that a receiver has moved to another place.
///
/// The test is a cumulative sum of log likelihood ratios (E. S. Page, *Continuous Inspection Schemes*, Biometrika
/// 1954). Under one hypothesis, a beacon's readings scatter around its mean at the current place, and the beacon is
/// received as often as before. Under the other, they come from a new place with an unknown mean, and the beacon is
/// received in every second scan. The test doesn't use the trained rooms. Readings at two places differ more than
/// readings at one place, so the test detects a change after a few scans, while the rooms' likelihoods show it only
/// after many.
package struct PlaceChangeTest: Sendable {
    /// The statistics of a beacon at a place.
    private struct Reading: Sendable {
        var mean = 0.0
        /// The number of readings that the mean represents; older readings have less weight.
        var weight = 0.0
        /// Whether the current scan contains the beacon.
        var isHeard = false

        mutating func add(_ rssi: Double) {
            mean = (mean * weight + rssi) / (weight + 1)
            weight += 1
        }
    }

    /// The distribution of an unknown beacon at a place, in dBm and dB.
    private static let unknown = (mean: -78.0, deviation: 10.0)
    /// The time constant in seconds of a mean, which follows slow movements within a room: readings of this age have
    /// the weight e^-1.
    private static let memory = 10.0
    /// The limits of one beacon's contribution; a single beacon can neither cause nor exclude a change.
    private static let bounds = (least: -3.0, greatest: 6.0)
    /// The weight of missing beacons; it is below 1 because a silence of a beacon often lasts for several scans.
    private static let silenceShare = 0.5
    /// The limits of the estimated share of the scans that contain a beacon.
    private static let shares = (least: 0.1, greatest: 0.9)
    /// The minimum number of scans to estimate how often a beacon is received, and the weight below which a beacon is
    /// no longer expected.
    private static let (enoughScans, forgotten) = (2.0, 0.05)

    /// The variance of readings at one place, in dB².
    private let variance: Double
    /// The sum at which the test reports a change, in nats.
    private let threshold: Double
    private var present: [Reading]
    /// The number of scans at the current place; older scans have less weight.
    private var weight = 0.0
    /// The statistics since the sum was last zero; if there was a change, these are the statistics of the new place.
    private var candidate: [Reading]
    private var candidateCount = 0.0
    private var sum = 0.0
    /// The number of scans at the current place.
    package private(set) var scanCount = 0

    /// Creates a test without scans.
    ///
    /// - Parameters:
    ///   - deviation: the standard deviation of a beacon's readings at one place, in dB; above 0.
    ///   - threshold: the log likelihood ratio at which the test reports a change, in nats; above 0; infinity turns the
    ///     test off.
    package init(beaconCount: Int, deviation: Double, threshold: Double) {
        variance = deviation * deviation
        self.threshold = threshold
        present = Array(repeating: Reading(), count: beaconCount)
        candidate = present
    }

    /// Compares a scan with the current place.
    ///
    /// - Parameters:
    ///   - heard: the beacons, each once, as offsets below the beacon count, with their RSSI in dBm.
    ///   - elapsed: the time since the previous scan, in seconds.
    /// - Returns: the log likelihood ratio in nats between a change and no change; 0 without evidence of a change, and
    ///   infinity if the test reports a change. In that case, this scan and the earlier scans with evidence of the
    ///   change are the first scans at a new place.
    package mutating func observe(_ heard: [(beacon: Int, rssi: Double)], after elapsed: Double) -> Double {
        guard threshold.isFinite else {
            scanCount += 1
            return 0
        }
        for (beacon, _) in heard { present[beacon].isHeard = true }
        let audibility = weight > Self.enoughScans ? Self.silenceShare * audibilityRatio : 0
        for (beacon, _) in heard { present[beacon].isHeard = false }
        sum = max(0, sum + audibility + heard.reduce(0) { $0 + logRatio(of: $1.rssi, to: present[$1.beacon]) })
        if sum > 0 {
            for (beacon, rssi) in heard { candidate[beacon].add(rssi) }
            candidateCount += 1
        } else {
            clearCandidate()
        }
        guard sum < threshold else {
            swap(&present, &candidate)
            weight = candidateCount
            clearCandidate()
            (sum, scanCount) = (0, 1)
            return .infinity
        }
        let fading = cmath_exp(-max(0, elapsed) / Self.memory)
        for index in present.indices { present[index].weight *= fading }
        for (beacon, rssi) in heard { present[beacon].add(rssi) }
        weight = weight * fading + 1
        scanCount += 1
        return sum
    }

    private mutating func clearCandidate() {
        for index in candidate.indices { candidate[index] = Reading() }
        candidateCount = 0
    }

    /// The log likelihood ratio between a new place and the current one, from the presence of each beacon in the scan.
    private var audibilityRatio: Double {
        present.reduce(0) { total, reading in
            guard reading.isHeard || reading.weight > Self.forgotten else { return total }
            let share = min(max(reading.weight / weight, Self.shares.least), Self.shares.greatest)
            return total - cmath_log(2 * (reading.isHeard ? share : 1 - share))
        }
    }

    /// Returns the log likelihood ratio between a new place and the current one, from a reading.
    private func logRatio(of rssi: Double, to reading: Reading) -> Double {
        let spread = Self.unknown.deviation * Self.unknown.deviation
        // The readings at the current place narrow the distribution of an unknown beacon.
        let meanVariance = 1 / (1 / spread + reading.weight / variance)
        let mean = meanVariance * (Self.unknown.mean / spread + reading.weight * reading.mean / variance)
        let (here, anew) = (meanVariance + variance, spread + variance)
        let (fromHere, fromAnew) = (rssi - mean, rssi - Self.unknown.mean)
        let ratio = (fromHere * fromHere / here - fromAnew * fromAnew / anew + cmath_log(here / anew)) / 2
        return min(max(ratio, Self.bounds.least), Self.bounds.greatest)
    }
}
