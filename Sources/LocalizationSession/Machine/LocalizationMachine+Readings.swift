import BeaconScanning
import CMath
import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// Handles a reading. Outdoors, a satellite position is also an output.
    mutating func observe(_ decoded: DecodedReading, at now: Instant) -> Transition {
        let reading = decoded.reading
        guard isUsed(reading) else {
            noteDelivery(of: reading)
            return Transition(state: state)
        }
        let motionUpdates = follow(reading)
        var transition = weigh(decoded, at: now)
        transition.directives += motionUpdates
        if emitsOutdoors(in: transition.state), case .gnss(let fix) = reading, let position = outdoorPosition(fix) {
            transition.directives.append(.emitOutdoor(position))
        }
        return transition
    }

    /// Returns whether the settings accept a reading. Satellite positions may be too frequent, or disabled.
    private mutating func isUsed(_ reading: SensorReading) -> Bool {
        guard case .gnss(let fix) = reading else { return true }
        guard let interval = settings.satellites.interval else { return false }
        if let last = lastSatellites, fix.instant >= last, last.duration(to: fix.instant) < interval { return false }
        lastSatellites = fix.instant
        return true
    }

    private mutating func weigh(_ decoded: DecodedReading, at now: Instant) -> Transition {
        if case .radio(let event) = decoded.reading { return hear(event, at: now) }
        noteDelivery(of: decoded.reading)
        noteListening(by: decoded.reading)
        noteEvidence(of: decoded, at: now)
        guard let reading = accepted(decoded) else { return Transition(state: state) }
        guard let remark = remark(on: reading) ?? remark(onPowerIn: decoded) else { return use(reading, at: now) }
        var transition = use(reading, at: now)
        transition.directives.insert(.report(remark), at: 0)
        return transition
    }

    /// Returns the problem with the source or the known venues that an accepted reading reveals; nil without one.
    private mutating func remark(on reading: SensorReading) -> LocalizationError? {
        if let instant = instants.note(reading) { return .instantsStandStill(at: instant) }
        guard case .searchVenue = state, case .sighting(let sighting) = reading else { return nil }
        if search.owner(of: sighting.beacon) != nil {
            unknownBeacons.hearKnown()
            return nil
        }
        let beacons = unknownBeacons.hear(sighting.beacon, at: listened.instant(at: sighting.instant))
        return beacons.map { .unknownBeacons($0.map(search.unknown)) }
    }

    /// Returns the error for a beacon of a known venue that sends no valid measured power; nil if its power is valid or was
    /// reported.
    private mutating func remark(onPowerIn decoded: DecodedReading) -> LocalizationError? {
        guard let sighting = decoded.sightingInAdvertisement, sighting.measuredPower == nil else { return nil }
        let beacon = named(sighting).beacon
        guard search.owner(of: beacon) != nil else { return nil }
        let beacons = uncalibratedBeacons.hear(beacon, at: sighting.instant)
        return beacons.isEmpty ? nil : .uncalibratedBeacons(beacons)
    }

    /// Returns whether the session emits satellite positions: until a floor is known, unless the device is locked
    /// indoors.
    private func emitsOutdoors(in state: LocalizationState) -> Bool {
        switch state {
        case .idle, .error, .localizationRunning: false
        case .started, .searchVenue: true
        case .getPacket, .findFloor: !isLockedIndoors
        }
    }

    /// Whether only satellites have identified the venue and no floor is known; the device may be in front of it.
    var isNearbyOnly: Bool {
        if case .localizationRunning = state { false } else { isFoundByGNSS }
    }

    /// Returns whether satellites contradict that the device is in the venue that they have identified.
    ///
    /// The session receives weak readings through the walls while the device is outside. After the device enters, these
    /// readings must not affect its position.
    func isHeldBack(at now: Instant) -> Bool {
        guard isNearbyOnly, let venue = visit?.venue.id else { return false }
        return search.isContradicted(venue, at: listened.instant(at: now))
    }

    /// Handles an accepted reading.
    private mutating func use(_ reading: SensorReading, at now: Instant) -> Transition {
        if case .fix(let fix) = reading, visit == nil, settings.forcedVenue != nil { return submit(fix, at: now) }
        let turned = oriented(reading)
        // The calls below copy the machine, which is 14 kB large. The conditions before them spare most readings the copy.
        if visit == nil || isFoundByGNSS && isHeldBack(at: now) {
            recent.add(turned)
            if case .sighting(let sighting) = turned {
                visit?.interactions.observe(sighting, listened: listened.instant(at: now))
            }
        } else {
            visit?.observe(turned, listened: listened.instant(at: now))
        }
        if case .started = state { return Transition(state: state) }  // no venue is known yet
        let verdict: VenueSearchMachine.Verdict
        switch reading {
        case .sighting(var sighting):
            note(sighting)
            sighting.instant = listened.instant(at: sighting.instant)
            verdict = search.observe(
                sighting, current: state.venueID, restored: restored == nil ? nil : restoredVenue(at: now),
                isNearby: isFoundByGNSS && isNearbyOnly)
        case .gnss(var fix):
            fix.instant = listened.instant(at: fix.instant)
            verdict =
                isLockedIndoors
                ? .undecided : search.observe(fix, current: state.venueID, isNearby: isNearbyOnly)
        case .range(let range):
            let sighting = sign(of: range)
            note(sighting)
            verdict = search.observe(
                sighting, current: state.venueID, restored: restoredVenue(at: now), isNearby: isNearbyOnly)
        case .advertisement, .motion, .step, .pressure, .fix, .radio: verdict = .undecided
        }
        switch verdict {
        case .undecided:
            return Transition(state: state)
        case .venue(let id):
            guard state.venueID == nil else { return loseVenue(at: now) }
            detectedBy = .beacons
            return fetch(id, at: now)
        case .venueByGNSS(let id):
            guard state.venueID == nil else { return Transition(state: state) }
            isFoundByGNSS = true
            isInFront = true
            detectedBy = .satellites
            return fetch(id, at: now)
        case .outdoors:
            return loseVenue(at: now)
        }
    }

    /// Notes a sighting as evidence for the venue. It takes precedence over satellites and a forced venue.
    private mutating func note(_ sighting: Sighting) {
        guard let venue = state.venueID, detectedBy != .beacons else { return }
        if search.isBeacon(sighting.beacon, of: venue) { detectedBy = .beacons }
    }

    /// Handles a radio event. A failure is reported as an error, so that the user learns why there are no positions.
    private mutating func hear(_ event: RadioEvent, at now: Instant) -> Transition {
        isDeaf = event.status.isFailure
        // A radio that rests between two passes works normally.
        if event.status != .resting { diagnosing.radio = event }
        diagnosing.scanFailure = nil
        if event.status.isHearing { listened.resume(at: now) } else { listened.pause(at: now) }
        guard event.status.isFailure else { return Transition(state: state) }
        return Transition(state: state, directives: [.report(LocalizationError(event))])
    }

    /// Notes that the radio is listening, because it has delivered a reading. The status that it reported doesn't
    /// matter. A late reading from before a rest doesn't resume the listening time.
    private mutating func noteListening(by reading: SensorReading) {
        switch reading {
        case .sighting, .advertisement:
            isDeaf = false
            if let since = listened.deafSince, reading.instant > since { listened.resume(at: reading.instant) }
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio: break
        }
    }

    /// Returns the reading as the session uses it, with a sighting in place of an advertisement; nil if the session
    /// ignores it.
    private mutating func accepted(_ decoded: DecodedReading) -> SensorReading? {
        let sighting: Sighting?
        switch decoded.content {
        case .sighting(let heard): sighting = named(heard)
        // An advertisement without a beacon is useful only if its address is known.
        case .advertisement(let advertisement): sighting = addresses.sighting(of: advertisement)
        case .rejected: sighting = nil
        case .other:
            guard case .range(let range) = decoded.reading else { return decoded.reading }
            guard range.hasMeasurement else { return nil }
            noteEvidence(of: range)
            return decoded.reading
        }
        guard let sighting else { return nil }
        recentBeacons.note(sighting)
        noteEvidence(of: sighting)
        guard sighting.rssi >= settings.rssiThreshold else { return nil }
        return .sighting(sighting)
    }

    /// Returns the sighting that represents a distance in the search for a venue: that of a beacon with the default
    /// power at the place of the anchor.
    private func sign(of range: RangeReading) -> Sighting {
        let power = settings.positioning.signal.defaultPower
        return Sighting(
            instant: listened.instant(at: range.instant), beacon: VenueAnchor.identity(of: range.anchor),
            rssi: power - 20 * cmath_log10(max(range.distance, 1)))
    }

    /// Returns the sighting with the identity that the venue has for its transmitter.
    ///
    /// Inlined, because a call would copy the machine for each reading.
    @inline(__always)
    private func named(_ sighting: Sighting) -> Sighting {
        addresses.isEmpty ? sighting : addresses.resolve(sighting) { search.owner(of: $0) != nil }
    }

    /// Returns the outdoor position of a satellite fix; nil if the fix is too inaccurate or older than the latest.
    private mutating func outdoorPosition(_ fix: GNSSFix) -> OutdoorPosition? {
        let isNew = lastOutdoor.map { fix.instant >= $0 } ?? true
        guard isNew, fix.isWithin(settings.venueSearch.outdoorAccuracy) else { return nil }
        lastOutdoor = fix.instant
        return OutdoorPosition(
            instant: fix.instant, coordinate: fix.coordinate, radius: fix.accuracy, altitude: fix.altitude,
            speed: fix.speed, course: fix.course)
    }
}

