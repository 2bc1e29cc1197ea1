import IndoorPositioning
import IndoorVocabulary
import VenueModel

// The states up to ready: connecting, preparing, and their failures.
extension FloorPlanLocalizerMachine {
    /// Proceeds towards the caller's goal, unless it is reached or in progress.
    mutating func pursue(_ wanted: Goal, with given: FloorPlanLocalizerParameters? = nil, at now: Instant) -> Transition
    {
        parameters = parameters ?? given
        goal = max(goal ?? wanted, wanted)
        switch state {
        case .stopped:
            return Transition(state: .connecting, directives: [.publish(.connecting), .fetchCatalogue])
        case .connected:
            return load(at: now)
        case .ready:
            return begin(at: now)
        case .connecting, .reconnecting, .loading, .waitingForFix, .positioning, .buffering, .heavyBuffering:
            return Transition(state: state)  // in progress, or past the goal
        }
    }

    /// Handles the catalogue of venues; continues if the goal isn't reached.
    mutating func learn(_ venues: [VenueSummary], at now: Instant) -> Transition {
        guard summary == nil else { return Transition(state: state) }  // a duplicate answer
        guard let known = venues.first(where: { $0.id == plan.venueID }) else {
            let message = "venue \(plan.venueID) of the floor plan is not among the source's venues; add its packet"
            return end(LocalizationError(code: .critical, message: message, kind: .contentUnavailable), at: now)
        }
        summary = known
        backoff.reset()
        retryAt = nil
        let next = load(at: now)
        return Transition(state: next.state, directives: [.publish(.connected)] + next.directives)
    }

    /// Handles an update that the venue source sent without a request. A newer packet takes effect with the next
    /// preparation.
    mutating func learn(_ update: VenueUpdate, at now: Instant) -> Transition {
        switch update {
        case .catalogue, .packet: return Transition(state: state)
        case .failure(let error) where error.endsSession: return end(error, at: now)
        case .failure(let error): return Transition(state: state, directives: [.report(error)])
        }
    }

    /// Fetches the packet if the goal requires it; otherwise, the state becomes `connected`.
    private mutating func load(at now: Instant) -> Transition {
        guard let goal, goal >= .ready else { return Transition(state: .connected) }
        let stack = (parameters ?? FloorPlanLocalizerParameters()).settings(settings, venue: plan.venueID)
        let problems = stack.resolved.localization.problems + (parameters?.problems ?? [])
        if let error = LocalizationError(settingsProblems: problems) { return end(error, at: now) }
        return Transition(state: .loading, directives: [.publish(.loading), .fetchPacket(plan.venueID)])
    }

    /// Handles the packet: prepares the belief.
    mutating func prepare(_ venue: Venue, at now: Instant) -> Transition {
        guard summary != nil, preparation == nil else { return Transition(state: state) }  // a duplicate answer
        guard venue.id == plan.venueID, venue.map(plan.mapID) != nil else {
            let message =
                "the packet of venue \(venue.id) has no map \(plan.mapID) of the floor plan; fetch the plan again"
            return end(LocalizationError(code: .critical, message: message, kind: .mapNotFound), at: now)
        }
        backoff.reset()
        retryAt = nil
        let stack = (parameters ?? FloorPlanLocalizerParameters()).settings(settings, venue: venue.id)
        let work = BeliefPreparation(
            venue: venue, settings: stack.resolved(in: venue).localization.positioning,
            mapID: plan.mapID)
        guard preparesApart else { return finish(work, work.run(makeBelief, makesTables: false), at: now) }
        return Transition(state: state, directives: [.prepareBelief(work)])
    }

    /// Handles the prepared belief; continues if the goal isn't reached.
    mutating func finish(
        _ work: BeliefPreparation, _ result: Result<Belief, LocalizationError>, at now: Instant
    ) -> Transition {
        guard summary != nil, preparation == nil else { return Transition(state: state) }  // a duplicate result
        var belief: Belief
        switch result {
        case .success(let made): belief = made
        case .failure(let error): return end(error, at: now)
        }
        let (venue, parameters) = (work.venue, parameters ?? FloorPlanLocalizerParameters())
        belief.lock(to: plan.mapID)
        preparation = Preparation(
            venue: venue, settings: parameters.settings(settings, venue: venue.id), belief: belief,
            addresses: KnownAddresses(of: venue))
        let next = begin(at: now)
        return Transition(state: next.state, directives: [.publish(.ready)] + next.directives)
    }

    /// Begins the session if positioning is the goal; otherwise, the state becomes `ready`.
    private mutating func begin(at now: Instant) -> Transition {
        guard goal == .positioning, let preparation else { return Transition(state: .ready) }
        var session = Session(settings: preparation.settings, seed: seed, pace: pace) { _, _ in preparation.belief }
        _ = session.handle(.lockFloor(plan.mapID), at: now)
        if let earlierCalibration { _ = session.handle(.calibration(earlierCalibration), at: now) }
        if let place { _ = session.handle(.fix(place), at: now) }
        _ = session.handle(.monitor(.start(geofences.list)), at: now)
        place = nil
        self.session = session
        (trouble, latestAge, hasPosition) = (nil, nil, false)
        let next = work(.start, at: now)
        // Published after the scan starts, so that a caller that waits for this state misses no later reading.
        let waiting = [Directive.publish(.waitingForFix)]
        let directives = next.state == .waitingForFix ? next.directives + waiting : waiting + next.directives
        return Transition(state: next.state, directives: directives)
    }

    /// Handles a failed request: schedules a retry, unless the error ends the session.
    mutating func fail(_ error: LocalizationError, at now: Instant) -> Transition {
        guard !error.endsSession else { return end(error, at: now) }
        retryAt = now.advanced(by: backoff.next())
        return Transition(
            state: .reconnecting(error), directives: [.publish(.reconnecting(error)), .report(error)])
    }

    /// Repeats the failed request when it is due.
    mutating func retry(at now: Instant) -> Transition {
        guard let due = retryAt, due <= now else { return Transition(state: state) }
        retryAt = nil
        guard summary != nil else { return Transition(state: state, directives: [.fetchCatalogue]) }
        return load(at: now)
    }

    /// Ends the session from any state.
    mutating func end(_ error: LocalizationError?, at now: Instant) -> Transition {
        var directives: [Directive] = [.cancelFetch]
        if session?.isOver == false {
            for directive in session?.handle(.stop, at: now) ?? [] {
                switch directive {
                case .stopScanning: directives.append(.stopScanning)
                case .emitEvent(let event): directives.append(.emitEvent(event))
                default: break
                }
            }
        }
        earlierCalibration = calibration
        let final = FloorPlanLocalizerState.stopped(error)
        directives.append(.publish(final))
        if let error { directives.append(.report(error)) }
        (goal, parameters, summary, preparation, session, place) = (nil, nil, nil, nil, nil, nil)
        (retryAt, staleAt, trouble, latestAge) = (nil, nil, nil, nil)
        hasPosition = false
        latency = .zero
        backoff.reset()
        return Transition(state: final, directives: directives)
    }
}
