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
    private typealias Driver = SessionDriver<LocalizationMachine<PositioningEngine>>
    private typealias Event = LocalizationMachine<PositioningEngine>.Event

    /// What ties the session, its recording and its log lines together: that of the session that is on, or else of the
    /// latest one; nil before the first.
    public private(set) var traceID: TraceID?
    private let traceIDs: @Sendable () -> TraceID

    private let source: any ScanSource
    /// Receives from satellites beside the source; nil on a recording, which has its own positions.
    private let gnss: (any GNSSSource)?
    private let venues: any VenueSource
    private var driver: Driver
    private var timeline: SessionTimeline
    /// Its number tells sessions apart, too.
    private var scan = CurrentTask()
    private var reception = CurrentTask()
    private var fetch = CurrentTask()
    private var updates = CurrentTask()
    private var alarm = SessionAlarm()
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
        self.source = source
        self.gnss = source.pace == .live ? gnss : nil
        self.eventHistory = eventHistory
        self.venues = venues
        timeline = SessionTimeline(clock, pace: source.pace)
        positionBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        outdoorBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        eventBroadcast = Broadcast(of: source.pace)
        interactionBroadcast = Broadcast(of: source.pace)
        motionBroadcast = MotionBroadcast(source.pace)
        driver = SessionDriver(
            LocalizationMachine(
                settings: settings, seed: seed, hasReceiver: self.gnss != nil, tellsMotion: true, preparesApart: true
            ) {
                PositioningEngine(venue: $0, tables: tables, settings: $1, seed: seed)
            })
        stateBroadcast.send(.idle)
        evaluationBroadcast.send(toldEvaluation)
        statusBroadcast.send(toldStatus)
    }

    /// What the session is doing now.
    public var state: LocalizationState { driver.machine.state }

    /// Where the device is at an instant of the source's time; nil while no floor is known.
    ///
    /// Up to 10 s after the latest position, the belief is carried on to that instant with all that was sensed since; the
    /// session itself stays as it is. Of the last half minute it is found between the positions around it. Earlier and
    /// later instants give nil.
    public func position(at instant: Instant) -> Position? { driver.machine.position(at: instant) }

    /// How a session was begun that ends with the requests for a position that want it.
    enum RequestedSession: Sendable {
        case begun
        case resumed
    }

    /// Begins a session; does nothing if one is on.
    ///
    /// With settings out of range, the session ends at once with a critical error that names them.
    public func start() async { await begin(with: .start) }

    /// Begins a session, which goes on with the last one's motion if it is resumed.
    func begin(with event: LocalizationMachine<PositioningEngine>.Event) async {
        isPaused = false
        sessionOfRequests = nil
        if state.isOver {
            timeline.begin()
            traceID = traceIDs()
            positionBroadcast.forget()
            outdoorBroadcast.forget()
            updates.follow(venues.updates, for: self) { await $0.learn($1, of: $2) }
        }
        await perform(driver.handle(event, at: timeline.now))
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
    public var settings: SettingsStack { driver.machine.stack }

    /// Makes other settings count, those that were applied. The venue's own stay beside them.
    ///
    /// Threshold, intervals and time-outs count at once, and so does the duty cycle of a steerable source; how the place,
    /// the floor and areas are found counts from the next venue on, and how venues are told apart from the next start on.
    /// With settings out of range, an error names them, and nothing is changed.
    public func setSettings(_ settings: SettingsStack) async {
        await perform(driver.handle(.settings(settings), at: timeline.now))
    }

    /// Ends the session: once this returns, nothing more is emitted until the next `start()`. What was emitted before
    /// may still wait in a subscriber's stream.
    public func stop() async {
        isPaused = false
        sessionOfRequests = nil
        await perform(driver.handle(.stop, at: timeline.now))
    }

    /// What was learned of the device so far, in this session or before; see `setCalibration(_:)`.
    public var calibration: Calibration { driver.machine.calibration ?? Calibration() }

    /// What is to be remembered now, for another session, in this process or a later one.
    ///
    /// At any time: before a session knows better, it is what that was given; once a session has ended, what it knew.
    public var memory: SessionMemory { driver.machine.memory(at: timeline.now) }

    /// How long ago the session was to wake up by itself, if it has not yet; zero if all that was due is done.
    package var delay: Duration {
        guard source.pace == .live, let wake = driver.machine.nextWake, let elapsed = timeline.elapsed else {
            return .zero
        }
        return max(.zero, elapsed - timeline.elapsed(at: wake))
    }

    /// The geofences that are watched, in the order in which they were started.
    public var monitoredGeofences: [Geofence] { driver.machine.monitoredGeofences }

    /// Hands over what somebody outside knows; returns what became of the latest fix.
    func guide(_ event: LocalizationMachine<PositioningEngine>.Event) async -> FixOutcome? {
        await perform(driver.handle(event, at: timeline.now))
        return driver.machine.fixOutcome
    }

    /// Whether the task of a sender still counts.
    private func isOn(_ sender: SessionTimeline.Sender, _ number: Int) -> Bool {
        switch sender {
        case .source: scan.isCurrent(number)
        case .receiver: reception.isCurrent(number)
        }
    }

    private func receive(_ reading: SensorReading, from sender: SessionTimeline.Sender, of number: Int) async {
        guard isOn(sender, number) else { return }
        activityCounts.note(reading)
        var reading = reading
        reading.instant = timeline.place(reading.instant, of: sender)
        driver.shift(by: timeline.align(to: reading.instant))
        while isOn(sender, number), let steps = driver.wake(before: reading.instant) { await perform(steps) }
        guard isOn(sender, number) else { return }
        await perform(driver.handle(.reading(reading), at: reading.instant))
    }

    /// A part of the source has failed, and the scan goes on.
    private func tell(_ error: LocalizationError, of number: Int) {
        guard scan.isCurrent(number) else { return }
        activityCounts.errors += 1
        errorBroadcast.send(error)
    }

    private func finishScan(_ error: (any Error)?, of number: Int) async {
        guard scan.isCurrent(number) else { return }
        guard let error else { return await close(.source, with: .sourceEnded, of: number) }
        // With a receiver beside it, a session can go on without a radio.
        let code = gnss == nil ? LocalizationError.Code.critical : .generic
        var failure = LocalizationError(reporting: error, code: code, "the scan failed")
        // Without readings no time passes on a recording: a pause before the next scan would never end.
        if source.pace == .recorded, !failure.endsSession { failure.code = .critical }
        await perform(driver.handle(.sourceFailed(failure), at: timeline.now))
    }

    private func finishReception(_ error: (any Error)?, of number: Int) async {
        guard reception.isCurrent(number) else { return }
        guard let error else { return await close(.receiver, with: .gnssEnded, of: number) }
        let failure = LocalizationError(reporting: error, code: .generic, "the satellite receiver failed")
        await perform(driver.handle(.gnssFailed(failure), at: timeline.now))
    }

    /// Nothing more comes from a sender: first what is due until then, so that its last readings count.
    private func close(_ sender: SessionTimeline.Sender, with event: Event, of number: Int) async {
        let end = timeline.now
        var rounds = 0
        while isOn(sender, number), rounds < 3, let steps = driver.wake(upTo: end) {
            await perform(steps)
            rounds += 1
        }
        guard isOn(sender, number) else { return }
        await perform(driver.handle(event, at: end))
    }

    /// An answer to a request that was replaced or cancelled counts no more.
    private func answer(_ answer: VenueAnswer, of number: Int) async {
        guard fetch.isCurrent(number) else { return }
        await perform(driver.handle(Event(answer), at: timeline.now))
    }

    private func learn(_ update: VenueUpdate, of number: Int) async {
        guard updates.isCurrent(number) else { return }
        await perform(driver.handle(.venues(update), at: timeline.now))
    }

    /// Asks the venue source; on a recording, time stands still until the answer is there.
    private func ask(_ request: VenueRequest) async {
        let task = fetch.ask(venues, request, for: self) { await $0.answer($1, of: $2) }
        if source.pace == .recorded { await task.value }
    }

    /// Prepares a belief off this actor; on a recording, time stands still until it is there.
    private func prepare(_ preparation: BeliefPreparation) async {
        let task = fetch.prepare(preparation, driver.machine.makeBelief, for: self) { shell, belief, number in
            guard shell.fetch.isCurrent(number) else { return }
            await shell.perform(shell.driver.handle(.prepared(preparation, belief), at: shell.timeline.now))
        }
        if source.pace == .recorded { await task.value }
    }

    private func wakeUp(_ number: Int) async {
        guard let wake = alarm.ring(number) else { return }
        await perform(driver.wake(upTo: wake) ?? [])
    }

    private func perform(_ steps: [Driver.Step]) async {
        let session = scan.number
        for step in steps {
            activityCounts.note(step.directive)
            switch step.directive {
            case .startScanning:
                scan.scan(source, for: self) {
                    await $0.receive($1, from: .source, of: $2)
                } report: {
                    $0.tell($1, of: $2)
                } finish: {
                    await $0.finishScan($1, of: $2)
                }
            case .startReceiving:
                guard let fixes = gnss?.fixes() else { continue }
                timeline.restart(.receiver)
                reception.follow(fixes, for: self) {
                    await $0.receive(.gnss($1), from: .receiver, of: $2)
                } finish: {
                    await $0.finishReception($1, of: $2)
                }
            case .stopScanning:
                scan.cancel()
                reception.cancel()
                updates.cancel()
            case .cancelFetch: fetch.cancel()
            case .fetchCatalogue:
                await ask(.catalogue)
                guard scan.isCurrent(session) else { return }  // stopped while it was loading
            case .fetchPacket(let id):
                await ask(.packet(id))
                guard scan.isCurrent(session) else { return }
            case .prepareBelief(let preparation):
                await prepare(preparation)
                guard scan.isCurrent(session) else { return }
            case .publish(let state):
                stateBroadcast.send(state)
                tellEvaluation(of: state)
            case .emit(let position): tell(.indoors(position), position, by: positionBroadcast)
            case .emitOutdoor(let position): tell(.outdoors(position), position, by: outdoorBroadcast)
            case .emitMotion(let news): motionBroadcast.send(news)
            case .emitEvent(let event):
                let event = event.timed(by: source.wallClock, at: timeline.ofSource(event.instant))
                eventHistory.append(event)
                eventBroadcast.send(event)
            case .emitInteraction(let event):
                let instant = timeline.ofSource(event.instant)
                interactionBroadcast.send(event.timed(by: source.wallClock, at: instant))
            case .announceVenue(let venue): venueBroadcast.send(venue)
            case .report(let error): errorBroadcast.send(error)
            case .schedule(let schedule):
                do { try source.keep(schedule) } catch { errorBroadcast.send(error) }
            }
        }
        tellStatus()
        tellEvaluation(of: toldEvaluation.state)
        alarm.set(to: driver.machine.nextWake, on: timeline, for: self) { await $0.wakeUp($1) }
    }
}

