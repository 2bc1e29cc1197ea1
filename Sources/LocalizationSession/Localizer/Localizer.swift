import BeaconScanning
import IndoorPositioning
import IndoorRouting
import IndoorVocabulary
import VenueModel

/// An indoor positioning session: the main object of this library.
///
///     let localizer = Localizer(source: radio, venues: packets)
///     let positions = localizer.positions
///     await localizer.start()
///     for await position in positions { print(position.x, position.y, position.label ?? "") }
///
/// A localizer reads a scan source, identifies the venue and the floor, and emits positions and events as asynchronous
/// streams. Any number of localizers can run at the same time. All decisions are made by a `LocalizationMachine`, whose
/// directives the localizer carries out.
public actor Localizer {
    /// The identifier that links the session, its recording and its log lines; nil before the first session.
    ///
    /// While no session is running, this is the identifier of the latest one.
    public private(set) var traceID: TraceID?
    private let traceIDs: @Sendable () -> TraceID

    package var runtime: SessionRuntime<LocalizationMachine<PositioningEngine>>
    /// The number of pending location requests.
    var requests = 0
    /// How a location request began the session; nil if the caller began it.
    var sessionOfRequests: RequestedSession?
    /// Whether a session is paused; ``resume()`` continues it.
    public internal(set) var isPaused = false
    /// The rooms and fences that the device has entered and left, in this and earlier sessions.
    ///
    /// The history contains all events, with or without subscribers.
    public internal(set) var eventHistory: EventHistory
    /// The activity counters over all sessions of this localizer.
    public private(set) var activityCounts = ActivityCounts()

    nonisolated let stateBroadcast: Broadcast<LocalizationState>
    /// The same states with their instants, for ``visits``.
    nonisolated let datedStateBroadcast: Broadcast<DatedState>
    nonisolated let evaluationBroadcast: Broadcast<VenueEvaluation>
    private var publishedEvaluation = VenueEvaluation(state: .idle)
    nonisolated let statusBroadcast: Broadcast<ServiceStatus>
    private var publishedStatus = ServiceStatus.stopped
    nonisolated let diagnosisBroadcast = Broadcast<SessionDiagnosis>(.bufferingNewest(256), replaysLatest: true)
    private var publishedReason = SessionDiagnosis.Reason.notRunning
    /// The latest published place, of this or an earlier session, and the clock's time at its publication.
    private(set) var located: (place: LocatedPlace, elapsed: Duration?)?
    nonisolated let positionBroadcast: Broadcast<Position>
    nonisolated let outdoorBroadcast: Broadcast<OutdoorPosition>
    nonisolated let motionBroadcast: MotionBroadcast
    /// The calibration's quality at each time when it can have changed, only while there are subscribers.
    nonisolated let qualityBroadcast: Broadcast<Calibration.Quality>
    nonisolated let levelBroadcast = Broadcast<VenueLevels>(.bufferingNewest(256))
    nonisolated let venueBroadcast = Broadcast<Venue>(.bufferingNewest(16))
    nonisolated let eventBroadcast: Broadcast<LocalizationEvent>
    nonisolated let interactionBroadcast: Broadcast<InteractionEvent>
    nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    nonisolated let outputBroadcast: Broadcast<SessionOutput>
    /// The counts of the elements in streams that are derived from others, such as the visits.
    nonisolated let derivedElements = DerivedElements()

    /// Creates an idle localizer.
    ///
    /// - Parameters:
    ///   - source: the source of the readings.
    ///   - gnss: the satellite receiver; nil for none. A localizer uses it with a live source only, because the
    ///     readings of a recording contain the satellite positions.
    ///   - venues: the source of the venue packets.
    ///   - settings: the settings of the session.
    ///   - clock: the clock that measures the time between readings of a live source.
    ///   - seed: the seed of the random numbers; on a recording, the same seed gives the same positions.
    ///   - eventHistory: the earlier events, and the greatest number of events to keep.
    ///   - tables: the tables to share with other sessions that have the same object.
    ///   - traceIDs: creates the identifier of each session, by default a random one. Positions don't depend on it.
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

    /// Creates an idle localizer with settings from several sources; each venue is one of them.
    public init(
        source: some ScanSource, gnss: (any GNSSSource)? = nil, venues: some VenueSource, settings: SettingsStack,
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = 0, eventHistory: EventHistory = EventHistory(),
        tables: SharedTables = SharedTables(), traceIDs: @escaping @Sendable () -> TraceID = { TraceID() }
    ) {
        self.traceIDs = traceIDs
        self.eventHistory = eventHistory
        stateBroadcast = Broadcast(of: source.pace, replaysLatest: true)
        datedStateBroadcast = Broadcast(of: source.pace, replaysLatest: true)
        evaluationBroadcast = Broadcast(of: source.pace, replaysLatest: true)
        statusBroadcast = Broadcast(of: source.pace, replaysLatest: true)
        positionBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        outdoorBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        eventBroadcast = Broadcast(of: source.pace)
        interactionBroadcast = Broadcast(of: source.pace)
        motionBroadcast = MotionBroadcast(source.pace)
        qualityBroadcast = Broadcast(of: source.pace)
        outputBroadcast = Broadcast(of: source.pace)
        // A recording has its own satellite positions.
        let gnss = source.pace == .live ? gnss : nil
        let machine = LocalizationMachine(
            settings: settings, seed: seed, pace: source.pace, hasReceiver: gnss != nil, reportsMotion: true,
            reportsDiagnosis: true, preparesApart: true
        ) {
            PositioningEngine(venue: $0, tables: tables, settings: $1, seed: seed)
        }
        runtime = SessionRuntime(machine, source: source, gnss: gnss, venues: venues, clock: clock)
        stateBroadcast.send(.idle)
        evaluationBroadcast.send(publishedEvaluation)
        statusBroadcast.send(publishedStatus)
        diagnosisBroadcast.send(SessionDiagnosis(state: .idle, reason: .notRunning))
    }

    /// The current state of the session.
    public var state: LocalizationState { runtime.driver.machine.shownState }

    /// The current reason for the presence or absence of positions; see ``diagnoses``.
    public var diagnosis: SessionDiagnosis { runtime.driver.machine.diagnosis(at: runtime.timeline.now) }

    /// Returns the position of the device at an instant of the source's time; nil while no floor is known.
    ///
    /// Up to 10 s after the latest position, the method predicts the position from all readings since then, without
    /// changing the session. Within the last 30 s, it interpolates between the positions around the instant. For
    /// earlier and later instants, it returns nil.
    public func position(at instant: Instant) -> Position? { runtime.driver.machine.position(at: instant) }

    /// How location requests began the session that ends with them.
    enum RequestedSession: Sendable {
        case begun
        case resumed
    }

    /// Starts a session. Does nothing if one is running.
    ///
    /// If settings are out of range, the session ends at once with a critical error that names them.
    public func start() async { await beginSession(with: .start) }

    /// Starts a session. A resumed session continues the motion of the last one.
    ///
    /// - Parameter requested: how a location request begins the session; nil if the caller begins it.
    func beginSession(
        with event: LocalizationMachine<PositioningEngine>.Event, for requested: RequestedSession? = nil
    ) async {
        isPaused = false
        // Set before the start, which can wait on a recording: the caller may start a session meanwhile.
        sessionOfRequests = requested
        if state.isOver {
            traceID = traceIDs()
            positionBroadcast.forget()
            outdoorBroadcast.forget()
        }
        await begin(with: event)
    }

    /// Sets the trade-off between accuracy and power consumption, which overrides the settings.
    ///
    /// The position interval and the duty cycle of the radio change at once. The number of particles and the motion
    /// model change with the next venue. ``setSettings(_:)`` replaces the value by the
    /// ``SettingsStack/desiredAccuracy`` of its stack.
    public func setDesiredAccuracy(_ accuracy: DesiredAccuracy) async {
        var stack = settings
        stack.desiredAccuracy = accuracy
        await setSettings(stack)
    }

    /// The trade-off between accuracy and power consumption.
    public var desiredAccuracy: DesiredAccuracy { settings.desiredAccuracy }

    /// The current settings with the source of each value. The current venue is one of the sources.
    public var settings: SettingsStack { runtime.driver.machine.stack }

    /// Replaces the applied settings. The settings of the venue also stay in effect.
    ///
    /// The RSSI threshold, intervals and timeouts take effect at once, as does the duty cycle if the source supports
    /// one. Settings of the position, floor and area estimation take effect with the next venue, and settings of the
    /// venue detection with the next start. If settings are out of range, the localizer emits an error that names them
    /// and keeps the old ones.
    public func setSettings(_ settings: SettingsStack) async {
        await handle(.settings(settings))
    }

    /// Ends the session. After this method returns, the localizer emits nothing until the next ``start()``.
    ///
    /// Earlier outputs may still be in the buffers of the streams.
    public func stop() async {
        isPaused = false
        sessionOfRequests = nil
        await handle(.stop)
    }

    /// The calibration of the device from this and earlier sessions; see ``setCalibration(_:)``.
    public var calibration: Calibration { runtime.driver.machine.calibration ?? Calibration() }

    /// The current session memory, for a later session in this or another process; see ``restore(_:after:)``.
    ///
    /// You can read it at any time. Before a session has an estimate of its own, this is the restored memory. After a
    /// session, this is the memory at its end.
    public var memory: SessionMemory { runtime.driver.machine.memory(at: runtime.timeline.now) }

    /// The time since the session's scheduled wake-up, if it is overdue; zero otherwise.
    package var delay: Duration {
        guard let wake = runtime.driver.machine.nextWake, let elapsed = runtime.timeline.elapsed else { return .zero }
        return max(.zero, elapsed - runtime.timeline.elapsed(at: wake))
    }

    /// Whether a wake-up is due by the clock of a live source, and not handled yet.
    package var isTickDue: Bool { runtime.isTickDue }

    /// The monitored geofences, in the order in which monitoring started.
    public var monitoredGeofences: [Geofence] { runtime.driver.machine.monitoredGeofences }

    /// Uses another edition of a venue's packet, such as one with a new radio map. Returns when it is prepared.
    ///
    /// The venue source must deliver the edition from now on. The session continues with the estimated location and with the rooms
    /// and fences that the device is in, and emits positions by the earlier edition until the new one is prepared. If it can't be
    /// prepared, the session reports the error on ``errors``, and continues with the earlier edition.
    package func renew(_ venue: Venue) async {
        await handle(.renewed(venue))
        // Settings that change meanwhile begin another preparation.
        while runtime.driver.machine.renewing == venue, let preparation = runtime.preparation.running {
            await preparation.value
            guard runtime.preparation.running != preparation else { break }
        }
    }

    /// Handles an event from the caller; returns the outcome of the latest fix.
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
        if case .emitLevels(let levels) = output.directive { levelBroadcast.send(levels) }
        guard let content = SessionOutput.Content(output.directive) else { return }
        emit(content.timed(by: runtime.source.wallClock, at: runtime.timeline.ofSource), at: output.instant)
    }

    package func emit(_ error: LocalizationError) {
        activityCounts.note(error)
        emit(.error(error), at: runtime.timeline.now)
    }

    package func settle() {
        publishStatus()
        publishDiagnosis()
        publishEvaluation(of: publishedEvaluation.state)
    }

    private func emit(_ content: SessionOutput.Content, at instant: Instant) {
        switch content {
        case .state(let state):
            stateBroadcast.send(state)
            datedStateBroadcast.send(DatedState(instant: instant, state: state))
            publishEvaluation(of: state)
            publishQuality()
        case .position(let position):
            located = (.indoors(position), runtime.timeline.elapsed)
            positionBroadcast.send(position)
            publishQuality()
        case .outdoorPosition(let position):
            located = (.outdoors(position), runtime.timeline.elapsed)
            outdoorBroadcast.send(position)
        case .motion: break  // sent with the motion updates
        case .event(let event):
            eventHistory.append(event)
            eventBroadcast.send(event)
        case .interaction(let event): interactionBroadcast.send(event)
        case .downloadedVenue(let venue): venueBroadcast.send(venue)
        case .error(let error): errorBroadcast.send(error)
        case .diagnosis: break  // sent with each change of the reason
        }
        outputBroadcast.send(SessionOutput(instant: instant, content: content))
    }
}

