import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// Takes in what was sensed. Outdoors, a satellite position is a position too.
    mutating func observe(_ decoded: DecodedReading, at now: Instant) -> Transition {
        let reading = decoded.reading
        guard isUsed(reading) else {
            noteDelivery(of: reading)
            return Transition(state: state)
        }
        let motionNews = follow(reading)
        var transition = weigh(decoded, at: now)
        transition.directives += motionNews
        if tellsOutdoors(in: transition.state), case .gnss(let fix) = reading, let position = outdoorPosition(fix) {
            transition.directives.append(.emitOutdoor(position))
        }
        return transition
    }

    /// Whether the settings let a reading count: those of satellites may be too many, or unwanted.
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
        guard let reading = accepted(decoded) else { return Transition(state: state) }
        guard let remark = remark(on: reading) else { return use(reading, at: now) }
        var transition = use(reading, at: now)
        transition.directives.insert(.report(remark), at: 0)
        return transition
    }

    /// What is wrong with the source or the known venues, by a reading that was accepted; nil if nothing is.
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

    /// Whether satellites tell where the device is: until a floor is known, unless the device is said to be indoors.
    private func tellsOutdoors(in state: LocalizationState) -> Bool {
        switch state {
        case .idle, .error, .localizationRunning: false
        case .started, .searchVenue: true
        case .getPacket, .findFloor: !isLockedIndoors
        }
    }

    /// Whether satellites have found the venue and no floor is known: the device may be in front of it.
    var isNearbyOnly: Bool {
        if case .localizationRunning = state { false } else { isFoundByGNSS }
    }

    /// Whether satellites contradict that the device is in the venue that they have found: what is heard out there,
    /// faint and through walls, is not to locate it when it comes in.
    func isHeldBack(at now: Instant) -> Bool {
        guard isNearbyOnly, let venue = visit?.venue.id else { return false }
        return search.isContradicted(venue, at: listened.instant(at: now))
    }

    /// What an accepted reading comes to.
    private mutating func use(_ reading: SensorReading, at now: Instant) -> Transition {
        if case .fix(let fix) = reading, visit == nil, settings.forcedVenue != nil { return submit(fix, at: now) }
        let turned = oriented(reading)
        if visit == nil || isHeldBack(at: now) {
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
                sighting, current: state.venueID, restored: restoredVenue(at: now), isNearby: isNearbyOnly)
        case .gnss(var fix):
            fix.instant = listened.instant(at: fix.instant)
            verdict =
                isLockedIndoors
                ? .undecided : search.observe(fix, current: state.venueID, isNearby: isNearbyOnly)
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
            detectedBy = .satellites
            return fetch(id, at: now)
        case .outdoors:
            return loseVenue(at: now)
        }
    }

    /// A beacon of the venue tells more than satellites do, or somebody who said which venue this is.
    private mutating func note(_ sighting: Sighting) {
        guard let venue = state.venueID, detectedBy != .beacons else { return }
        if search.owner(of: sighting.beacon) == venue { detectedBy = .beacons }
    }

    /// A radio that ceased to hear is worth an error: silence alone would not tell why there is no position.
    private mutating func hear(_ event: RadioEvent, at now: Instant) -> Transition {
        isDeaf = event.status.isFailure
        if event.status.isHearing { listened.resume(at: now) } else { listened.pause(at: now) }
        guard event.status.isFailure else { return Transition(state: state) }
        return Transition(state: state, directives: [.report(LocalizationError(event))])
    }

    /// A radio that delivers listens, whatever it told; what it heard before a rest may come late.
    private mutating func noteListening(by reading: SensorReading) {
        switch reading {
        case .sighting, .advertisement:
            isDeaf = false
            if let since = listened.deafSince, reading.instant > since { listened.resume(at: reading.instant) }
        case .motion, .step, .pressure, .gnss, .fix, .radio: break
        }
    }

    /// Returns the reading as the session uses it, with a sighting in place of an advertisement; nil if the session
    /// ignores it.
    private func accepted(_ decoded: DecodedReading) -> SensorReading? {
        let sighting: Sighting?
        switch decoded.content {
        case .sighting(let heard): sighting = named(heard)
        // An advertisement without a beacon is of use only if its address is known.
        case .advertisement(let advertisement): sighting = addresses.sighting(of: advertisement)
        case .rejected: sighting = nil
        case .other: return decoded.reading
        }
        guard let sighting, sighting.rssi >= settings.rssiThreshold else { return nil }
        return .sighting(sighting)
    }

    /// The sighting with the identity by which the venue knows its transmitter.
    private func named(_ sighting: Sighting) -> Sighting {
        addresses.isEmpty ? sighting : addresses.resolve(sighting) { search.owner(of: $0) != nil }
    }

    /// What a satellite position tells of the device outdoors; nil if it is too vague, or older than the latest.
    private mutating func outdoorPosition(_ fix: GNSSFix) -> OutdoorPosition? {
        let isNew = lastOutdoor.map { fix.instant >= $0 } ?? true
        guard isNew, fix.isWithin(settings.venueSearch.outdoorAccuracy) else { return nil }
        lastOutdoor = fix.instant
        return OutdoorPosition(
            instant: fix.instant, coordinate: fix.coordinate, radius: fix.accuracy, altitude: fix.altitude,
            speed: fix.speed, course: fix.course)
    }
}
