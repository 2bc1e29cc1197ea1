import IndoorPositioning
import IndoorVocabulary
import VenueModel

// Up to ready: connect, prepare, and what goes wrong with them.
extension FloorPlanLocalizerMachine {
    /// Goes as far as the caller wants, unless it is there or on the way already.
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
            return Transition(state: state)  // on the way, or beyond
        }
    }

    /// The venues are known; goes on if more is wanted.
    mutating func learn(_ venues: [VenueSummary], at now: Instant) -> Transition {
        guard summary == nil else { return Transition(state: state) }  // an answer that came twice
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

    /// The venue source tells more than it was asked for. A newer packet counts from the next preparation on.
    mutating func learn(_ update: VenueUpdate, at now: Instant) -> Transition {
        switch update {
        case .catalogue, .packet: return Transition(state: state)
        case .failure(let error) where error.endsSession: return end(error, at: now)
        case .failure(let error): return Transition(state: state, directives: [.report(error)])
        }
    }

    /// From connected on: fetches the packet if that is wanted.
    private mutating func load(at now: Instant) -> Transition {
        guard let goal, goal >= .ready else { return Transition(state: .connected) }
        let stack = (parameters ?? FloorPlanLocalizerParameters()).settings(settings, venue: plan.venueID)
        let problems = stack.resolved.localization.problems + (parameters?.problems ?? [])
        if let error = LocalizationError(settingsProblems: problems) { return end(error, at: now) }
        return Transition(state: .loading, directives: [.publish(.loading), .fetchPacket(plan.venueID)])
    }

    /// The packet is there: prepares the belief.
    mutating func prepare(_ venue: Venue, at now: Instant) -> Transition {
        guard summary != nil, preparation == nil else { return Transition(state: state) }  // an answer that came twice
        guard venue.id == plan.venueID, venue.map(plan.mapID) != nil else {
            let message =
                "the packet of venue \(venue.id) has no map \(plan.mapID) of the floor plan; fetch the plan anew"
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

    /// The belief is prepared; goes on if more is wanted.
    mutating func finish(
        _ work: BeliefPreparation, _ result: Result<Belief, LocalizationError>, at now: Instant
    ) -> Transition {
        guard summary != nil, preparation == nil else { return Transition(state: state) }  // a result that came twice
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

    /// From ready on: begins the session if that is wanted.
    private mutating func begin(at now: Instant) -> Transition {
        guard goal == .positioning, let preparation else { return Transition(state: .ready) }
        var session = Session(settings: preparation.settings, seed: seed, pace: pace) { _, _ in preparation.belief }
        _ = session.handle(.lockFloor(plan.mapID), at: now)
        if let earlierCalibration { _ = session.handle(.calibration(earlierCalibration), at: now) }
        if let place { _ = session.handle(.fix(place), at: now) }
        _ = session.handle(.monitor(.start(geofences.list)), at: now)
        place = nil
        self.session = session
        (trouble, news, hasPosition) = (nil, nil, false)
        let next = work(.start, at: now)
        // Told once the scan is on: who waits for this state misses nothing that is heard from then on.
        let waiting = [Directive.publish(.waitingForFix)]
        let directives = next.state == .waitingForFix ? next.directives + waiting : waiting + next.directives
        return Transition(state: next.state, directives: directives)
    }

    /// A request has failed: asks again after a pause, unless that is of no use.
    mutating func fail(_ error: LocalizationError, at now: Instant) -> Transition {
        guard !error.endsSession else { return end(error, at: now) }
        retryAt = now.advanced(by: backoff.next())
        return Transition(
            state: .reconnecting(error), directives: [.publish(.reconnecting(error)), .report(error)])
    }

    /// Asks again for what has failed.
    mutating func retry(at now: Instant) -> Transition {
        guard let due = retryAt, due <= now else { return Transition(state: state) }
        retryAt = nil
        guard summary != nil else { return Transition(state: state, directives: [.fetchCatalogue]) }
        return load(at: now)
    }

    /// The session is over, whatever there was of it.
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
        (retryAt, staleAt, trouble, news) = (nil, nil, nil, nil)
        hasPosition = false
        latency = .zero
        backoff.reset()
        return Transition(state: final, directives: directives)
    }
}