extension Localizer {
    private func publishEvaluation(of state: LocalizationState) {
        let isPresent = state.venueID == runtime.driver.machine.shownState.venueID
        let detection = isPresent ? runtime.driver.machine.detection : nil
        let evaluation = VenueEvaluation(state: state, detection: detection)
        if evaluation != publishedEvaluation { evaluationBroadcast.send(evaluation) }
        publishedEvaluation = evaluation
    }

    /// Returns the time since a place was published, on the clock of a live source or in a recording's instants.
    func age(of located: (place: LocatedPlace, elapsed: Duration?)) -> Duration {
        guard let then = located.elapsed, let now = runtime.timeline.elapsed else {
            return located.place.instant.duration(to: runtime.timeline.now)
        }
        return now - then
    }

    /// Returns a closure that sleeps until the timeout on the clock of a live source; nil on a recording.
    ///
    /// On a recording, time advances with the readings only.
    func alarm(after timeout: Duration) -> (@Sendable () async throws -> Void)? {
        guard let clock = runtime.timeline.clock else { return nil }
        let due = clock.elapsed() + timeout
        return { try await clock.sleep(until: due) }
    }

    /// Emits the diagnosis if its reason has changed.
    private func publishDiagnosis() {
        let reason = runtime.driver.machine.reason
        guard reason != publishedReason else { return }
        publishedReason = reason
        diagnosisBroadcast.send(diagnosis)
    }

