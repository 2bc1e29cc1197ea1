import CMath

/// Watches which venue the device is in.
package struct VenueSearchMachine: Hashable, Sendable {
    /// What the sightings and satellite positions say.
    package enum Verdict: Hashable, Sendable {
        /// Nothing new.
        case undecided
        /// The device is in that venue, by its beacons.
        case venue(VenueID)
        /// The device is in that venue, by its coordinate.
        case venueByGNSS(VenueID)
        /// The device is outside the venue that it was in.
        case outdoors
    }

    private struct Heard: Hashable, Sendable {
        var instant: Instant
        var venue: VenueID
        var beacon: BeaconIdentity
        var amplitude: Double
    }

    private struct Leader: Hashable, Sendable {
        var venue: VenueID
        var since: Instant
    }

    /// Satellite positions in a row that say the same.
    private struct Run: Hashable, Sendable {
        var venue: VenueID?
        var count: Int
    }

    private let settings: VenueSearchSettings
    private let forced: VenueID?
    private var owners: [BeaconRegion: VenueID] = [:]
    private var summaries: [VenueID: VenueSummary] = [:]
    private var heard: [Heard] = []
    private var leader: Leader?
    private var lastHeard: [VenueID: Instant] = [:]
    private var lastHeardWell: [VenueID: Instant] = [:]
    private var lastInside: [VenueID: Instant] = [:]
    private var lastOutside: [VenueID: Instant] = [:]
    private var run = Run(venue: nil, count: 0)

    /// Creates a machine that knows no venue yet.
    package init(settings: VenueSearchSettings, forced: VenueID?) {
        self.settings = settings
        self.forced = forced
    }

    /// Takes in the known venues; of two that claim the same region, the one with the smaller id gets it.
    package mutating func learn(_ catalogue: [VenueSummary]) {
        owners = [:]
        summaries = [:]
        for summary in catalogue.sorted(by: { $0.id < $1.id }) where forced == nil || forced == summary.id {
            summaries[summary.id] = summary
            for region in summary.regions where owners[region] == nil { owners[region] = summary.id }
        }
    }

    /// The venue that a beacon belongs to; nil if no accepted venue has it.
    package func owner(of beacon: BeaconIdentity) -> VenueID? {
        owners[BeaconRegion(beacon)] ?? owners[BeaconRegion(uuid: beacon.uuid, major: beacon.major)]
            ?? owners[BeaconRegion(uuid: beacon.uuid)]
    }

    /// When a beacon of the venue was last heard; nil if never.
    package func lastHeard(of venue: VenueID) -> Instant? { lastHeard[venue] }

    /// When a beacon of the venue was last heard, or a satellite position last lay in it; nil if never.
    package func lastEvidence(of venue: VenueID) -> Instant? {
        guard let heard = lastHeard[venue], let inside = lastInside[venue] else {
            return lastHeard[venue] ?? lastInside[venue]
        }
        return max(heard, inside)
    }

    /// Takes in a sighting; `current` is the venue that the session is in.
    package mutating func observe(_ sighting: Sighting, current: VenueID?) -> Verdict {
        guard let venue = owner(of: sighting.beacon) else { return .undecided }
        let now = sighting.instant
        lastHeard[venue] = max(lastHeard[venue] ?? now, now)
        if sighting.rssi >= settings.gnssRSSILimit { lastHeardWell[venue] = max(lastHeardWell[venue] ?? now, now) }
        let limit = now.advanced(by: .zero - settings.window)
        heard.removeAll { $0.instant < limit || $0.beacon == sighting.beacon }
        heard.append(
            Heard(instant: now, venue: venue, beacon: sighting.beacon, amplitude: cmath_pow(10, sighting.rssi / 20)))
        return decide(current: current, at: now)
    }

    private mutating func decide(current: VenueID?, at now: Instant) -> Verdict {
        var sums: [VenueID: Double] = [:]
        for entry in heard { sums[entry.venue, default: 0] += entry.amplitude }
        let ranking = sums.sorted { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) }
        guard let first = ranking.first, ranking.count == 1 || first.value >= settings.lead * ranking[1].value else {
            leader = nil
            return .undecided
        }
        let since = leader?.venue == first.key ? leader?.since ?? now : now
        leader = Leader(venue: first.key, since: since)
        guard first.key != current, !isOutside(first.key, at: now) else { return .undecided }
        let required = current != nil ? settings.takeoverTime : ranking.count > 1 ? settings.contestedTime : .zero
        return since.duration(to: now) >= required ? .venue(first.key) : .undecided
    }

    /// Takes in a satellite position; `current` is the venue that the session is in.
    package mutating func observe(_ fix: GNSSFix, current: VenueID?) -> Verdict {
        guard fix.accuracy >= 0, fix.accuracy <= settings.gnssAccuracy, fix.coordinate.isValid else {
            return .undecided
        }
        for summary in summaries.values where isOutside(fix, summary) { lastOutside[summary.id] = fix.instant }
        guard let current else { return search(fix) }
        if let summary = summaries[current], distance(of: fix, into: summary) != nil {
            lastInside[current] = fix.instant
        }
        guard let summary = summaries[current], isSilent(current, at: fix.instant), isOutside(fix, summary) else {
            run = Run(venue: current, count: 0)
            return .undecided
        }
        run = Run(venue: nil, count: run.venue == nil ? run.count + 1 : 1)
        return run.count >= settings.gnssCount ? .outdoors : .undecided
    }

    private mutating func search(_ fix: GNSSFix) -> Verdict {
        let near = summaries.values.compactMap { summary -> (id: VenueID, distance: Double)? in
            distance(of: fix, into: summary).map { (summary.id, $0) }
        }
        guard let nearest = near.min(by: { ($0.distance, $0.id.rawValue) < ($1.distance, $1.id.rawValue) }) else {
            run = Run(venue: nil, count: 0)
            return .undecided
        }
        lastInside[nearest.id] = fix.instant
        run = Run(venue: nearest.id, count: run.venue == nearest.id ? run.count + 1 : 1)
        return run.count >= settings.gnssCount ? .venueByGNSS(nearest.id) : .undecided
    }

    /// Metres from the venue's centre; nil outside of its radius.
    private func distance(of fix: GNSSFix, into summary: VenueSummary) -> Double? {
        guard let center = summary.coordinate, let radius = summary.radius else { return nil }
        let distance = center.distance(to: fix.coordinate)
        return distance <= radius ? distance : nil
    }

    private func isOutside(_ fix: GNSSFix, _ summary: VenueSummary) -> Bool {
        guard let center = summary.coordinate, let radius = summary.radius else { return false }
        return center.distance(to: fix.coordinate) > radius + fix.accuracy
    }

    /// Whether satellites have seen the device outside lately, and no beacon was heard well since.
    private func isOutside(_ venue: VenueID, at now: Instant) -> Bool {
        guard let outside = lastOutside[venue], outside.duration(to: now) < settings.gnssSilence else { return false }
        return isSilent(venue, at: now)
    }

    /// Whether no beacon of the venue has been heard well lately.
    private func isSilent(_ venue: VenueID, at now: Instant) -> Bool {
        lastHeardWell[venue].map { $0.duration(to: now) >= settings.gnssSilence } ?? true
    }

    /// Forgets what was heard, not what is known: a new search begins.
    package mutating func restart() {
        heard = []
        leader = nil
        run = Run(venue: nil, count: 0)
    }
}