// A venue that satellites identified before the device has entered it. The session fetches the venue's packet and
// announces its data, but considers the device outdoors until a beacon or a position shows that it is inside.
extension LocalizationMachine {
    /// Replaces the states in directives by those that the session shows.
    ///
    /// - Parameter wasInFront: whether the device may have been in front of the venue before the event.
    mutating func show(_ directives: inout [Directive], wasInFront: Bool, at now: Instant) {
        if isInFront, hasEntered(at: now) { isInFront = false }
        if isInFront || wasInFront && state == .searchVenue {
            // The emitted state was `searchVenue` before the event, and still is.
            directives.removeAll { directive in
                if case .publish(let state) = directive { !state.isOver } else { false }
            }
        } else if let id = state.venueID, wasInFront {
            directives.insert(contentsOf: entrance(id, before: directives).map(Directive.publish), at: 0)
        }
    }

    /// Returns whether there is evidence that the device is in the venue: a position on its map, or one of its beacons
    /// or anchors, which recent satellite positions don't contradict.
    private func hasEntered(at now: Instant) -> Bool {
        if case .localizationRunning = state { return true }
        guard let id = state.venueID, detectedBy == .beacons else { return false }
        return !search.isContradicted(id, at: listened.instant(at: now))
    }

    /// Returns the states that the session has passed while the device was in front of the venue, up to the current
    /// one.
    private func entrance(_ id: VenueID, before directives: [Directive]) -> [LocalizationState] {
        let published = directives.compactMap { if case .publish(let state) = $0 { state } else { nil } }
        var states: [LocalizationState] = []
        switch state {
        case .getPacket(_, let progress): states = [.getPacket(venueID: id, progress: progress)]
        case .findFloor, .localizationRunning:
            states = [.getPacket(venueID: id, progress: 1)]
            if let venue = visit?.venue { states.append(.findFloor(venue)) }
        case .idle, .started, .searchVenue, .error: break
        }
        return states.filter { !published.contains($0) }
    }
}