    private func publishStatus() {
        let status = runtime.driver.machine.serviceStatus
        if status != publishedStatus { statusBroadcast.send(status) }
        publishedStatus = status
    }
}

extension Localizer {
    /// Restores the memory of an earlier session for the next one. Does nothing while a session is running.
    ///
    /// The memory alone yields no position. When the source receives the first beacon, the memory supplies the probable
    /// location of the device. The location is less certain the older the memory is. After `memoryTimeout`, the session
    /// uses only the calibration. A device that was moved in the meantime is still located at its new place.
    /// - Parameters:
    ///   - memory: the value of ``memory`` or the result of ``suspend()``.
    ///   - duration: the age of the memory.
    public func restore(_ memory: SessionMemory, after duration: Duration = .zero) async {
        _ = await guide(.restore(memory.aged(by: duration)))
        publishQuality()
    }

    /// Ends the session as `stop()` does, but without exit events, so that a later session can continue it.
    ///
    /// A session that restores this memory repeats no entry event for the rooms and fences that the device is in, and
    /// reports their exits only when the device leaves them.
    /// - Returns: the session memory, for `restore(_:after:)`.
    public func suspend() async -> SessionMemory {
        _ = await guide(.suspend)
        return memory
    }
}

// Pausing and resuming the estimation.
extension Localizer {
    /// Pauses the estimation and stops the radio and the sensors. Does nothing if no session is running.
    ///
    /// The localizer emits nothing until you call ``resume()`` or ``start()``. Pausing causes no exit events for rooms
    /// and fences, and the session memory keeps the estimated location. Interactions with beacons and points of
    /// interest end. While the localizer is paused, its state is `idle`.
    public func pause() async {
        guard !state.isOver else { return }
        // If a location request started the session, the end of that request must not end the pause.
        sessionOfRequests = nil
        _ = await suspend()
        isPaused = true
    }

