import BeaconScanning
import CMath
import IndoorVocabulary
import VenueModel

/// The search for the venue that the device is in.
package struct VenueSearchMachine: Hashable, Sendable {
    /// The conclusion from the sightings and satellite positions.
    package enum Verdict: Hashable, Sendable {
        /// No change.
        case undecided
        /// Beacons show that the device is in this venue, which may differ from the forced one that it was in.
        case venue(VenueID)
        /// Satellite positions show that the device is in this venue.
        case venueByGNSS(VenueID)
        /// The device has left the venue.
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

    /// The received signal of a venue's beacons.
    private struct Presence {
        let venue: VenueID
        private(set) var amplitude = 0.0
        private(set) var beacons = 0

        init(venue: VenueID) { self.venue = venue }

        mutating func add(amplitude beacon: Double) {
            amplitude += beacon
            beacons += 1
        }
    }

    /// Consecutive satellite positions with the same conclusion.
    private struct Run: Hashable, Sendable {
        var venue: VenueID?
        var count: Int
    }

    private let settings: VenueSearchSettings
    private let forced: VenueID?
    private var owners: [BeaconRegion: VenueID] = [:]
    /// All venues of the regions that several venues have, beginning with the one in `owners`.
    private var sharers: [BeaconRegion: [VenueID]] = [:]
    /// The beacons that several venues have; nil without any.
    package private(set) var sharedBeacons: SharedBeacons?
    private var summaries: [VenueID: VenueSummary] = [:]
    private var heard: [Heard] = []
    private var leader: Leader?
    private var lastHeard: [VenueID: Instant] = [:]
    private var lastHeardWell: [VenueID: Instant] = [:]
    private var lastInside: [VenueID: Instant] = [:]
    /// The instants at which the latest satellite position was outside a venue, and far outside.
    private var lastOutside: [VenueID: Instant] = [:]
    private var lastFar: [VenueID: Instant] = [:]
    private var run = Run(venue: nil, count: 0)

    /// Creates a machine without venues.
    package init(settings: VenueSearchSettings, forced: VenueID?) {
        self.settings = settings
        self.forced = forced
    }

    /// Sets the known venues. A region that two venues share belongs to the forced one, or to the one with the smaller
    /// ID, unless the current venue or satellites decide.
    package mutating func learn(_ catalogue: [VenueSummary]) {
        owners = [:]
        sharers = [:]
        summaries = [:]
        sharedBeacons = SharedBeacons(among: catalogue)
        for summary in catalogue.sorted(by: { ($0.id != forced ? 1 : 0, $0.id) < ($1.id != forced ? 1 : 0, $1.id) }) {
            summaries[summary.id] = summary
            for region in summary.regions {
                guard let owner = owners[region] else {
                    owners[region] = summary.id
                    continue
                }
                if owner != summary.id { sharers[region, default: [owner]].append(summary.id) }
            }
        }
    }

    /// Returns all venues of a beacon that several venues have; nil for any other beacon.
    private func sharers(of beacon: BeaconIdentity) -> [VenueID]? {
        guard !sharers.isEmpty else { return nil }
        let regions = [
            BeaconRegion(beacon), BeaconRegion(uuid: beacon.uuid, major: beacon.major), BeaconRegion(uuid: beacon.uuid),
        ]
        return regions.first { owners[$0] != nil }.flatMap { sharers[$0] }
    }

    /// Returns whether a beacon belongs to a venue, perhaps to others, too.
    package func isBeacon(_ beacon: BeaconIdentity, of venue: VenueID) -> Bool {
        sharers(of: beacon)?.contains(venue) ?? (owner(of: beacon) == venue)
    }

    /// Returns the venue that a sighting of a beacon indicates; nil if no known venue has it.
    ///
    /// A beacon that several venues have indicates the current one, then one that satellites support or at least don't
    /// contradict, then the one of an earlier session.
    private func venue(
        of beacon: BeaconIdentity, current: VenueID?, restored: VenueID?, at now: Instant
    ) -> VenueID? {
        guard let venues = sharers(of: beacon) else { return owner(of: beacon) }
        if let current, venues.contains(current) { return current }
        let possible = venues.filter { !isContradicted($0, at: now) }
        let inside = possible.filter { isRecent(lastInside[$0], at: now) }
        let likely = !inside.isEmpty ? inside : !possible.isEmpty ? possible : venues
        if likely.first != forced, let restored, likely.contains(restored) { return restored }
        return likely.first
    }

    /// Returns the venue that a beacon belongs to; nil if no known venue has it.
    package func owner(of beacon: BeaconIdentity) -> VenueID? {
        owners[BeaconRegion(beacon)] ?? owners[BeaconRegion(uuid: beacon.uuid, major: beacon.major)]
            ?? owners[BeaconRegion(uuid: beacon.uuid)]
    }

    /// Returns the beacon with the nearest known region. Linear in the number of known regions.
    package func unknown(_ beacon: BeaconIdentity) -> UnknownBeacon {
        var best: (distance: IdentityDistance, region: BeaconRegion, venue: VenueID)?
        for (region, venue) in owners {
            guard let distance = IdentityDistance(of: beacon, to: region) else { continue }
            // Among equally near regions, the choice doesn't depend on the order of the dictionary.
            let isNearer =
                best.map { (distance, region.number) < ($0.distance, $0.region.number) } ?? true
            if isNearer { best = (distance, region, venue) }
        }
        return UnknownBeacon(identity: beacon, nearest: best?.region, venueID: best?.venue)
    }

    /// Returns whether a venue is among the known ones.
    package func knows(_ venue: VenueID) -> Bool { summaries[venue] != nil }

    /// The number of known venues.
    package var venueCount: Int { summaries.count }
    /// Whether a known venue has beacons.
    package var hasBeacons: Bool { !owners.isEmpty }
    /// The name of the only known venue; nil if there are none or several.
    package var onlyName: String? { summaries.count == 1 ? summaries.first?.value.name : nil }
    /// Returns the name of a venue; its number if it isn't known.
    package func name(of venue: VenueID) -> String { summaries[venue]?.name ?? "\(venue)" }
    /// The instant of the latest sighting of a known venue's beacon; nil before the first one. Linear in the number of
    /// venues.
    package var latestSighting: Instant? { lastHeard.values.max() }

    /// Returns the instant of the latest sighting of a venue's beacon; nil before the first one.
    package func lastHeard(of venue: VenueID) -> Instant? { lastHeard[venue] }

    /// Returns the instant of the latest sighting of a venue's beacon or of the latest satellite position inside; nil
    /// before the first one.
    package func lastEvidence(of venue: VenueID) -> Instant? {
        guard let heard = lastHeard[venue], let inside = lastInside[venue] else {
            return lastHeard[venue] ?? lastInside[venue]
        }
        return max(heard, inside)
    }

    /// Begins a new search: discards the sightings and keeps the known venues.
    package mutating func restart() {
        heard = []
        leader = nil
        run = Run(venue: nil, count: 0)
    }
}

// MARK: - Beacons

extension VenueSearchMachine {
    /// Handles a sighting; `current` is the venue that the session is in, and `restored` is that of an earlier session.
    ///
    /// - Parameter isNearby: whether satellites alone identified the current venue, which the device may not be in.
    package mutating func observe(
        _ sighting: Sighting, current: VenueID?, restored: VenueID? = nil, isNearby: Bool = false
    ) -> Verdict {
        let now = sighting.instant
        guard let venue = venue(of: sighting.beacon, current: current, restored: restored, at: now) else {
            return .undecided
        }
        lastHeard[venue] = max(lastHeard[venue] ?? now, now)
        if sighting.rssi >= settings.gnssRSSILimit { lastHeardWell[venue] = max(lastHeardWell[venue] ?? now, now) }
        let limit = now.advanced(by: .zero - settings.window)
        heard.removeAll { $0.instant < limit || $0.beacon == sighting.beacon }
        heard.append(
            Heard(instant: now, venue: venue, beacon: sighting.beacon, amplitude: cmath_pow(10, sighting.rssi / 20)))
        return decide(current: current, restored: restored, isNearby: isNearby, at: now)
    }

    private mutating func decide(
        current: VenueID?, restored: VenueID?, isNearby: Bool, at now: Instant
    ) -> Verdict {
        let presences = presences(at: now)
        func presence(of venue: VenueID) -> Presence? { presences.first { $0.venue == venue } }
        let leading = leading(of: presences)
        leader = leading.map { Leader(venue: $0, since: leader?.venue == $0 ? leader?.since ?? now : now) }
        if let current {
            guard let leader, leader.venue != current, !isOutside(leader.venue, at: now) else { return .undecided }
            let isEnough =
                (presence(of: leader.venue)?.beacons ?? 0) >= settings.takeoverBeacons || !isHeardWell(current, at: now)
            // Without sightings, a venue that is only nearby doesn't compete with the other venue's beacons.
            let isUnheard = isNearby && presence(of: current) == nil
            let required = isUnheard ? presences.count > 1 ? settings.contestedTime : .zero : settings.takeoverTime
            return isEnough && hasLed(for: required, at: now) ? .venue(leader.venue) : .undecided
        }
        if let forced {
            // The forced venue needs no lead over the others. But if another venue leads, the device is in that one.
            let isThere = presence(of: forced) != nil && leading ?? forced == forced && !isOutside(forced, at: now)
            return isThere ? .venue(forced) : .undecided
        }
        guard let leader, !isOutside(leader.venue, at: now) else { return .undecided }
        let required = presences.count > 1 && leader.venue != restored ? settings.contestedTime : .zero
        return hasLed(for: required, at: now) ? .venue(leader.venue) : .undecided
    }

    /// Returns the recently received venues, except those that satellites show to be far.
    ///
    /// Every sighting needs them, and usually there is only one venue: a short list is faster than a dictionary.
    private func presences(at now: Instant) -> [Presence] {
        var presences: [Presence] = []
        for entry in heard {
            let place = presences.firstIndex { $0.venue == entry.venue } ?? presences.endIndex
            if place == presences.endIndex { presences.append(Presence(venue: entry.venue)) }
            presences[place].add(amplitude: entry.amplitude)
        }
        presences.removeAll { isRecent(lastFar[$0.venue], at: now) }
        return presences
    }

    /// Returns the venue whose beacons are clearly the strongest; nil without one.
    private func leading(of presences: [Presence]) -> VenueID? {
        guard presences.count > 1 else { return presences.first?.venue }
        let ranking = presences.sorted { ($0.amplitude, $1.venue.rawValue) > ($1.amplitude, $0.venue.rawValue) }
        let first = ranking[0]
        return first.amplitude >= settings.lead * ranking[1].amplitude ? first.venue : nil
    }

    private func hasLed(for time: Duration, at now: Instant) -> Bool {
        leader.map { $0.since.duration(to: now) >= time } ?? false
    }

    /// Returns whether one of the venue's sightings in the window is strong.
    private func isHeardWell(_ venue: VenueID, at now: Instant) -> Bool {
        lastHeardWell[venue].map { $0.duration(to: now) <= settings.window } ?? false
    }
}

// MARK: - Satellites

extension VenueSearchMachine {
    /// Handles a satellite position; `current` is the venue that the session is in.
    ///
    /// - Parameter isNearby: whether satellites alone identified the current venue. The session then leaves it outside
    ///   the search radius, because the device may not have been inside.
    package mutating func observe(_ fix: GNSSFix, current: VenueID?, isNearby: Bool = false) -> Verdict {
        guard fix.isWithin(settings.gnssAccuracy) else { return .undecided }
        for summary in summaries.values {
            lastOutside[summary.id] = isOutside(fix, summary, by: 0) ? fix.instant : nil
            lastFar[summary.id] = isOutside(fix, summary, by: settings.gnssFarDistance) ? fix.instant : nil
        }
        guard let current else { return search(fix) }
        guard let summary = summaries[current] else { return .undecided }
        let margin = isNearby ? settings.gnssSearchRadius : 0
        if distance(of: fix, to: summary, within: margin) != nil { lastInside[current] = fix.instant }
        let isFar = lastFar[current] == fix.instant
        let isLeft =
            isNearby
            ? distance(of: fix, to: summary, within: margin + fix.accuracy) == nil
            : isFar || lastOutside[current] == fix.instant && isSilent(current, at: fix.instant)
        guard isLeft else {
            run = Run(venue: current, count: 0)
            return .undecided
        }
        run = Run(venue: nil, count: run.venue == nil ? run.count + 1 : 1)
        return run.count >= settings.gnssCount ? .outdoors : .undecided
    }

    private mutating func search(_ fix: GNSSFix) -> Verdict {
        let near = summaries.values.compactMap { summary -> (id: VenueID, distance: VenueDistance)? in
            guard forced == nil || forced == summary.id else { return nil }
            return distance(of: fix, to: summary, within: settings.gnssSearchRadius).map { (summary.id, $0) }
        }
        guard let nearest = near.min(by: { ($0.distance, $0.id.rawValue) < ($1.distance, $1.id.rawValue) }) else {
            run = Run(venue: nil, count: 0)
            return .undecided
        }
        lastInside[nearest.id] = fix.instant
        run = Run(venue: nearest.id, count: run.venue == nearest.id ? run.count + 1 : 1)
        return run.count >= settings.gnssCount ? .venueByGNSS(nearest.id) : .undecided
    }

    /// Returns the distance to a venue; nil if the fix is more than `margin` metres outside the venue's radius.
    private func distance(of fix: GNSSFix, to summary: VenueSummary, within margin: Double) -> VenueDistance? {
        guard let center = summary.coordinate else { return nil }
        let (distance, radius) = (center.distance(to: fix.coordinate), summary.radius ?? 0)
        guard distance <= radius + margin else { return nil }
        return VenueDistance(toEdge: max(0, distance - radius), toCenter: distance)
    }

    /// Returns whether recent satellite positions contradict that the device is in a venue: they are far outside, or
    /// they are outside and no recent sighting of the venue's beacons is strong.
    package func isContradicted(_ venue: VenueID, at now: Instant) -> Bool {
        isRecent(lastFar[venue], at: now) || isOutside(venue, at: now)
    }

    /// Returns whether the device is outside a venue by at least `margin` metres, beyond the accuracy of the fix.
    private func isOutside(_ fix: GNSSFix, _ summary: VenueSummary, by margin: Double) -> Bool {
        guard let center = summary.coordinate, let radius = summary.radius else { return false }
        return center.distance(to: fix.coordinate) > radius + fix.accuracy + margin
    }

    /// Returns whether a recent satellite position is outside, and no recent sighting of the venue's beacons is strong.
    private func isOutside(_ venue: VenueID, at now: Instant) -> Bool {
        isRecent(lastOutside[venue], at: now) && isSilent(venue, at: now)
    }

    /// Returns whether the venue has no recent strong sighting.
    private func isSilent(_ venue: VenueID, at now: Instant) -> Bool { !isRecent(lastHeardWell[venue], at: now) }

    private func isRecent(_ instant: Instant?, at now: Instant) -> Bool {
        instant.map { $0.duration(to: now) < settings.gnssSilence } ?? false
    }
}

/// The distance to a venue in metres. Among venues that contain the device, the one with the nearest centre is nearest.
private struct VenueDistance: Comparable {
    var toEdge: Double
    var toCenter: Double

    static func < (left: VenueDistance, right: VenueDistance) -> Bool {
        (left.toEdge, left.toCenter) < (right.toEdge, right.toCenter)
    }
}

extension BeaconRegion {
    /// The order of the regions of one UUID.
    fileprivate var number: Int { Int(major ?? 0) << 16 | Int(minor ?? 0) }
}

extension KnownAddresses {
    /// Returns a reading for a consumer that has no session, and so recognises beacons by their identity only.
    ///
    /// If the transmitter's address identifies a beacon under the rules of a session, the result is the sighting of
    /// that beacon; otherwise, it is the reading itself. An advertisement with a beacon frame is returned unchanged,
    /// because its sighting follows it.
    package func named(_ reading: SensorReading) -> SensorReading {
        guard !isEmpty else { return reading }
        switch reading {
        case .sighting(let sighting): return .sighting(resolve(sighting))
        case .advertisement(let advertisement):
            // Malformed data contain no beacon.
            let frame = try? advertisement.sighting()
            return frame == nil ? sighting(of: advertisement).map(SensorReading.sighting) ?? reading : reading
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio: return reading
        }
    }
}
