extension LocalizationMachine {
    /// A new session: what an earlier one knew is forgotten.
    mutating func begin() -> Transition {
        if let error = settings.error {
            return Transition(state: .error(error), directives: [.publish(.error(error)), .report(error)])
        }
        search = VenueSearchMachine(settings: settings.venueSearch, forced: settings.forcedVenue)
        backoff.reset()
        scanBackoff.reset()
        forgetVenue()
        return Transition(
            state: .started, directives: reschedule() + [.publish(.started), .fetchCatalogue, .startScanning])
    }

    /// The venues are known: look for one of them.
    mutating func learn(_ venues: [VenueSummary]) -> Transition {
        search.learn(venues)
        backoff.reset()
        wakeAt = nil
        retryAt = nil
        var directives = [Directive.publish(.searchVenue)]
        if let forced = settings.forcedVenue, !venues.contains(where: { $0.id == forced }) {
            let message = "forcedVenue \(forced) is not among the source's venues; add its packet or change the setting"
            directives.append(.report(LocalizationError(code: .generic, message: message)))
        }
        return Transition(state: .searchVenue, directives: directives)
    }

    /// The session is over.
    mutating func end(with final: LocalizationState, at now: Instant) -> Transition {
        let left = visit?.leave(at: now) ?? []
        forgetVenue()
        rescanAt = nil
        var directives: [Directive] = left.map(Directive.emitEvent)
        directives += [.cancelFetch, .stopScanning, .publish(final)]
        if case .error(let error) = final { directives.append(.report(error)) }
        return Transition(state: final, directives: directives)
    }

    /// The source has ended: a last position from all that was heard, then idle.
    mutating func finish(at now: Instant) -> Transition {
        var directives: [Directive] = []
        switch state {
        case .findFloor, .localizationRunning: directives = locate(at: now, isLast: true).directives
        case .idle, .started, .searchVenue, .getPacket, .error: break
        }
        return Transition(state: .idle, directives: directives + end(with: .idle, at: now).directives)
    }

    /// An error that the session may survive: report it, and try again after a pause.
    mutating func fail(_ error: LocalizationError, at now: Instant) -> Transition {
        guard !error.endsSession else { return end(with: .error(error), at: now) }
        let due = now.advanced(by: backoff.next())
        retryAt = due
        wakeAt = min(due, wakeAt ?? due)
        return Transition(state: state, directives: [.report(error)])
    }

    /// The scan has failed: unless the session ends with that, scan again after a pause.
    mutating func loseSource(_ error: LocalizationError, at now: Instant) -> Transition {
        guard !error.endsSession else { return end(with: .error(error), at: now) }
        rescanAt = now.advanced(by: scanBackoff.next())
        return Transition(state: state, directives: [.report(error)])
    }

    /// Does what is due.
    mutating func tick(at now: Instant) -> Transition {
        var directives: [Directive] = []
        if let due = rescanAt, due <= now {
            rescanAt = nil
            directives.append(.startScanning)
        }
        guard let due = wakeAt, due <= now else { return Transition(state: state, directives: directives) }
        wakeAt = nil
        let work: Transition
        switch state {
        case .started: work = Transition(state: state, directives: [.fetchCatalogue])
        case .getPacket(let id, _): work = retryPacket(id, at: now)
        case .findFloor, .localizationRunning: work = locate(at: now)
        case .idle, .searchVenue, .error: work = Transition(state: state)  // these never set `wakeAt`
        }
        return Transition(state: work.state, directives: directives + work.directives)
    }

    /// The venue is gone; look for the next one.
    mutating func loseVenue(at now: Instant) -> Transition {
        let left = visit?.leave(at: now) ?? []
        forgetVenue()
        search.restart()
        return Transition(
            state: .searchVenue,
            directives: left.map(Directive.emitEvent) + reschedule() + [.cancelFetch, .publish(.searchVenue)])
    }

    private mutating func forgetVenue() {
        visit = nil
        wakeAt = nil
        retryAt = nil
        isFoundByGNSS = false
        recent.clear()
        _ = useSettings(of: nil)
    }

    mutating func observe(_ reading: SensorReading, at now: Instant) -> Transition {
        if case .radio(let event) = reading { return hear(event) }
        scanBackoff.reset()
        guard let reading = accepted(reading) else { return Transition(state: state) }
        if visit != nil { visit?.belief.observe(reading) } else { recent.add(reading) }
        if case .started = state { return Transition(state: state) }  // no venue is known yet
        let verdict: VenueSearchMachine.Verdict
        switch reading {
        case .sighting(let sighting): verdict = search.observe(sighting, current: state.venueID)
        case .gnss(let fix): verdict = search.observe(fix, current: state.venueID)
        case .advertisement, .motion, .step, .pressure, .fix, .radio: verdict = .undecided
        }
        switch verdict {
        case .undecided:
            return Transition(state: state)
        case .venue(let id):
            return state.venueID == nil ? fetch(id, at: now) : loseVenue(at: now)
        case .venueByGNSS(let id):
            guard state.venueID == nil else { return Transition(state: state) }
            isFoundByGNSS = true
            return fetch(id, at: now)
        case .outdoors:
            return loseVenue(at: now)
        }
    }

