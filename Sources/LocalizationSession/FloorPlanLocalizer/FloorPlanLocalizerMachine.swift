import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The state machine of a floor plan localizer, without I/O: events in, directives out, time as an argument.
///
/// It contains the machine of a `Localizer`, with the venue of the floor plan forced and its floor locked. That machine
/// keeps fixes and geofences from the beginning, and runs from `start` on: this one fetches its data beforehand and
/// answers its requests at once. In a venue with one floor, both therefore give the same positions.
package struct FloorPlanLocalizerMachine<Belief: PositioningBelief>: Sendable {
    package typealias Session = LocalizationMachine<Belief>

    /// An input of the machine.
    package enum Event: Sendable {
        case connect
        case prepare(FloorPlanLocalizerParameters)
        case start(FloorPlanLocalizerParameters)
        case stop
        /// The caller submits a position on the floor plan.
        case fix(Fix)
        /// The calibration of the device from an earlier session.
        case calibration(Calibration)
        /// The caller changes the monitored geofences.
        case monitor(GeofenceChange)
        case catalogue([VenueSummary])
        case catalogueFailed(LocalizationError)
        /// The fraction of the packet that has arrived.
        case progress(Double)
        case packet(Venue)
        case packetFailed(LocalizationError)
        /// The result of the work of a `prepareBelief` directive.
        case prepared(BeliefPreparation, Result<Belief, LocalizationError>)
        /// The venue source sends an update without a request.
        case venues(VenueUpdate)
        /// The source delivered a reading, with this delay since its measurement.
        case reading(DecodedReading, delay: Duration)
        case sourceEnded
        case sourceFailed(any Error)
        case tick
    }

    /// Work for the shell, in order.
    package enum Directive: Hashable, Sendable {
        case fetchCatalogue
        case fetchPacket(VenueID)
        /// Do this work outside the actor, instead of any fetch, and return its result as `prepared`.
        ///
        /// Indirect, because a venue is large.
        indirect case prepareBelief(BeliefPreparation)
        /// Cancel any fetch or preparation.
        case cancelFetch
        case startScanning
        case stopScanning
        case schedule(ScanSchedule)
        case publish(FloorPlanLocalizerState)
        case emitProgress(Double)
        case emit(Position)
        case emitEvent(LocalizationEvent)
        case report(LocalizationError)
    }

    /// The step that the caller wants to reach.
    enum Goal: Int, Comparable, Sendable {
        case connected, ready, positioning
        static func < (left: Goal, right: Goal) -> Bool { left.rawValue < right.rawValue }
    }

    /// A new state and its directives.
    struct Transition {
        var state: FloorPlanLocalizerState
        var directives: [Directive] = []
    }

    /// The fetched venue and the belief prepared from it.
    struct Preparation: Sendable {
        let venue: Venue
        let settings: SettingsStack
        let belief: Belief
        let addresses: KnownAddresses
    }

    /// The current state.
    package private(set) var state = FloorPlanLocalizerState.stopped(nil)
    let plan: FloorPlan
    let settings: LocalizationSettings
    let pace: ScanPace
    /// Creates the belief for the venue.
    package let makeBelief: @Sendable (Venue, PositioningSettings) -> Belief
    /// Whether the shell prepares beliefs outside the actor; otherwise the machine does it in `handle`.
    let preparesApart: Bool
    var goal: Goal?
    /// The parameters of the preparation; nil until the caller sets them.
    package internal(set) var parameters: FloorPlanLocalizerParameters?
    /// The venue's entry in the catalogue; nil before the catalogue arrives.
    var summary: VenueSummary?
    var preparation: Preparation?
    /// The session on the floor plan; idle before it is started.
    var session: Session
    var backoff: Backoff
    /// The instant of the next retry; nil if no request has failed.
    var retryAt: Instant?
    /// The instant at which the latest reading becomes too old for the state; nil if its age can't change the state.
    var staleAt: Instant?
    /// The error that stops the radio's reception; nil without one.
    var trouble: LocalizationError?
    var hasPosition = false
    /// The age of the latest reading from the venue, in listening time; nil before the first one.
    var latestAge: ReadingAge?
    /// The time from the latest reception to the position computed from it; zero while there are no positions.
    package var latency = Duration.zero
    /// The calibration of the device from earlier sessions; nil without one.
    var earlierCalibration: Calibration?

    /// Creates a stopped machine.
    ///
    /// - Parameters:
    ///   - plan: the plan of the floor.
    ///   - settings: the settings that the parameters override.
    ///   - seed: the seed of the retry jitter.
    ///   - pace: the pace of the source.
    ///   - preparesApart: whether the shell prepares beliefs outside the actor, on a `prepareBelief` directive.
    ///   - makeBelief: creates the belief for the venue.
    package init(
        plan: FloorPlan, settings: LocalizationSettings, seed: UInt64, pace: ScanPace = .live,
        preparesApart: Bool = false,
        makeBelief: @escaping @Sendable (Venue, PositioningSettings) -> Belief
    ) {
        self.plan = plan
        self.settings = settings
        self.pace = pace
        self.makeBelief = makeBelief
        self.preparesApart = preparesApart
        backoff = Backoff(first: settings.retryPause, seed: seed)
        session = Session(
            settings: SettingsStack(localization: settings), seed: seed, pace: pace, preparesApart: true,
            makeBelief: makeBelief)
        _ = session.handle(.lockFloor(plan.mapID), at: .zero)
    }

    /// Whether the caller has started the session.
    var isBegun: Bool { goal == .positioning && preparation != nil }
    /// The current calibration of the device; nil without one.
    package var calibration: Calibration? { isBegun ? session.calibration ?? earlierCalibration : earlierCalibration }
    /// The outcome of the latest fix.
    package var fixOutcome: FixOutcome? { session.fixOutcome }

    /// Handles an event and returns the directives for the shell.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        let transition = transition(on: event, at: now)
        state = transition.state
        return transition.directives
    }

    private mutating func transition(on event: Event, at now: Instant) -> Transition {
        switch event {
        case .connect: return pursue(.connected, at: now)
        case .prepare(let given): return pursue(.ready, with: given, at: now)
        case .start(let given): return pursue(.positioning, with: given, at: now)
        case .stop: return state.isStopped ? Transition(state: state) : end(nil, at: now)
        case .fix(let fix): return submit(fix, at: now)
        case .calibration(let calibration):
            earlierCalibration = calibration
            return Transition(state: state)
        case .monitor(let change):
            _ = session.handle(.monitor(change), at: now)
            return Transition(state: state)
        case _ where state.isStopped:
            return Transition(state: state)  // late answers to a session that is over
        case .catalogue(let venues): return learn(venues, at: now)
        case .catalogueFailed(let error):
            return summary == nil ? fail(error, at: now) : Transition(state: state)
        case .progress(let fraction): return Transition(state: state, directives: [.emitProgress(fraction)])
        case .packet(let venue): return prepare(venue, at: now)
        case .prepared(let work, let result): return finish(work, result, at: now)
        case .packetFailed(let error):
            return preparation == nil ? fail(error, at: now) : Transition(state: state)
        case .venues(let update): return learn(update, at: now)
        case .reading(let reading, let delay): return observe(reading, delay, at: now)
        case .sourceEnded: return work(.sourceEnded, at: now)
        case .sourceFailed(let error):
            let failure = LocalizationError(endOfScan: error, pace: pace, isOnlySender: true)
            if !failure.endsSession { trouble = failure }
            return work(.sourceFailed(failure), at: now)
        case .tick: return tick(at: now)
        }
    }
}