    /// Resumes the estimation after ``pause()``. Does nothing if the localizer isn't paused.
    ///
    /// The session continues with the estimated location, whose radius has grown during the pause, and with the rooms
    /// and fences that the device is in. Motion keeps its local frame, floor, heading and statistics. To start without
    /// them, call ``start()``. To end the pause without resuming, call ``stop()``.
    public func resume() async { await resume(for: nil) }

    private func resume(for requested: RequestedSession?) async {
        guard isPaused else { return }
        await restore(memory)
        await beginSession(with: .resume, for: requested)
    }
}

// The motion of the device, in addition to its position.
extension Localizer {
    /// A stream of motion estimates, whether or not a venue is known, at ``DeadReckoningSettings/interval``.
    ///
    /// The localizer estimates motion only if the source delivers motion, step or pressure readings. In a venue, floors
    /// are the levels of the plans, and headings are measured from the top of the plan. `position` stays in metres from
    /// where the session started. The stream buffers the newest 1024 estimates, on a recording all of them.
    public nonisolated var motion: AsyncStream<MotionEstimate> { motionBroadcast.motion.subscribe() }

    /// A stream of headings, one for each change by ``DeadReckoningSettings/headingFilter``; buffered like ``motion``.
    public nonisolated var headings: AsyncStream<Heading> { motionBroadcast.headings.subscribe() }

