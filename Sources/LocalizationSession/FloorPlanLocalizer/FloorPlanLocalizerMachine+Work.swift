import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

// From waitingForFix on: the session on the floor plan, and how old its news are.
extension FloorPlanLocalizerMachine {
    /// Takes in a place: before the session it is where that begins.
    mutating func submit(_ fix: Fix, at now: Instant) -> Transition {
        guard session != nil else {
            place = fix
            fixOutcome = .kept
            return Transition(state: state)
        }
        return work(.fix(fix), at: now)
    }

    /// Takes in what was sensed.
    mutating func observe(_ decoded: DecodedReading, _ delay: Duration, at now: Instant) -> Transition {
        let reading = decoded.reading
        guard session != nil else { return Transition(state: state) }  // of an earlier session
        // One that goes to all sessions on a radio, and is on another floor plan.
        if case .fix(let fix) = reading, fix.mapID != plan.mapID { return Transition(state: state) }
        switch reading {
        case .radio(let event):
            trouble = event.status.isFailure ? LocalizationError(event) : nil
        case .sighting, .advertisement: trouble = nil
        case .motion, .step, .pressure, .gnss, .fix: break  // of other senders: they say nothing of the radio
        }
        if isOfVenue(decoded) { news = ReadingAge(arrival: heardTime(at: now), delay: delay) }
        return work(.reading(decoded), at: now)
    }

    /// Whether the reading is of a beacon of the venue.
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

    /// Does what is due.
    mutating func tick(at now: Instant) -> Transition {
        session == nil ? retry(at: now) : work(.tick, at: now)
    }

    /// Hands an event to the session, answers what it asks for, and sees what state that is.
    mutating func work(_ event: Session.Event, at now: Instant) -> Transition {
        guard var session = session.take(), let preparation, let summary else { return Transition(state: state) }
        var told: [Directive] = []
        var positions: [Position] = []
        var failure: LocalizationError?
        var events = [event]
        while !events.isEmpty {
            for directive in session.handle(events.removeFirst(), at: now) {
                switch directive {
                case .startScanning: told.append(.startScanning)
                case .stopScanning: told.append(.stopScanning)
                case .schedule(let schedule): told.append(.schedule(schedule))
                case .emitEvent(let event): told.append(.emitEvent(event))
                case .emit(let position): positions.append(position)
                case .fetchCatalogue: events.append(.catalogue([summary]))
                case .fetchPacket(let id): events.append(.packet(id, preparation.venue))
                case .publish(.error(let error)): failure = error
                case .report(let error): told.append(.report(error))
                case .publish, .cancelFetch, .prepareBelief, .startReceiving, .emitOutdoor, .emitMotion, .announceVenue,
                    .emitInteraction:
                    break  // what this positioner tells in its own states, has, or has no use for
                }
            }
        }
        if case .fix = event { fixOutcome = session.fixOutcome }
        self.session = session
        return settle(told, positions, failure, at: now)
    }

    /// The state after the session has done its work; positions come after the state in which they are.
    private mutating func settle(
        _ told: [Directive], _ positions: [Position], _ failure: LocalizationError?, at now: Instant
    ) -> Transition {
        let isStale = news.map { $0.silence(at: heardTime(at: now)) >= heavy } ?? false
        let emitted = isStale ? [] : positions
        hasPosition = hasPosition || !emitted.isEmpty
        if !emitted.isEmpty { latency = news?.age(at: heardTime(at: now)) ?? .zero }
        let isOver = session?.isOver ?? true
        let next = isOver && !hasPosition ? state : workState(at: now)
        if next != .positioning, next != .buffering { latency = .zero }
        var directives: [Directive] = next == state ? [] : [.publish(next)]
        // Nothing is told twice: the state before the first position was published when the session began.
        if next == .waitingForFix, !isTrouble(state) { directives = [] }
        directives += emitted.map(Directive.emit) + told
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

    /// The present in time that was listened to, in which silence is counted.
    private func heardTime(at now: Instant) -> Instant { session?.listened.instant(at: now) ?? now }

    private var heavy: Duration { parameters?.heavyBufferingAfter ?? .zero }
    private var light: Duration { parameters?.bufferingAfter ?? .zero }

    private func workState(at now: Instant) -> FloorPlanLocalizerState {
        if let trouble { return .reconnecting(trouble) }
        guard hasPosition else { return .waitingForFix }
        // A session that began with a fix may have heard nothing yet.
        guard let news else { return .positioning }
        let present = heardTime(at: now)
        if news.silence(at: present) >= heavy { return .heavyBuffering }
        // What comes after such a silence is one reading: the next look tells whether it is enough.
        if state == .heavyBuffering || news.age(at: present) >= light { return .buffering }
        guard case .localizationRunning? = session?.state else { return .buffering }
        return .positioning
    }

    /// When the state will change if nothing more is heard.
    private func staleAt(in state: FloorPlanLocalizerState, at now: Instant) -> Instant? {
        guard let news, hasPosition else { return nil }
        let due = [light, heavy].compactMap { session?.listened.wake(at: news.arrival.advanced(by: $0)) }
        return state == .heavyBuffering || isTrouble(state) ? nil : due.first { $0 > now }
    }
}