/// The latest reading of each recently received beacon, whether or not the beacon belongs to a known venue.
///
/// The table holds at most `limit` beacons, and reuses the memory of the oldest one for a new one. A reading of a
/// beacon that is in the table allocates no memory.
struct RecentBeacons: Sendable {
    /// The latest reading of a beacon.
    struct Entry: Hashable, Sendable {
        var beacon: BeaconIdentity
        /// The RSSI in dBm.
        var rssi: Double
        var instant: Instant
    }

    /// The greatest number of beacons.
    static let limit = 256
    /// The time after which a beacon without a reading is no longer recent.
    static let lifetime = Duration.seconds(30)

    private var entries: [Entry] = []
    /// The index of each beacon in `entries`.
    private var places: [BeaconIdentity: Int] = [:]

    /// Creates an empty table.
    init() {}

    /// Stores a reading, unless a later one of the same beacon is stored or the RSSI isn't a measurement.
    mutating func note(_ sighting: Sighting) {
        guard sighting.hasMeasurement else { return }
        if let place = places[sighting.beacon] {
            guard sighting.instant >= entries[place].instant else { return }
            entries[place].rssi = sighting.rssi
            entries[place].instant = sighting.instant
            return
        }
        let entry = Entry(beacon: sighting.beacon, rssi: sighting.rssi, instant: sighting.instant)
        guard entries.count == Self.limit else {
            places[entry.beacon] = entries.count
            return entries.append(entry)
        }
        var oldest = 0
        for index in 1..<entries.count where entries[index].instant < entries[oldest].instant { oldest = index }
        places[entries[oldest].beacon] = nil
        places[entry.beacon] = oldest
        entries[oldest] = entry
    }

    /// Returns the entries that aren't older than ``lifetime``, by beacon.
    func recent(at now: Instant) -> [Entry] {
        entries.filter { $0.instant.duration(to: now) <= Self.lifetime }.sorted { $0.beacon < $1.beacon }
    }

    /// Removes all beacons; keeps the memory.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Moves all instants to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        for index in entries.indices { entries[index].instant = entries[index].instant.advanced(by: duration) }
    }
}
