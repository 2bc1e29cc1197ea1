import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// Tells where the device is indoors: the object that users hold.
///
///     let localizer = Localizer(source: radio, venues: packets)
///     let positions = localizer.positions
///     await localizer.start()
///     for await position in positions { print(position.x, position.y, position.label ?? "") }
///
/// It turns what the source delivers into events of a `LocalizationMachine` and carries out its directives; it decides
/// nothing itself. Any number of localizers can run side by side.
public actor Localizer {
    /// What ties the session, its recording and its log lines together: that of the session that is on, or else of the
    /// latest one; nil before the first.
    public private(set) var traceID: TraceID?
    private let traceIDs: @Sendable () -> TraceID

    package var runtime: SessionRuntime<LocalizationMachine<PositioningEngine>>
    /// How many requests for a position wait.
    var requests = 0
    /// Nil if somebody else than a request began the session.
    var sessionOfRequests: RequestedSession?
    /// Whether a session was paused that `resume()` goes on with.
    public internal(set) var isPaused = false
    /// Rooms and fences entered and left so far, also in earlier sessions, whether anybody listened or not.
    public internal(set) var eventHistory: EventHistory
    /// What was counted since this localizer was created, over all its sessions.
    public private(set) var activityCounts = ActivityCounts()

    nonisolated let stateBroadcast = Broadcast<LocalizationState>(.unbounded, replaysLatest: true)
    nonisolated let evaluationBroadcast = Broadcast<VenueEvaluation>(.unbounded, replaysLatest: true)
    private var toldEvaluation = VenueEvaluation(state: .idle)
    nonisolated let statusBroadcast = Broadcast<ServiceStatus>(.unbounded, replaysLatest: true)
    private var toldStatus = ServiceStatus.stopped
    /// The place that was told last, in this session or before, and the clock's time then.
    private(set) var located: (place: LocatedPlace, elapsed: Duration?)?
    nonisolated let positionBroadcast: Broadcast<Position>
    nonisolated let outdoorBroadcast: Broadcast<OutdoorPosition>
    nonisolated let motionBroadcast: MotionBroadcast
    nonisolated let venueBroadcast = Broadcast<Venue>(.bufferingNewest(16))
    nonisolated let eventBroadcast: Broadcast<LocalizationEvent>
    nonisolated let interactionBroadcast: Broadcast<InteractionEvent>
    nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    nonisolated let outputBroadcast: Broadcast<SessionOutput>

    /// Creates an idle localizer.
    ///
    /// - Parameters:
    ///   - source: what the device senses.
    ///   - gnss: receives from satellites beside a live source; nil for none. A recording has its satellite positions
    ///     among its readings, and nothing is received beside it.
    ///   - venues: where venue packets come from.
    ///   - settings: of the session.
    ///   - clock: passes the time between readings of a live source.
    ///   - seed: of all that is random; on a recording, equal seeds give equal positions.
    ///   - eventHistory: what happened before, and how many events are kept.
    ///   - tables: shared with the other sessions of the program that are given the same object.
    ///   - traceIDs: makes the ID of each session as it begins; by default a random one. Positions don't depend on it.
    public init(
        source: some ScanSource, gnss: (any GNSSSource)? = nil, venues: some VenueSource,
        settings: LocalizationSettings = LocalizationSettings(), clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = 0, eventHistory: EventHistory = EventHistory(), tables: SharedTables = SharedTables(),
        traceIDs: @escaping @Sendable () -> TraceID = { TraceID() }
    ) {
        self.init(
            source: source, gnss: gnss, venues: venues, settings: SettingsStack(localization: settings), clock: clock,
            seed: seed, eventHistory: eventHistory, tables: tables, traceIDs: traceIDs)
    }

    /// Creates an idle localizer with settings of several sources, of which each venue is one.
    public init(
        source: some ScanSource, gnss: (any GNSSSource)? = nil, venues: some VenueSource, settings: SettingsStack,
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = 0, eventHistory: EventHistory = EventHistory(),
        tables: SharedTables = SharedTables(), traceIDs: @escaping @Sendable () -> TraceID = { TraceID() }
    ) {
        self.traceIDs = traceIDs
        self.eventHistory = eventHistory
        positionBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        outdoorBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        eventBroadcast = Broadcast(of: source.pace)
        interactionBroadcast = Broadcast(of: source.pace)
        motionBroadcast = MotionBroadcast(source.pace)
        outputBroadcast = Broadcast(of: source.pace)
        // A recording has its own satellite positions.
        let gnss = source.pace == .live ? gnss : nil
        let machine = LocalizationMachine(
            settings: settings, seed: seed, pace: source.pace, hasReceiver: gnss != nil, tellsMotion: true,
            preparesApart: true
        ) {
            PositioningEngine(venue: $0, tables: tables, settings: $1, seed: seed)
        }
        runtime = SessionRuntime(machine, source: source, gnss: gnss, venues: venues, clock: clock)
        stateBroadcast.send(.idle)
        evaluationBroadcast.send(toldEvaluation)
        statusBroadcast.send(toldStatus)
    }

    /// What the session is doing now.
    public var state: LocalizationState { runtime.driver.machine.state }

    /// Where the device is at an instant of the source's time; nil while no floor is known.
    ///
    /// Up to 10 s after the latest position, the belief is carried on to that instant with all that was sensed since; the
    /// session itself stays as it is. Of the last half minute it is found between the positions around it. Earlier and
    /// later instants give nil.
    public func position(at instant: Instant) -> Position? { runtime.driver.machine.position(at: instant) }

    /// How a session was begun that ends with the requests for a position that want it.
    enum RequestedSession: Sendable {
        case begun
        case resumed
    }

    /// Begins a session; does nothing if one is on.
    ///
    /// With settings out of range, the session ends at once with a critical error that names them.
    public func start() async { await beginSession(with: .start) }

    /// Begins a session, which goes on with the last one's motion if it is resumed.
    func beginSession(with event: LocalizationMachine<PositioningEngine>.Event) async {
        isPaused = false
        sessionOfRequests = nil
        if state.isOver {
            traceID = traceIDs()
            positionBroadcast.forget()
            outdoorBroadcast.forget()
        }
        await begin(with: event)
    }

    /// Chooses between the best positions and less power, whatever the settings are.
    ///
    /// How often positions are told and how much the radio listens changes at once, the number of particles and the motion
    /// model with the next venue. `setSettings(_:)` replaces it by the ``SettingsStack/desiredAccuracy`` of its stack.
    public func setDesiredAccuracy(_ accuracy: DesiredAccuracy) async {
        var stack = settings
        stack.desiredAccuracy = accuracy
        await setSettings(stack)
    }

    /// How much power positions may cost.
    public var desiredAccuracy: DesiredAccuracy { settings.desiredAccuracy }

    /// What counts now, and where each value comes from: the venue that the device is in is one of the sources.
    public var settings: SettingsStack { runtime.driver.machine.stack }

    /// Makes other settings count, those that were applied. The venue's own stay beside them.
    ///
    /// Threshold, intervals and time-outs count at once, and so does the duty cycle of a steerable source; how the place,
    /// the floor and areas are found counts from the next venue on, and how venues are told apart from the next start on.
    /// With settings out of range, an error names them, and nothing is changed.
    public func setSettings(_ settings: SettingsStack) async {
        await handle(.settings(settings))
    }

    /// Ends the session: once this returns, nothing more is emitted until the next `start()`. What was emitted before
    /// may still wait in a subscriber's stream.
    public func stop() async {
        isPaused = false
        sessionOfRequests = nil
        await handle(.stop)
    }

    /// What was learned of the device so far, in this session or before; see `setCalibration(_:)`.
    public var calibration: Calibration { runtime.driver.machine.calibration ?? Calibration() }

    /// The session memory now, for another session, in this process or a later one: see `restore(_:after:)`.
    ///
    /// At any time: before a session knows better, it is what that was given; once a session has ended, what it knew.
    public var memory: SessionMemory { runtime.driver.machine.memory(at: runtime.timeline.now) }

    /// How long ago the session was to wake up by itself, if it has not yet; zero if all that was due is done.
    package var delay: Duration {
        guard let wake = runtime.driver.machine.nextWake, let elapsed = runtime.timeline.elapsed else { return .zero }
        return max(.zero, elapsed - runtime.timeline.elapsed(at: wake))
    }

    /// The geofences that are watched, in the order in which they were started.
    public var monitoredGeofences: [Geofence] { runtime.driver.machine.monitoredGeofences }

    /// Hands over what somebody outside knows; returns what became of the latest fix.
    func guide(_ event: LocalizationMachine<PositioningEngine>.Event) async -> FixOutcome? {
        await handle(event)
        return runtime.driver.machine.fixOutcome
    }
}