    /// A stream of attitudes, one for each change by ``DeadReckoningSettings/attitudeFilter``; buffered like
    /// ``motion``.
    public nonisolated var attitudes: AsyncStream<Attitude> { motionBroadcast.attitudes.subscribe() }
}

extension Localizer {
    /// Starts monitoring a geofence, in addition to the fences of the current venue.
    ///
    /// ``events`` reports its entries and exits. The localizer monitors the geofence in every venue and in later
    /// sessions, until you call ``stopMonitoring(_:)``. A geofence with the identifier of a monitored one replaces it.
    /// If the device was inside the replaced geofence, the next position decides whether it is inside the new one, so
    /// that entries and exits of an identifier alternate.
    ///
    /// - Throws: `GeofenceError` if the geofence is invalid. The monitored geofences then stay as they are.
    public func startMonitoring(_ fence: Geofence) async throws(GeofenceError) { try await startMonitoring([fence]) }

    /// Starts monitoring several geofences. Thousands of them in one call cost little more than one.
    ///
    /// - Throws: `GeofenceError` for the first invalid geofence. The monitored geofences then stay as they are.
    public func startMonitoring(_ fences: [Geofence]) async throws(GeofenceError) {
        if let problem = fences.lazy.compactMap(\.problem).first { throw problem }
        _ = await guide(.monitor(.start(fences)))
    }

    /// Stops monitoring a geofence, without an exit event. An unknown identifier has no effect.
    public func stopMonitoring(_ id: String) async { _ = await guide(.monitor(.stop([id]))) }

    /// Stops monitoring all geofences, without exit events. The fences of venues stay monitored.
    package func stopMonitoringGeofences() async { _ = await guide(.monitor(.stopAll)) }
}

extension Localizer {
    private enum Answer: Sendable {
        case place(LocatedPlace)
        case over(LocalizationError?)
        case late
    }

    /// Returns a single location of the device: the latest one if it is recent enough, otherwise the next one.
    ///
    /// If no session is running, this method starts one, or resumes a paused one. That session ends, or pauses again,
    /// with the last pending request, unless you call `start()` meanwhile.
    /// - Parameters:
    ///   - timeout: the longest time to wait for a location, on the clock of a live source. On a recording, the method
    ///     waits until the recording ends.
    ///   - maximumAge: the greatest age of a location that is returned at once; zero always waits for the next one.
    /// - Throws: `LocalizationError` of kind `positionUnavailable` if there is no location before the timeout or before
    ///   the source ends, of kind `cancelled` if the task is cancelled, or the error that ended the session.
    public func requestLocation(
        timeout: Duration = .seconds(10), maximumAge: Duration = .seconds(30)
    ) async throws(LocalizationError) -> LocatedPlace {
        let earlier = located?.place
        if let located, age(of: located) >= .zero, age(of: located) < maximumAge { return located.place }
        let (positions, outdoors, states) = (self.positions, outdoorPositions, self.states)
        let isOwn = state.isOver
        // Counted before the start, so that another request that ends meanwhile doesn't end the session.
        requests += 1
        if isOwn { await beginForRequest() }
        let alarm = alarm(after: timeout)
        let answer = await withTaskGroup(of: Answer?.self, returning: Answer?.self) { group in
            group.addTask { await positions.first { _ in true }.map { .place(.indoors($0)) } }
            group.addTask { await outdoors.first { _ in true }.map { .place(.outdoors($0)) } }
            group.addTask { await Self.end(of: states, afterStart: isOwn) }
            if let alarm { group.addTask { (try? await alarm()).map { .late } } }
            defer { group.cancelAll() }
            for await answer in group { if let answer { return answer } }
            return nil
        }
        let diagnosis = diagnosis
        requests -= 1
        if requests == 0 { await endForRequest() }
        switch answer {
        case .place(let place): return place
        case .over(let error?): throw error
        case .over(nil):
            // A recorded session ends right after its last position.
            if let place = located?.place, place != earlier { return place }
            throw Self.noLocation("the session ended before there was a position")
        case .late:
            throw Self.noLocation(
                "no position came within \(timeout.seconds) s, as \(diagnosis.clauseWithHelp)")
        case nil:
            throw LocalizationError(
                code: .generic, message: "the request for a position was cancelled", kind: .cancelled)
        }
    }

