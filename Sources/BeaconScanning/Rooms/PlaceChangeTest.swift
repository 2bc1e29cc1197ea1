import CMath

/// Detects that a receiver has gone to another place, from the RSSI alone.
///
/// A cumulative sum of log likelihood ratios (E. S. Page, *Continuous Inspection Schemes*, Biometrika 1954): a beacon's
/// reading either scatters around its mean at the present place, or comes from a new place, where nothing is known of
/// it; and a beacon is heard as often as so far, or in every second scan. The trained rooms have no part in this. What
/// is heard at two places differs by more than what is heard twice at the same one, so a few scans tell a change that
/// the rooms' likelihoods tell only after many.
package struct PlaceChangeTest: Sendable {
    /// What is known of a beacon at a place.
    private struct Reading: Sendable {
        var mean = 0.0
        /// How many readings the mean is worth; older ones count for less.
        var weight = 0.0
        /// Whether the scan in hand holds the beacon.
        var isHeard = false

        mutating func add(_ rssi: Double) {
            mean = (mean * weight + rssi) / (weight + 1)
            weight += 1
        }
    }

    /// Beacons at a place of which nothing is known, in dBm and dB.
    private static let unknown = (mean: -78.0, deviation: 10.0)
    /// A mean follows slow movements within a room: readings of this many seconds ago count for e^-1.
    private static let memory = 10.0
    /// One beacon alone neither tells a change nor rules it out.
    private static let bounds = (least: -3.0, greatest: 6.0)
    /// What is silent stays so for some scans: this much of it counts.
    private static let silenceShare = 0.5
    /// A beacon's share of the scans is not known better than this.
    private static let shares = (least: 0.1, greatest: 0.9)
    /// Scans that tell how often a beacon is heard; beacons whose weight is less than that of a forgotten one are not
    /// expected at all.
    private static let (enoughScans, forgotten) = (2.0, 0.05)

    /// The variance of readings at one place, in dB².
    private let variance: Double
    /// The sum at which a change is believed, in nats.
    private let threshold: Double
    private var present: [Reading]
    /// How many scans the readings of the present place are of; older ones count for less.
    private var weight = 0.0
    /// The place since the sum was zero last: the new one if there was a change.
    private var candidate: [Reading]
    private var candidateCount = 0.0
    private var sum = 0.0
    /// How many scans were heard at the present place.
    package private(set) var scanCount = 0

    /// Creates a test that has heard nothing.
    ///
    /// - Parameters:
    ///   - deviation: by how much readings of a beacon at one place scatter, in dB; above 0.
    ///   - threshold: the log likelihood ratio at which a change is believed, in nats; above 0, infinity for never.
    package init(beaconCount: Int, deviation: Double, threshold: Double) {
        variance = deviation * deviation
        self.threshold = threshold
        present = Array(repeating: Reading(), count: beaconCount)
        candidate = present
    }

    /// Compares a scan with the present place.
    ///
    /// - Parameters:
    ///   - heard: the beacons, each once, as offsets below the beacon count, with their RSSI in dBm.
    ///   - elapsed: the time since the scan before, in seconds.
    /// - Returns: the logarithm of how much likelier a change is than none, in nats; 0 where nothing speaks for one, and
    ///   infinity where it is believed: then this scan and those that spoke for it are the first ones of a new place.
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

    /// The logarithm of how much likelier it is at a new place than at the present one that just these beacons are heard.
    private var audibilityRatio: Double {
        present.reduce(0) { total, reading in
            guard reading.isHeard || reading.weight > Self.forgotten else { return total }
            let share = min(max(reading.weight / weight, Self.shares.least), Self.shares.greatest)
            return total - cmath_log(2 * (reading.isHeard ? share : 1 - share))
        }
    }

    /// The logarithm of how much likelier a reading is at a new place than at the present one.
    private func logRatio(of rssi: Double, to reading: Reading) -> Double {
        let spread = Self.unknown.deviation * Self.unknown.deviation
        // What was heard here narrows what nothing was known of.
        let meanVariance = 1 / (1 / spread + reading.weight / variance)
        let mean = meanVariance * (Self.unknown.mean / spread + reading.weight * reading.mean / variance)
        let (here, anew) = (meanVariance + variance, spread + variance)
        let (fromHere, fromAnew) = (rssi - mean, rssi - Self.unknown.mean)
        let ratio = (fromHere * fromHere / here - fromAnew * fromAnew / anew + cmath_log(here / anew)) / 2
        return min(max(ratio, Self.bounds.least), Self.bounds.greatest)
    }
}