extension Localizer: SessionShell {
    package func note(_ reading: DecodedReading) { activityCounts.note(reading) }

    package func note(_ directive: LocalizationMachine<PositioningEngine>.Directive) { activityCounts.note(directive) }

    package func emit(_ output: SessionDriver<LocalizationMachine<PositioningEngine>>.Step) {
        if case .emitMotion(let update) = output.directive { motionBroadcast.send(update) }
        guard let content = SessionOutput.Content(output.directive) else { return }
        emit(content.timed(by: runtime.source.wallClock, at: runtime.timeline.ofSource), at: output.instant)
    }

    package func emit(_ error: LocalizationError) {
        activityCounts.errors += 1
        emit(.error(error), at: runtime.timeline.now)
    }

    package func settle() {
        tellStatus()
        tellEvaluation(of: toldEvaluation.state)
    }

    private func emit(_ content: SessionOutput.Content, at instant: Instant) {
        switch content {
        case .state(let state):
            stateBroadcast.send(state)
            tellEvaluation(of: state)
        case .position(let position):
            located = (.indoors(position), runtime.timeline.elapsed)
            positionBroadcast.send(position)
        case .outdoorPosition(let position):
            located = (.outdoors(position), runtime.timeline.elapsed)
            outdoorBroadcast.send(position)
        case .motion: break  // among the updates of motion
        case .event(let event):
            eventHistory.append(event)
            eventBroadcast.send(event)
        case .interaction(let event): interactionBroadcast.send(event)
        case .downloadedVenue(let venue): venueBroadcast.send(venue)
        case .error(let error): errorBroadcast.send(error)
        }
        outputBroadcast.send(SessionOutput(instant: instant, content: content))
    }
}

extension Localizer {
    private func tellEvaluation(of state: LocalizationState) {
        let detection = state.venueID == runtime.driver.machine.state.venueID ? runtime.driver.machine.detection : nil
        let evaluation = VenueEvaluation(state: state, detection: detection)
        if evaluation != toldEvaluation { evaluationBroadcast.send(evaluation) }
        toldEvaluation = evaluation
    }

    /// Time since a place was told: as the clock counts it, on a recording as its instants do.
    func age(of told: (place: LocatedPlace, elapsed: Duration?)) -> Duration {
        guard let then = told.elapsed, let now = runtime.timeline.elapsed else {
            return told.place.instant.duration(to: runtime.timeline.now)
        }
        return now - then
    }

    /// Returns when so much time has passed on the clock of a live source; nil on a recording, where only readings pass it.
    func alarm(after timeout: Duration) -> (@Sendable () async throws -> Void)? {
        guard let clock = runtime.timeline.clock else { return nil }
        let due = clock.elapsed() + timeout
        return { try await clock.sleep(until: due) }
    }

    private func tellStatus() {
        let status = runtime.driver.machine.serviceStatus
        if status != toldStatus { statusBroadcast.send(status) }
        toldStatus = status
    }
}