extension Localizer {
    private func tellEvaluation(of state: LocalizationState) {
        let detection = state.venueID == driver.machine.state.venueID ? driver.machine.detection : nil
        let evaluation = VenueEvaluation(state: state, detection: detection)
        if evaluation != toldEvaluation { evaluationBroadcast.send(evaluation) }
        toldEvaluation = evaluation
    }

    private func tell<Place: Sendable>(_ place: LocatedPlace, _ told: Place, by broadcast: Broadcast<Place>) {
        located = (place, timeline.elapsed)
        broadcast.send(told)
    }

    /// Time since a place was told: as the clock counts it, on a recording as its instants do.
    func age(of told: (place: LocatedPlace, elapsed: Duration?)) -> Duration {
        guard let then = told.elapsed, let now = timeline.elapsed else {
            return told.place.instant.duration(to: timeline.now)
        }
        return now - then
    }

    /// Returns when so much time has passed on the clock of a live source; nil on a recording, where only readings pass it.
    func alarm(after timeout: Duration) -> (@Sendable () async throws -> Void)? {
        guard let clock = timeline.clock else { return nil }
        let due = clock.elapsed() + timeout
        return { try await clock.sleep(until: due) }
    }

    private func tellStatus() {
        let status = driver.machine.serviceStatus
        if status != toldStatus { statusBroadcast.send(status) }
        toldStatus = status
    }
}

extension LocalizationMachine.Event {
    fileprivate init(_ answer: VenueAnswer) {
        self =
            switch answer {
            case .catalogue(let venues): .catalogue(venues)
            case .catalogueFailed(let error): .catalogueFailed(error)
            case .progress(let id, let fraction): .progress(id, fraction)
            case .packet(let id, let venue): .packet(id, venue)
            case .packetFailed(let id, let error): .packetFailed(id, error)
            }
    }
}