    /// A radio that ceased to hear is worth an error: silence alone would not tell why there is no position.
    private func hear(_ event: RadioEvent) -> Transition {
        guard !event.status.isHearing else { return Transition(state: state) }
        return Transition(
            state: state, directives: [.report(LocalizationError(code: .generic, message: "\(event)"))])
    }

    /// The reading as the session uses it: decoded, and strong enough; nil if it is to be ignored.
    ///
    /// A source may put behind an advertisement the sighting that it holds; what was heard once counts once.
    private mutating func accepted(_ reading: SensorReading) -> SensorReading? {
        let previous = decoded.take()
        switch reading {
        case .sighting(let sighting):
            guard sighting != previous else { return nil }
            let isUsable = Sighting.isMeasurement(rssi: sighting.rssi) && sighting.rssi >= settings.rssiThreshold
            return isUsable ? reading : nil
        case .advertisement(let advertisement):
            // What is no beacon, or a broken one, is none of a session's business.
            decoded = try? advertisement.sighting()
            guard let sighting = decoded, sighting.rssi >= settings.rssiThreshold else { return nil }
            return .sighting(sighting)
        case .motion, .step, .pressure, .gnss, .fix, .radio:
            return reading
        }
    }

    private mutating func fetch(_ id: VenueID, at now: Instant) -> Transition {
        let next = LocalizationState.getPacket(venueID: id, progress: 0)
        retryAt = nil
        wakeAt = now.advanced(by: settings.venueLostTimeout)
        return Transition(state: next, directives: [.publish(next), .fetchPacket(id)])
    }

    /// A tick in getPacket: either the venue is lost, or the failed download is tried again.
    mutating func retryPacket(_ id: VenueID, at now: Instant) -> Transition {
        let lostAt = (search.lastEvidence(of: id) ?? now).advanced(by: settings.venueLostTimeout)
        if lostAt <= now { return loseVenue(at: now) }
        guard let due = retryAt, due <= now else {
            wakeAt = min(lostAt, retryAt ?? lostAt)
            return Transition(state: state)
        }
        wakeAt = lostAt
        retryAt = nil
        return Transition(state: state, directives: [.fetchPacket(id)])
    }

    /// The packet is there: begin to locate, with what was heard in the meantime.
    mutating func enter(_ venue: Venue, at now: Instant) -> Transition {
        guard venue.id == state.venueID else {
            let wanted = state.venueID.map(\.description) ?? "none"
            let message = "the packet of venue \(wanted) holds venue \(venue.id); correct the venue source"
            return fail(LocalizationError(code: .generic, message: message), at: now)
        }
        backoff.reset()
        retryAt = nil
        let problems = useSettings(of: venue)
        var visit = VenueVisit(
            venue: venue, belief: makeBelief(venue, settings.positioning), settings: settings, since: now)
        for reading in recent.readings { visit.belief.observe(reading) }
        recent.clear()
        self.visit = visit
        wakeAt = now
        let next = LocalizationState.findFloor(venue)
        let announcement: [Directive] = isFoundByGNSS ? [.announceVenue(venue)] : []
        return Transition(state: next, directives: problems + reschedule() + announcement + [.publish(next)])
    }

    /// A tick while in a venue: update the belief, decide the floor, tell the position.
    mutating func locate(at now: Instant, isLast: Bool = false) -> Transition {
        guard let venue = visit?.venue, let since = visit?.since else { return Transition(state: state) }
        let heard = max(lastSign(of: venue.id) ?? since, since)
        if heard.duration(to: now) >= settings.venueLostTimeout { return loseVenue(at: now) }
        // Moved out and back, not copied: the belief owns large buffers.
        guard var visit = visit.take() else { return Transition(state: state) }
        defer { self.visit = visit }
        visit.belief.advance(to: now)
        visit.floor.observe(visit.belief.mapProbabilities, at: now)
        wakeAt = isLast ? nil : now.advanced(by: settings.positionInterval)
        guard let map = visit.floor.map else { return Transition(state: state) }
        if case .localizationRunning(let running) = state, running.mapID != map {
            wakeAt = isLast ? nil : now
            let next = LocalizationState.findFloor(visit.venue)
            return Transition(state: next, directives: [.publish(next)])
        }
        guard let position = visit.position(on: map, at: now) else { return Transition(state: state) }
        var directives: [Directive] = []
        var next = state
        if case .findFloor = state {
            next = .localizationRunning(RunningState(venue: visit.venue, mapID: map))
            directives.append(.publish(next))
        }
        directives.append(.emit(position))
        directives += visit.events(of: position).map(Directive.emitEvent)
        return Transition(state: next, directives: directives)
    }

    /// What the venue's loss is counted from: positions need beacons, the search for a floor only a reason to search.
    private func lastSign(of venue: VenueID) -> Instant? {
        if case .localizationRunning = state { search.lastHeard(of: venue) } else { search.lastEvidence(of: venue) }
    }
}
