extension LocalizationMachine {
    /// A new session: what an earlier one knew is forgotten.
    mutating func begin() -> Transition {
        search = VenueSearchMachine(settings: settings.venueSearch, forced: settings.forcedVenue)
        backoff.reset()
        forgetVenue()
        return Transition(state: .started, directives: [.publish(.started), .fetchCatalogue, .startScanning])
    }

    /// The session is over.
    mutating func end(with final: LocalizationState, at now: Instant) -> Transition {
        let left = visit?.leave(at: now) ?? []
        forgetVenue()
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
        nextWake = min(due, nextWake ?? due)
        return Transition(state: state, directives: [.report(error)])
    }

    /// The venue is gone; look for the next one.
    mutating func loseVenue(at now: Instant) -> Transition {
        let left = visit?.leave(at: now) ?? []
        forgetVenue()
        search.restart()
        return Transition(
            state: .searchVenue,
            directives: left.map(Directive.emitEvent) + [.cancelFetch, .publish(.searchVenue)])
    }

    private mutating func forgetVenue() {
        visit = nil
        nextWake = nil
        retryAt = nil
        isFoundByGNSS = false
        recent.clear()
    }

    mutating func observe(_ reading: SensorReading) -> Transition {
        guard let reading = accepted(reading) else { return Transition(state: state) }
        if visit != nil { visit?.belief.observe(reading) } else { recent.add(reading) }
        let verdict: VenueSearchMachine.Verdict
        switch reading {
        case .sighting(let sighting): verdict = search.observe(sighting, current: state.venueID)
        case .gnss(let fix): verdict = search.observe(fix, current: state.venueID)
        case .advertisement, .motion, .step, .pressure, .fix: verdict = .undecided
        }
        switch verdict {
        case .undecided:
            return Transition(state: state)
        case .venue(let id):
            return state.venueID == nil ? fetch(id, at: reading.instant) : loseVenue(at: reading.instant)
        case .venueByGNSS(let id):
            guard state.venueID == nil else { return Transition(state: state) }
            isFoundByGNSS = true
            return fetch(id, at: reading.instant)
        case .outdoors:
            return loseVenue(at: reading.instant)
        }
    }

    /// The reading as the session uses it: decoded, and strong enough; nil if it is to be ignored.
    private func accepted(_ reading: SensorReading) -> SensorReading? {
        switch reading {
        case .sighting(let sighting):
            let isUsable = Sighting.isMeasurement(rssi: sighting.rssi) && sighting.rssi >= settings.rssiThreshold
            return isUsable ? reading : nil
        case .advertisement(let advertisement):
            // What is no beacon, or a broken one, is none of a session's business.
            guard let sighting = try? advertisement.sighting(), sighting.rssi >= settings.rssiThreshold else {
                return nil
            }
            return .sighting(sighting)
        case .motion, .step, .pressure, .gnss, .fix:
            return reading
        }
    }

    private mutating func fetch(_ id: VenueID, at now: Instant) -> Transition {
        let next = LocalizationState.getPacket(venueID: id, progress: 0)
        retryAt = nil
        nextWake = now.advanced(by: settings.venueLostTimeout)
        return Transition(state: next, directives: [.publish(next), .fetchPacket(id)])
    }

    /// A tick in getPacket: either the venue is lost, or the failed download is tried again.
    mutating func retryPacket(_ id: VenueID, at now: Instant) -> Transition {
        let lostAt = (search.lastHeard(of: id) ?? now).advanced(by: settings.venueLostTimeout)
        if lostAt <= now { return loseVenue(at: now) }
        nextWake = lostAt
        guard let due = retryAt, due <= now else { return Transition(state: state) }
        retryAt = nil
        return Transition(state: state, directives: [.fetchPacket(id)])
    }

    /// The packet is there: begin to locate, with what was heard in the meantime.
    mutating func enter(_ venue: Venue, at now: Instant) -> Transition {
        backoff.reset()
        var visit = VenueVisit(venue: venue, belief: makeBelief(venue), settings: settings, since: now)
        for reading in recent.readings { visit.belief.observe(reading) }
        recent.clear()
        self.visit = visit
        nextWake = now
        let next = LocalizationState.findFloor(venue)
        let announcement: [Directive] = isFoundByGNSS ? [.announceVenue(venue)] : []
        return Transition(state: next, directives: announcement + [.publish(next)])
    }

    /// A tick while in a venue: update the belief, decide the floor, tell the position.
    mutating func locate(at now: Instant, isLast: Bool = false) -> Transition {
        guard let venue = visit?.venue, let since = visit?.since else { return Transition(state: state) }
        let heard = max(search.lastHeard(of: venue.id) ?? since, since)
        if heard.duration(to: now) >= settings.venueLostTimeout { return loseVenue(at: now) }
        // Moved out and back, not copied: the belief owns large buffers.
        guard var visit = visit.take() else { return Transition(state: state) }
        defer { self.visit = visit }
        visit.belief.advance(to: now)
        visit.floor.observe(visit.belief.mapProbabilities, at: now)
        nextWake = isLast ? nil : now.advanced(by: max(settings.positionInterval, .milliseconds(50)))
        guard let map = visit.floor.map else { return Transition(state: state) }
        if case .localizationRunning(let running) = state, running.mapID != map {
            nextWake = isLast ? nil : now
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
}
