import IndoorVocabulary
import VenueModel

/// Corrections of the expected levels of a venue's beacons that follow slow drifts, within bounds.
///
/// A battery that fades makes a beacon weaker by the same amount everywhere. A session that expects this amount locates
/// as on the day of the survey.
///
/// Only a significant drift is followed, and no step: a step has a cause that a person must look at, and ends the
/// correction. Without a drift, a correction stays as it is. An attacker who changes the level of a beacon so slowly that it
/// looks like a fading battery therefore moves the correction by at most ``Bounds/total``, and no faster than
/// ``Bounds/perWeek``.
package struct LevelFollowing: Hashable, Sendable {
    /// The bounds of a correction.
    package struct Bounds: Hashable, Sendable {
        /// The greatest mean change in a week, in dB: a battery that fades by 6 dB in six weeks. What changes faster isn't a
        /// battery that a person can replace in time.
        package var perWeek = 1.0
        /// The greatest correction in dB. A beacon that has lost 6 dB is received in half of the area, and needs a person.
        package var total = 6.0

        /// Creates the default bounds.
        package init() {}
    }

    /// What is followed of one beacon.
    package struct Entry: Hashable, Sendable {
        /// The correction in dB.
        package var correction: Double
        /// The first day of the week whose level the correction stands for.
        package var day: Int

        /// Creates an entry.
        package init(correction: Double, day: Int) { (self.correction, self.day) = (correction, day) }
    }

    /// The bounds.
    package let bounds: Bounds
    /// The beacons whose level was known, or that were followed.
    package private(set) var entries: [BeaconIdentity: Entry]

    /// The days of which a level is the mean, the fewest of them with readings, and the greatest standard error of their
    /// mean in dB: an error of a position's distances by 10 %.
    private static let averagedDays = 7
    private static let fewestDays = 3
    private static let largestError = 1.0
    /// The least change in dB against a correction that ends it.
    private static let leastReturn = 2.0

    /// Continues with the entries of an earlier day; corrections outside the bounds are limited.
    package init(entries: [BeaconIdentity: Entry] = [:], bounds: Bounds = Bounds()) {
        self.bounds = bounds
        self.entries = entries.mapValues { entry in
            let limited = entry.correction.isFinite ? min(max(entry.correction, -bounds.total), bounds.total) : 0
            return Entry(correction: limited, day: entry.day)
        }
    }

    /// The corrections in dB, without those that are 0.
    package var corrections: [BeaconIdentity: Double] { entries.mapValues(\.correction).filter { $0.value != 0 } }

    /// Follows the trends of a history of the venue.
    ///
    /// The same trends again change nothing.
    package mutating func follow(_ trends: [BeaconTrend]) { for trend in trends { follow(trend) } }

    private mutating func follow(_ trend: BeaconTrend) {
        guard let first = trend.days.first?.day, let last = trend.days.last?.day else { return }
        var entry = entries[trend.beacon] ?? Entry(correction: 0, day: first)
        if case .step(let day, _, _, _) = trend.change {
            // Beacons that a person has put right are expected as in the packet, and others must not be followed.
            if day >= entry.day { entries[trend.beacon] = Entry(correction: 0, day: day) }
            return
        }
        entry.day = max(entry.day, first)
        let start = last - Self.averagedDays + 1
        guard start > entry.day, let before = Self.level(trend.days, from: entry.day),
            let now = Self.level(trend.days, from: start)
        else { return }
        if entry.correction * (now - before) < 0,
            (now - before).magnitude >= max(Self.leastReturn, entry.correction.magnitude / 2)
        {
            // After a slow fall, a new battery isn't a step: the level is that of the packet again.
            entries[trend.beacon] = Entry(correction: 0, day: start)
        } else if case .drift = trend.change {
            let most = bounds.perWeek * Double(start - entry.day) / 7
            let correction = entry.correction + min(max(now - before, -most), most)
            entries[trend.beacon] = Entry(correction: min(max(correction, -bounds.total), bounds.total), day: start)
        }
    }

    /// Returns the mean level of the days from a day on; nil if it isn't known well enough.
    private static func level(_ days: [BeaconTrend.Day], from start: Int) -> Double? {
        let days = days.filter { $0.day >= start && $0.day < start + averagedDays }
        let weights = days.map { 1 / ($0.standardError * $0.standardError) }
        let sum = weights.reduce(0, +)
        guard days.count >= fewestDays, sum * largestError * largestError >= 1 else { return nil }
        return zip(days, weights).reduce(0) { $0 + $1.0.level * $1.1 } / sum
    }
}

extension Venue {
    /// Returns those of the corrections that the venue can use: of the beacons whose power the packet or its survey knows.
    package func usable(_ corrections: [BeaconIdentity: Double]) -> [BeaconIdentity: Double] {
        let known = Set(beacons.lazy.filter { $0.measuredPower != nil }.map(\.identity))
            .union(radioMap?.beacons.map(\.identity) ?? [])
        return corrections.filter { known.contains($0.key) }
    }

    /// Returns the venue whose expected levels are changed by corrections in dB, everywhere alike.
    package func corrected(by corrections: [BeaconIdentity: Double]) -> Venue {
        var venue = self
        for index in venue.beacons.indices {
            guard let power = venue.beacons[index].measuredPower,
                let correction = corrections[venue.beacons[index].identity]
            else { continue }
            venue.beacons[index].measuredPower = power + correction
        }
        guard var radioMap else { return venue }
        let surveyed = radioMap.beacons.map { corrections[$0.identity] ?? 0 }
        // The weights of the Gaussian processes are those of the differences from path loss, which don't change.
        for index in radioMap.beacons.indices { radioMap.beacons[index].power += surveyed[index] }
        for place in radioMap.fingerprints.indices {
            for index in radioMap.fingerprints[place].readings.indices {
                let beacon = radioMap.fingerprints[place].readings[index].beacon
                guard surveyed.indices.contains(beacon) else { continue }
                radioMap.fingerprints[place].readings[index].rssi += surveyed[beacon]
            }
        }
        venue.radioMap = radioMap
        return venue
    }
}

extension BeaconLevels {
    /// Returns the levels relative to a venue without corrections, of levels relative to the corrected venue.
    package func withoutCorrections(_ corrections: [BeaconIdentity: Double]) -> BeaconLevels {
        var levels = self
        for (key, cell) in cells {
            guard let correction = corrections[key.beacon] else { continue }
            let bound = cell.readings * Self.largestDifference
            levels.cells[key]?.sum = min(max(cell.sum + cell.readings * correction, -bound), bound)
        }
        return levels
    }
}
