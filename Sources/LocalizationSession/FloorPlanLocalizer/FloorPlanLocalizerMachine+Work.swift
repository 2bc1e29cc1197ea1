import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

// The states from waitingForFix on: the session on the floor plan, and the age of its readings.
extension FloorPlanLocalizerMachine {
    /// Handles a submitted position. Before the session, it is the starting point.
    mutating func submit(_ fix: Fix, at now: Instant) -> Transition {
        guard session != nil else {
            place = fix
            fixOutcome = .kept
            return Transition(state: state)
        }
        return work(.fix(fix), at: now)
    }

    /// Handles a reading.
    mutating func observe(_ decoded: DecodedReading, _ delay: Duration, at now: Instant) -> Transition {
        let reading = decoded.reading
        guard session != nil else { return Transition(state: state) }  // of an earlier session
        // A fix that was submitted to all sessions of a radio may be on another floor plan.
        if case .fix(let fix) = reading, fix.mapID != plan.mapID { return Transition(state: state) }
        switch reading {
        case .radio(let event):
            trouble = event.status.isFailure ? LocalizationError(event) : nil
        case .sighting, .advertisement: trouble = nil
        case .motion, .step, .pressure, .gnss, .fix, .range: break  // of other senders: no information about the radio
        }
        // The session may not have advanced to the reading's arrival yet.
        let arrival = max(now, reading.instant.advanced(by: max(delay, .zero)))
        if isOfVenue(decoded) { latestAge = ReadingAge(arrival: heardTime(at: arrival), delay: delay) }
        return work(.reading(decoded), at: now)
    }

    /// Returns whether the reading comes from a beacon of the venue.
    private func isOfVenue(_ reading: DecodedReading) -> Bool {
        let sighting: Sighting
        switch reading.content {
        case .sighting(let heard): sighting = heard
        case .advertisement(let advertisement):
            return preparation?.addresses.knows(advertisement.address) == true
        case .rejected, .other: return false
        }
        guard let summary else { return false }
        if preparation?.addresses.knows(sighting.address) == true { return true }
        let (uuid, major) = (sighting.beacon.uuid, sighting.beacon.major)
        return summary.regions.contains(BeaconRegion(sighting.beacon))
            || summary.regions.contains(BeaconRegion(uuid: uuid, major: major))
            || summary.regions.contains(BeaconRegion(uuid: uuid))
    }

    /// Does the work that is due.
    mutating func tick(at now: Instant) -> Transition {
        session == nil ? retry(at: now) : work(.tick, at: now)
    }

    /// Passes an event to the session, answers the session's requests, and determines the new state.
    mutating func work(_ event: Session.Event, at now: Instant) -> Transition {
        guard var session = session.take(), let preparation, let summary else { return Transition(state: state) }
        var directives: [Directive] = []
        var positions: [Position] = []
        var failure: LocalizationError?
        var events = [event]
        while !events.isEmpty {
            for directive in session.handle(events.removeFirst(), at: now) {
                switch directive {
                case .startScanning: directives.append(.startScanning)
                case .stopScanning: directives.append(.stopScanning)
                case .schedule(let schedule): directives.append(.schedule(schedule))
                case .emitEvent(let event): directives.append(.emitEvent(event))
                case .emit(let position): positions.append(position)
                case .fetchCatalogue: events.append(.catalogue([summary]))
                case .fetchPacket(let id): events.append(.packet(id, preparation.venue))
                case .publish(.error(let error)): failure = error
                case .report(let error): directives.append(.report(error))
                case .publish, .cancelFetch, .prepareBelief, .startReceiving, .emitOutdoor, .emitMotion, .announceVenue,
                    .emitInteraction, .diagnose:
                    break  // covered by this machine's own states, already available, or unused
                }
            }
        }
        if case .fix = event { fixOutcome = session.fixOutcome }
        self.session = session
        return settle(directives, positions, failure, at: now)
    }

    /// Returns the state after the session's work, followed by the positions and the other directives.
    private mutating func settle(
        _ others: [Directive], _ positions: [Position], _ failure: LocalizationError?, at now: Instant
    ) -> Transition {
        let isStale = latestAge.map { $0.silence(at: heardTime(at: now)) >= heavy } ?? false
        let emitted = isStale ? [] : positions
        hasPosition = hasPosition || !emitted.isEmpty
        if !emitted.isEmpty { latency = latestAge?.age(at: heardTime(at: now)) ?? .zero }
        let isOver = session?.isOver ?? true
        let next = isOver && !hasPosition ? state : workState(at: now)
        if next != .positioning, next != .buffering { latency = .zero }
        var directives: [Directive] = next == state ? [] : [.publish(next)]
        // `waitingForFix` was published when the session began.
        if next == .waitingForFix, !isTrouble(state) { directives = [] }
        directives += emitted.map(Directive.emit) + others
        staleAt = staleAt(in: next, at: now)
        guard isOver else { return Transition(state: next, directives: directives) }
        // The session has reported the error already.
        let last = end(failure, at: now)
        return Transition(
            state: last.state, directives: directives + last.directives.filter { failure.map(Directive.report) != $0 })
    }

    private func isTrouble(_ state: FloorPlanLocalizerState) -> Bool {
        if case .reconnecting = state { true } else { false }
    }

    /// Returns the current listening time, which measures silence.
    private func heardTime(at now: Instant) -> Instant { session?.listened.instant(at: now) ?? now }

    private var heavy: Duration { parameters?.heavyBufferingAfter ?? .zero }
    private var light: Duration { parameters?.bufferingAfter ?? .zero }

    private func workState(at now: Instant) -> FloorPlanLocalizerState {
        if let trouble { return .reconnecting(trouble) }
        guard hasPosition else { return .waitingForFix }
        // A session that began with a fix may emit positions before it receives a reading.
        guard let latestAge else { return .positioning }
        let present = heardTime(at: now)
        if latestAge.silence(at: present) >= heavy { return .heavyBuffering }
        // After this silence, only one reading has arrived; the next update shows whether more follow.
        if state == .heavyBuffering || latestAge.age(at: present) >= light { return .buffering }
        guard case .localizationRunning? = session?.state else { return .buffering }
        return .positioning
    }

    /// Returns the instant at which the state changes if no further reading arrives.
    private func staleAt(in state: FloorPlanLocalizerState, at now: Instant) -> Instant? {
        guard let latestAge, hasPosition else { return nil }
        let due = [light, heavy].compactMap { session?.listened.wake(at: latestAge.arrival.advanced(by: $0)) }
        return state == .heavyBuffering || isTrouble(state) ? nil : due.first { $0 > now }
    }
}