extension FloorPlanLocalizerMachine: SessionMachine {
    package static var tick: Event { .tick }
    package var isOver: Bool { state.isStopped }

    package var nextWake: Instant? { [session.nextWake, retryAt, staleAt].compactMap(\.self).min() }

    package mutating func shift(by duration: Duration) {
        session.shift(by: duration)
        retryAt = retryAt?.advanced(by: duration)
        staleAt = staleAt?.advanced(by: duration)
    }

    package static func delivered(_ reading: DecodedReading, delay: Duration) -> Event {
        .reading(reading, delay: delay)
    }
    package static func updated(_ update: VenueUpdate) -> Event { .venues(update) }

    /// Returns the event of the end of the source, which is the only sender.
    package static func ended(_ sender: SessionTimeline.Sender, _ error: (any Error)?) -> Event {
        error.map(Event.sourceFailed) ?? .sourceEnded
    }

    package static func answered(_ answer: VenueAnswer) -> Event {
        switch answer {
        case .catalogue(let venues): .catalogue(venues)
        case .catalogueFailed(let error): .catalogueFailed(error)
        case .progress(_, let fraction): .progress(fraction)
        case .packet(_, let venue): .packet(venue)
        case .packetFailed(_, let error): .packetFailed(error)
        }
    }

    package func work(for directive: Directive) -> SessionWork<Event>? {
        switch directive {
        case .startScanning: .startScanning
        case .stopScanning: .stopScanning
        case .fetchCatalogue: .fetch(.catalogue)
        case .fetchPacket(let id): .fetch(.packet(id))
        case .prepareBelief(let preparation):
            .prepare { [makeBelief] in .prepared(preparation, preparation.run(makeBelief)) }
        case .cancelFetch: .cancelFetch
        case .schedule(let schedule): .keep(schedule)
        case .publish, .emitProgress, .emit, .emitEvent, .report: nil
        }
    }
}

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
        if let earlierCalibration { _ = session.handle(.calibration(earlierCalibration), at: now) }
        (trouble, latestAge, hasPosition) = (nil, nil, false)
        let next = work(.settings(preparation.settings), .start, at: now)
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
        if !session.isOver {
            for directive in session.handle(.stop, at: now) {
                switch directive {
                case .stopScanning: directives.append(.stopScanning)
                case .emitEvent(let event): directives.append(.emitEvent(event))
                default: break
                }
            }
        }
        earlierCalibration = calibration
        session.initialFix = nil
        let final = FloorPlanLocalizerState.stopped(error)
        directives.append(.publish(final))
        if let error { directives.append(.report(error)) }
        (goal, parameters, summary, preparation) = (nil, nil, nil, nil)
        (retryAt, staleAt, trouble, latestAge) = (nil, nil, nil, nil)
        hasPosition = false
        latency = .zero
        backoff.reset()
        return Transition(state: final, directives: directives)
    }
}