    /// Starts or resumes a session that ends with the last pending request.
    private func beginForRequest() async {
        if isPaused { await resume(for: .resumed) } else { await beginSession(with: .start, for: .begun) }
    }

    /// Ends or pauses the session of the requests, unless the caller has started one meanwhile.
    private func endForRequest() async {
        switch sessionOfRequests.take() {
        case .begun: await stop()
        case .resumed: await pause()
        case nil: break
        }
    }

    private static func noLocation(_ message: String) -> LocalizationError {
        LocalizationError(code: .generic, message: message, kind: .positionUnavailable)
    }

    /// Waits for the end of a session; returns nil if the task is cancelled first.
    ///
    /// - Parameter afterStart: whether the first state is the one from before the session.
    private static func end(
        of states: AsyncStream<LocalizationState>, afterStart: Bool
    ) async -> Answer? {
        var isFirst = afterStart
        for await state in states {
            if case .error(let error) = state, !isFirst { return .over(error) }
            if state == .idle, !isFirst { return .over(nil) }
            isFirst = false
        }
        return nil
    }
}

extension Localizer {
    /// Submits a known position of the device.
    ///
    /// Before the first position, the estimation starts at the fix. Later, the positions converge to it. A hard fix
    /// replaces the estimate within its radius, and later readings may contradict it. A soft fix is combined with the
    /// other evidence, like a radio reading. Before a venue is known, the session keeps the fix for a venue that has
    /// its map. With a forced venue, the session assumes at once that the device is in that venue. The session replaces
    /// the fix's instant with its own current instant.
    /// - Parameter fix: the position, which `VenueMap.fix(at:radius:)` creates from metres, pixels or a coordinate.
    /// - Returns: the outcome of the fix. The session ignores a fix if its radius isn't above 0, its position isn't
    ///   finite, the venue has no such map, or the position is off the plan by more than 50 m plus the radius. The
    ///   outcome then contains the reason.
    @discardableResult public func submit(_ fix: Fix) async -> FixOutcome {
        await guide(.fix(fix)) ?? .ignored(.methodWithoutMemory)
    }

    /// Sets the heading of the device for this session, in degrees clockwise from the top of the plan.
    ///
    /// Later headings continue from this one. The heading has no effect until a motion sensor reports the orientation
    /// of the device.
    public func setHeading(_ course: Double) async { _ = await guide(.heading(course)) }

    /// Locks the floor to a map, regardless of the readings.
    ///
    /// The lock applies in every venue that has a map with this number, and in later sessions. A second call changes
    /// the map. ``unlockFloor()`` removes the lock.
    public func lockFloor(_ map: MapID) async { _ = await guide(.lockFloor(map)) }

    /// Removes the floor lock, so that readings decide the floor again. Does nothing without a lock.
    public func unlockFloor() async { _ = await guide(.lockFloor(nil)) }

    /// Locks the device indoors, or removes that lock, also for later sessions.
    ///
    /// While the device is locked indoors, satellite positions decide neither that it is outdoors nor which venue it is
    /// in. Until the first call, the setting `venueSearch.isLockedIndoors` applies. `lockIndoors(false)` removes the
    /// lock.
    public func lockIndoors(_ isLocked: Bool) async { _ = await guide(.lockIndoors(isLocked)) }

    /// Sets the calibration of the device, from an earlier session. It takes effect with the next venue.
    public func setCalibration(_ calibration: Calibration) async {
        _ = await guide(.calibration(calibration))
        publishQuality()
    }
}

