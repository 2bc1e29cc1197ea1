/// Tells where the device is on one floor plan, step by step: connect, prepare, start, stop.
///
///     let positioner = FloorPlanLocalizer(on: plan, source: radio, venues: packets)
///     let positions = positioner.positions
///     await positioner.start()
///     for await position in positions { print(position.x, position.y) }
///
/// A step that was left out is done by the next one. Any number of positioners run side by side, on one radio with a
/// `SharedScanSource`; to switch between floor plans, stop one and start the other. Where the floor is not known, or may
/// change, use a `Localizer`.
public actor FloorPlanLocalizer {
    private typealias Machine = FloorPlanLocalizerMachine<PositioningEngine>

    /// The floor plan that it is bound to.
    public nonisolated let floorPlan: FloorPlan

    private let source: any ScanSource
    private let venues: any VenueSource
    private var driver: SessionDriver<Machine>
    private var timeline: SessionTimeline
    private var delay = DeliveryDelay()
    private var scan = CurrentTask()
    private var fetch = CurrentTask()
    private var updates = CurrentTask()
    private var alarm = SessionAlarm()

    private nonisolated let stateBroadcast = Broadcast<FloorPlanLocalizerState>(.unbounded, replaysLatest: true)
    private nonisolated let progressBroadcast = Broadcast<Double>(.bufferingNewest(64))
    private nonisolated let positionBroadcast: Broadcast<Position>
    private nonisolated let eventBroadcast: Broadcast<LocalizationEvent>
    private nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))

    /// Creates a stopped positioner.
    ///
    /// - Parameters:
    ///   - plan: the floor that the device is on, as `Venue.floorPlan(_:)` or `VenueSource.fetchFloorPlan(_:of:)` gives it.
    ///   - source: what the device senses.
    ///   - venues: where the venue's packet comes from.
    ///   - settings: of the session, below the parameters that it is prepared with.
    ///   - clock: passes the time between readings of a live source.
    ///   - seed: of all that is random; on a recording, equal seeds give equal positions.
    ///   - tables: shared with the other sessions of the program that are given the same object.
    public init(
        on plan: FloorPlan, source: some ScanSource, venues: some VenueSource,
        settings: LocalizationSettings = LocalizationSettings(), clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = 0, tables: SharedTables = SharedTables()
    ) {
        floorPlan = plan
        self.source = source
        self.venues = venues
        timeline = SessionTimeline(clock, pace: source.pace)
        positionBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        eventBroadcast = Broadcast(of: source.pace)
        driver = SessionDriver(
            Machine(plan: plan, settings: settings, seed: seed, preparesApart: true) { venue, positioning in
                PositioningEngine(venue: venue, tables: tables, settings: positioning, seed: seed)
            })
        stateBroadcast.send(.stopped(nil))
    }

    /// What the positioner is doing now.
    public var state: FloorPlanLocalizerState { driver.machine.state }
    /// From the instant at which the radio heard the latest beacon to the position that it led to.
    ///
    /// The quickest delivery of the session counts as one without delay, as source and session may have different clocks.
    /// Zero while no positions are told.
    public var latency: Duration { driver.machine.latency }

    /// Its states, the present one first. Each call gives a stream of its own.
    public nonisolated var states: AsyncStream<FloorPlanLocalizerState> { stateBroadcast.subscribe() }
    /// Which fraction of the venue's packet is there, while it is loading, from now on.
    public nonisolated var loadingProgress: AsyncStream<Double> { progressBroadcast.subscribe() }
    /// Positions from now on; of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var positions: AsyncStream<Position> { positionBroadcast.subscribe() }
    /// Positions from now on, after the latest one that was told, if there is one; kept as `positions` are.
    ///
    /// - Parameter beginsWithLatest: false for the same as `positions`.
    public nonisolated func positions(beginningWithLatest beginsWithLatest: Bool) -> AsyncStream<Position> {
        positionBroadcast.subscribe(beginningWithLatest: beginsWithLatest)
    }
    /// The latest position that was told, readable at any time; nil before the first one.
    ///
    /// It stays when the positioner is stopped: its instant tells how old it is.
    public nonisolated var latestPosition: Position? { positionBroadcast.latest }
    /// Rooms and fences entered and left, from now on; kept as positions are.
    public nonisolated var events: AsyncStream<LocalizationEvent> { eventBroadcast.subscribe() }
    /// Errors from now on, also those that it survives.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }

    /// Makes sure that the venue can be had; does nothing if that is so or on the way.
    public func connect() async { await handle(.connect) }

    /// Fetches what is needed to begin, after connecting if need be; does nothing if that is done or on the way.
    ///
    /// - Parameter parameters: of the session; those of the first call count, later ones are ignored until `stop()`.
    public func prepare(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) async {
        await handle(.prepare(parameters))
    }

    /// Begins to tell positions, after preparing if need be; does nothing if that has begun or is on the way.
    ///
    /// - Parameter parameters: of the session; ignored if it was prepared before.
    public func start(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) async {
        await handle(.start(parameters))
    }

    /// Ends whatever is on: once this returns, nothing more is emitted until it is used again.
    public func stop() async { await handle(.stop) }

    /// Tells where the device is: before the session has begun, where that begins; during it, the positions converge to it.
    ///
    /// - Parameters:
    ///   - place: in metres, pixels or as a coordinate.
    ///   - radius: 68 % radius, in pixels for a pixel and in metres otherwise.
    ///   - isSoft: true combines it with what the radio hears; false replaces that.
    /// - Returns: how far it was believed.
    /// - Throws: `FixError` if the place or its radius tells nothing, or if it is farther than 50 m and its radius off the plan.
    @discardableResult public func submit(
        _ place: FixPlace, radius: Double, isSoft: Bool = false
    ) async throws(FixError) -> FixOutcome {
        let fix = try floorPlan.map.fix(at: place, radius: radius, isSoft: isSoft, instant: timeline.now)
        if let problem = fix.problem(on: floorPlan.map) { throw problem }
        await handle(.fix(fix))
        return driver.machine.fixOutcome ?? .ignored(.methodWithoutMemory)
    }

    /// What was learned of the device so far, in this session or before; see `setCalibration(_:)`.
    public var calibration: Calibration { driver.machine.calibration ?? Calibration() }

    /// Begins with what an earlier session learned of the device: from the next start on.
    public func setCalibration(_ calibration: Calibration) async { await handle(.calibration(calibration)) }

    /// The geofences that are watched, in the order in which they were started.
    public var monitoredGeofences: [Geofence] { driver.machine.geofences.list }

    /// Watches other geofences.
    func monitor(_ change: GeofenceChange) async { await handle(.monitor(change)) }

    private func handle(_ event: Machine.Event) async {
        if state.isStopped {
            timeline.begin()
            updates.follow(venues.updates, for: self) { await $0.learn($1, of: $2) }
        }
        await perform(driver.handle(event, at: timeline.now))
    }

    private func learn(_ update: VenueUpdate, of number: Int) async {
        guard updates.isCurrent(number) else { return }
        await perform(driver.handle(.venues(update), at: timeline.now))
    }

    private func receive(_ reading: SensorReading, of number: Int) async {
        guard scan.isCurrent(number) else { return }
        let late = timeline.elapsed.map { delay.observe(reading.instant, at: $0) } ?? .zero
        driver.shift(by: timeline.align(to: reading.instant))
        while scan.isCurrent(number), let steps = driver.wake(before: reading.instant) { await perform(steps) }
        guard scan.isCurrent(number) else { return }
        await perform(driver.handle(.reading(reading, delay: late), at: reading.instant))
    }

    private func finishScan(_ error: (any Error)?, of number: Int) async {
        guard scan.isCurrent(number) else { return }
        let end = timeline.now
        if let error {
            var failure = LocalizationError(reporting: error, code: .critical, "the scan failed")
            // Without readings no time passes on a recording: a pause before the next scan would never end.
            if source.pace == .recorded, !failure.endsSession { failure.code = .critical }
            return await perform(driver.handle(.sourceFailed(failure), at: end))
        }
        // First what is due until then, so that the last readings count.
        var rounds = 0
        while scan.isCurrent(number), rounds < 3, let steps = driver.wake(upTo: end) {
            await perform(steps)
            rounds += 1
        }
        guard scan.isCurrent(number) else { return }
        await perform(driver.handle(.sourceEnded, at: end))
    }

    /// An answer to a request that was replaced or cancelled counts no more.
    private func answer(_ answer: VenueAnswer, of number: Int) async {
        guard fetch.isCurrent(number) else { return }
        let event: Machine.Event
        switch answer {
        case .catalogue(let venues): event = .catalogue(venues)
        case .catalogueFailed(let error): event = .catalogueFailed(error)
        case .progress(_, let fraction): return progressBroadcast.send(fraction)
        case .packet(_, let venue): event = .packet(venue)
        case .packetFailed(_, let error): event = .packetFailed(error)
        }
        await perform(driver.handle(event, at: timeline.now))
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

    /// A part of the source has failed, and the scan goes on.
    private func tell(_ error: LocalizationError, of number: Int) {
        if scan.isCurrent(number) { errorBroadcast.send(error) }
    }

    private func wakeUp(_ number: Int) async {
        guard let wake = alarm.ring(number) else { return }
        await perform(driver.wake(upTo: wake) ?? [])
    }

    private func perform(_ steps: [SessionDriver<Machine>.Step]) async {
        for step in steps {
            switch step.directive {
            case .startScanning:
                scan.scan(source, for: self) {
                    await $0.receive($1, of: $2)
                } report: {
                    $0.tell($1, of: $2)
                } finish: {
                    await $0.finishScan($1, of: $2)
                }
            case .stopScanning:
                scan.cancel()
                delay = DeliveryDelay()
            case .schedule(let schedule):
                do { try source.keep(schedule) } catch { errorBroadcast.send(error) }
            case .cancelFetch:
                fetch.cancel()
                updates.cancel()
            case .fetchCatalogue: await ask(.catalogue)
            case .fetchPacket(let id): await ask(.packet(id))
            case .prepareBelief(let preparation): await prepare(preparation)
            case .publish(let state): stateBroadcast.send(state)
            case .emit(let position): positionBroadcast.send(position)
            case .emitEvent(let event): eventBroadcast.send(event.timed(by: source.wallClock))
            case .report(let error): errorBroadcast.send(error)
            }
        }
        alarm.set(to: driver.machine.nextWake, on: timeline, for: self) { await $0.wakeUp($1) }
    }
}