// The states from waitingForFix on: the session on the floor plan, and the age of its readings.
extension FloorPlanLocalizerMachine {
    /// Handles a submitted position. Before the session, it is the starting point.
    mutating func submit(_ fix: Fix, at now: Instant) -> Transition {
        guard !isBegun else { return work(.fix(fix), at: now) }
        _ = session.handle(.fix(fix), at: now)
        return Transition(state: state)
    }

    /// Handles a reading.
    mutating func observe(_ decoded: DecodedReading, _ delay: Duration, at now: Instant) -> Transition {
        let reading = decoded.reading
        guard isBegun else { return Transition(state: state) }  // of an earlier session
        // A fix that was submitted to all sessions of a radio may be on another floor plan.
        if case .fix(let fix) = reading, fix.mapID != plan.mapID { return Transition(state: state) }
        switch reading {
        case .radio(let event):
            trouble = event.status.isFailure ? LocalizationError(event) : nil
        case .sighting, .advertisement: trouble = nil
        case .motion, .step, .pressure, .gnss, .fix, .range: break  // of other senders: no information about the radio
        }
        // The session may not have advanced to the reading's arrival yet. After a longer delay, it has, unless the
        // source's clock stood still: then the sum would be far in the future.
        let believed = min(max(delay, .zero), SessionTimeline.longestDelay)
        let arrival = max(now, reading.instant.advanced(by: believed))
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
        isBegun ? work(.tick, at: now) : retry(at: now)
    }

    /// Passes events to the session, answers the session's requests, and determines the new state.
    mutating func work(_ events: Session.Event..., at now: Instant) -> Transition {
        guard isBegun, let preparation, let summary else { return Transition(state: state) }
        var directives: [Directive] = []
        var positions: [Position] = []
        var failure: LocalizationError?
        var events = events
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
                case .prepareBelief(let work): events.append(.prepared(work, .success(preparation.belief)))
                case .publish(.error(let error)): failure = error
                case .report(let error): directives.append(.report(error))
                case .publish, .cancelFetch, .startReceiving, .emitOutdoor, .emitMotion, .announceVenue,
                    .emitInteraction, .diagnose, .emitLevels:
                    break  // covered by this machine's own states, already available, or unused
                }
            }
        }
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
        let isOver = session.isOver
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
    private func heardTime(at now: Instant) -> Instant { session.listened.instant(at: now) }

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
        guard case .localizationRunning = session.state else { return .buffering }
        return .positioning
    }

    /// Returns the instant at which the state changes if no further reading arrives.
    private func staleAt(in state: FloorPlanLocalizerState, at now: Instant) -> Instant? {
        guard let latestAge, hasPosition else { return nil }
        let due = [light, heavy].compactMap { session.listened.wake(at: latestAge.arrival.advanced(by: $0)) }
        return state == .heavyBuffering || isTrouble(state) ? nil : due.first { $0 > now }
    }
}

/// The age of the latest radio reading: its arrival and its delivery delay.
struct ReadingAge: Hashable, Sendable {
    /// The instant at which the reading arrived.
    private(set) var arrival: Instant
    /// The time between reception and arrival.
    private(set) var delay: Duration

    /// Creates the age of a reading.
    init(arrival: Instant, delay: Duration) {
        self.arrival = arrival
        self.delay = max(delay, .zero)
    }

    /// Returns the time since the arrival.
    func silence(at now: Instant) -> Duration { max(arrival.duration(to: now), .zero) }

    /// Returns the time since the reception.
    func age(at now: Instant) -> Duration { silence(at: now) + delay }
}