// The order of readings and other information.
extension Localizer {
    /// Waits until the session has handled the readings of its source up to an instant.
    ///
    /// Another reader of a shared source may be ahead of the session. What it infers from a reading must reach the
    /// session after the earlier readings.
    ///
    /// The method returns at once if no session is running, if the session has no reading yet, or if the instant is
    /// more than 5 s after its latest reading. In the last case, the instant is from another timeline, or the readings
    /// are late. The wait ends early when the session ends, when the task is cancelled, and after 5 s on the clock of a
    /// live source.
    /// - Parameter instant: an instant of the source's time.
    package func waitForReadings(upTo instant: Instant) async {
        let instant = runtime.timeline.ofSession(instant)
        guard !state.isOver, let latest = runtime.waits.latest, latest < instant,
            latest.duration(to: instant) <= SessionTimeline.longestDelay
        else { return }
        let (stream, end) = runtime.waits.begin(until: instant)
        let limit = alarm(after: SessionTimeline.longestDelay).map { alarm in
            Task {
                try? await alarm()
                end.finish()
            }
        }
        defer { limit?.cancel() }
        for await _ in stream {}
    }
}

extension Localizer {
    /// Returns a stream with the route to a goal and the progress of the device along it.
    ///
    /// The route is recalculated whenever the device leaves it.
    ///
    ///     for await update in try localizer.routes(to: RoutePoint(cafe), with: RoutePlanner(venue: venue)) {
    ///         switch update {
    ///         case .planned(let route), .renewed(let route): show(route)
    ///         case .progressed(let progress): show(progress)
    ///         case .arrived: break
    ///         case .lost(let error): show("\(error)")
    ///         }
    ///     }
    ///
    /// The stream ends when the device reaches the goal or the localizer is deallocated. Guidance stops when the task
    /// that reads the stream ends. The stream buffers the newest 1024 updates.
    ///
    /// - Throws: `RouteError` if the goal can't be reached from anywhere, or if an option is out of its range.
    public nonisolated func routes(
        to goal: RoutePoint, with planner: RoutePlanner, options: RouteOptions = RouteOptions(),
        settings: RouteMonitorSettings = RouteMonitorSettings()
    ) throws(RouteError) -> AsyncStream<RouteUpdate> {
        let monitor = try RouteMonitor(planner: planner, goal: goal, options: options, settings: settings)
        let (positions, elements) = (positions, derivedElements)
        let (stream, continuation) = AsyncStream.makeStream(
            of: RouteUpdate.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task {
            var monitor = monitor
            for await position in positions {
                for update in monitor.handle(position) { elements.send(update, to: continuation) }
                if monitor.isOver { break }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}

extension Localizer {
    /// Returns a snapshot of the session at the current instant: state, position, particles and received beacons.
    ///
    /// The session does no work for snapshots until you call this method. The time is linear in the number of
    /// particles of the session and in the number of received beacons.
    /// - Parameter particles: the greatest number of particles in the snapshot.
    public func snapshot(particles: Int = 1000) -> SessionSnapshot {
        runtime.driver.machine.snapshot(at: runtime.timeline.now, particles: particles)
    }
}

// Values for the monitoring of a session, in addition to `activityCounts` and `state`.
extension Localizer {
    /// The latest place of this or an earlier session, indoors or outdoors; nil before the first one.
    public var latestPlace: LocatedPlace? { located?.place }

    /// The time since ``latestPlace`` was emitted, on the clock of a live source or in a recording's instants; nil
    /// before the first place.
    package var timeSinceLatestPlace: Duration? { located.map { max(.zero, age(of: $0)) } }

    /// The consistency of the estimated position with the evidence of the last seconds; nil without a venue.
    ///
    /// See `PositioningEngine.consistencyRatio`.
    package var consistencyRatio: Double? { runtime.driver.machine.visit?.belief.consistencyRatio }

    /// The durations of the session's work; nil unless ``measureCycles(by:)`` was called.
    package var cycleTimes: CycleTimes? { runtime.meter?.times }

    /// Begins to measure the durations of the session's work. An earlier measurement is discarded.
    ///
    /// The measurement reads the clock up to four times for each reading. By default, a session measures nothing.
    /// - Parameter clock: returns the time of a clock that increases steadily, such as `ContinuousClock`; nil ends the
    ///   measurement.
    public func measureCycles(by clock: (@Sendable () -> Duration)?) {
        runtime.meter = clock.map { CycleMeter(clock: $0) }
    }
}
