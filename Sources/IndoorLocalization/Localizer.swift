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

    private let source: any ScanSource
    /// Receives from satellites beside the source; nil on a recording, which has its own positions.
    private let gnss: (any GNSSSource)?
    private let venues: any VenueSource
    private let clock: SessionClock
    private var driver: Driver
    /// Counts sessions, so that what belongs to an earlier one is recognised.
    private var session = 0
    private var timeline = SessionTimeline()
    private var scan: Task<Void, Never>?
    private var reception: Task<Void, Never>?
    private var fetch: Task<Void, Never>?
    /// Counts requests, so that the late answer to an earlier one is recognised.
    private var request = 0
    private var alarm: (number: Int, wake: Instant, task: Task<Void, Never>)?
    private var alarmCount = 0
    /// Rooms and fences entered and left so far, also in earlier sessions, whether anybody listened or not.
    public private(set) var eventHistory: EventHistory

    private nonisolated let stateBroadcast = Broadcast<LocalizationState>(.unbounded, replaysLatest: true)
    private nonisolated let positionBroadcast: Broadcast<Position>
    private nonisolated let outdoorBroadcast: Broadcast<OutdoorPosition>
    private nonisolated let venueBroadcast = Broadcast<Venue>(.bufferingNewest(16))
    private nonisolated let eventBroadcast: Broadcast<LocalizationEvent>
    private nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))

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
    public init(
        source: some ScanSource, gnss: (any GNSSSource)? = nil, venues: some VenueSource,
        settings: LocalizationSettings = LocalizationSettings(), clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = 0, eventHistory: EventHistory = EventHistory()
    ) {
        self.init(
            source: source, gnss: gnss, venues: venues, settings: SettingsStack(localization: settings), clock: clock,
            seed: seed, eventHistory: eventHistory)
    }

    /// Creates an idle localizer with settings of several sources, of which each venue is one.
    public init(
        source: some ScanSource, gnss: (any GNSSSource)? = nil, venues: some VenueSource, settings: SettingsStack,
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = 0, eventHistory: EventHistory = EventHistory()
    ) {
        self.source = source
        self.gnss = source.pace == .live ? gnss : nil
        self.eventHistory = eventHistory
        self.venues = venues
        self.clock = SessionClock(clock)
        // A recording plays faster than any subscriber may listen, and nothing of it is to be lost.
        positionBroadcast = Broadcast(source.pace == .recorded ? .unbounded : .bufferingNewest(1024))
        outdoorBroadcast = Broadcast(source.pace == .recorded ? .unbounded : .bufferingNewest(1024))
        eventBroadcast = Broadcast(source.pace == .recorded ? .unbounded : .bufferingNewest(1024))
        driver = SessionDriver(
            LocalizationMachine(settings: settings, seed: seed, hasReceiver: self.gnss != nil) { venue, positioning in
                PositioningEngine(venue: venue, settings: positioning, seed: seed)
            })
        stateBroadcast.send(.idle)
    }

    deinit {
        scan?.cancel()
        reception?.cancel()
        fetch?.cancel()
        alarm?.task.cancel()
    }

    /// What the session is doing now.
    public var state: LocalizationState { driver.machine.state }

    /// The session's states, the present one first. Each call gives a stream of its own.
    public nonisolated var states: AsyncStream<LocalizationState> { stateBroadcast.subscribe() }
    /// Positions from now on; of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var positions: AsyncStream<Position> { positionBroadcast.subscribe() }
    /// Where satellites see the device while it is in no venue, from now on: before a venue is found, and once it is lost.
    ///
    /// Of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var outdoorPositions: AsyncStream<OutdoorPosition> { outdoorBroadcast.subscribe() }
    /// Data of venues that were found by their coordinate, before any of their beacons was heard.
    public nonisolated var downloadedVenues: AsyncStream<Venue> { venueBroadcast.subscribe() }
    /// Rooms and fences entered and left, from now on.
    ///
    /// Of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var events: AsyncStream<LocalizationEvent> { eventBroadcast.subscribe() }
    /// Rooms and fences entered and left after an instant, in order, of those that `eventHistory` holds.
    ///
    /// Instants are the source's. If it counts anew in each session, forget the events of the last one before the next.
    public func events(after instant: Instant) -> [LocalizationEvent] { eventHistory.events(after: instant) }
    /// Empties `eventHistory`.
    public func forgetEvents() { eventHistory.removeAll() }
    /// Errors from now on, also those that the session survives.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }
    /// How many positions and events subscribers lost because they took them too slowly.
    public nonisolated var droppedElements: Int {
        positionBroadcast.dropped + outdoorBroadcast.dropped + eventBroadcast.dropped
    }

    /// Calls `body` with each element of a stream, for callers without a task of their own.
    ///
    ///     let observation = localizer.watch(\.positions) { print($0) }
    ///
    /// - Returns: the observation, which must be kept for as long as calls are wanted.
    public nonisolated func watch<Element: Sendable>(
        _ stream: KeyPath<Localizer, AsyncStream<Element>>, _ body: @escaping @Sendable (Element) -> Void
    ) -> Observation {
        Observation(self[keyPath: stream], body)
    }

    /// Begins a session; does nothing if one is on.
    ///
    /// With settings out of range, the session ends at once with a critical error that names them.
    public func start() async {
        if state.isOver {
            session += 1
            timeline = SessionTimeline(startedAt: elapsed ?? .zero)
        }
        await perform(driver.handle(.start, at: now))
    }

    /// What counts now, and where each value comes from: the venue that the device is in is one of the sources.
    public var settings: SettingsStack { driver.machine.stack }

    /// Makes other settings count, those that were applied. The venue's own stay beside them.
    ///
    /// Threshold, intervals and time-outs count at once, and so does the duty cycle of a steerable source; how the place,
    /// the floor and areas are found counts from the next venue on, and how venues are told apart from the next start on.
    /// With settings out of range, an error names them, and nothing is changed.
    public func setSettings(_ settings: SettingsStack) async {
        await perform(driver.handle(.settings(settings), at: now))
    }

    /// Ends the session: once this returns, nothing more is emitted until the next `start()`. What was emitted before
    /// may still wait in a subscriber's stream.
    public func stop() async {
        await perform(driver.handle(.stop, at: now))
    }

    /// What was learned of the device so far, in this session or before; see `setCalibration(_:)`.
    public var calibration: Calibration { driver.machine.calibration ?? Calibration() }

    /// Hands over what somebody outside knows; returns what became of the latest fix.
    func guide(_ event: LocalizationMachine<PositioningEngine>.Event) async -> FixOutcome? {
        await perform(driver.handle(event, at: now))
        return driver.machine.fixOutcome
    }

    /// The clock's time; nil on a recording, where only readings pass the time.
    private var elapsed: Duration? { source.pace == .live ? clock.elapsed() : nil }
    /// The session's present instant.
    private var now: Instant { timeline.now(elapsed) }

    private func receive(_ reading: SensorReading, from sender: SessionTimeline.Sender, of expected: Int) async {
        guard expected == session else { return }
        var reading = reading
        reading.instant = timeline.place(reading.instant, of: sender, elapsed: elapsed)
        driver.shift(by: timeline.align(to: reading.instant, elapsed: elapsed))
        while expected == session, let steps = driver.wake(before: reading.instant) {
            await perform(steps)
        }
        guard expected == session else { return }
        await perform(driver.handle(.reading(reading), at: reading.instant))
    }

    /// An alarm rings; one that was replaced while it began to ring is none of ours any more.
    private func wakeUp(at wake: Instant, number: Int) async {
        guard number == alarm?.number else { return }
        alarm = nil
        if let steps = driver.wake(upTo: wake) { await perform(steps) }
        setAlarm()
    }

    private func finishScan(_ error: (any Error)?, of expected: Int) async {
        guard expected == session else { return }
        let end = now
        if let error {
            // With a receiver beside it, a session can go on without a radio.
            let code = gnss == nil ? LocalizationError.Code.critical : .generic
            var failure = LocalizationError(reporting: error, code: code, "the scan failed")
            // Without readings no time passes on a recording: a pause before the next scan would never end.
            if source.pace == .recorded, !failure.endsSession { failure.code = .critical }
            return await perform(driver.handle(.sourceFailed(failure), at: end))
        }
        await close(.sourceEnded, at: end, of: expected)
    }

    private func finishReception(_ error: (any Error)?, of expected: Int) async {
        guard expected == session else { return }
        let end = now
        if let error {
            let failure = LocalizationError(reporting: error, code: .generic, "the satellite receiver failed")
            return await perform(driver.handle(.gnssFailed(failure), at: end))
        }
        await close(.gnssEnded, at: end, of: expected)
    }

    /// Nothing more comes from a sender: first what is due until then, so that its last readings count.
    private func close(_ event: Event, at end: Instant, of expected: Int) async {
        var rounds = 0
        while expected == session, rounds < 3, let steps = driver.wake(upTo: end) {
            await perform(steps)
            rounds += 1
        }
        guard expected == session else { return }
        await perform(driver.handle(event, at: end))
    }

    private func perform(_ steps: [Driver.Step]) async {
        let current = session
        for step in steps {
            switch step.directive {
            case .startScanning: startScanning()
            case .startReceiving: startReceiving()
            case .stopScanning: stopScanning()
            case .cancelFetch: cancelFetch()
            case .fetchCatalogue:
                await loadCatalogue()
                guard current == session else { return }  // stopped while it was loading
            case .fetchPacket(let id):
                await loadPacket(id)
                guard current == session else { return }
            case .publish(let state): stateBroadcast.send(state)
            case .emit(let position): positionBroadcast.send(position)
            case .emitOutdoor(let position): outdoorBroadcast.send(position)
            case .emitEvent(let event):
                eventHistory.append(event)
                eventBroadcast.send(event)
            case .announceVenue(let venue): venueBroadcast.send(venue)
            case .report(let error): errorBroadcast.send(error)
            case .schedule(let schedule): keep(schedule)
            }
        }
        setAlarm()
    }
}

// The tasks of a session: scan, reception, fetch, alarm. Each holds the localizer weakly and tells which session it belongs to.
extension Localizer {
    private func startScanning() {
        let stream = source.readings()
        let current = session
        scan = Task { [weak self] in
            do {
                for try await reading in stream {
                    guard let self, !Task.isCancelled else { return }
                    await self.receive(reading, from: .source, of: current)
                }
                await self?.finishScan(nil, of: current)
            } catch {
                await self?.finishScan(error, of: current)
            }
        }
    }

    private func startReceiving() {
        guard let stream = gnss?.fixes() else { return }
        let current = session
        timeline.restart(.receiver)
        reception = Task { [weak self] in
            do {
                for try await fix in stream {
                    guard let self, !Task.isCancelled else { return }
                    await self.receive(.gnss(fix), from: .receiver, of: current)
                }
                await self?.finishReception(nil, of: current)
            } catch {
                await self?.finishReception(error, of: current)
            }
        }
    }

    /// Tells a source that can be told when its radio is to rest; on another one it is of no effect.
    private func keep(_ schedule: ScanSchedule) {
        do { try (source as? any SteerableScanSource)?.steering?.set(schedule) } catch { errorBroadcast.send(error) }
    }

    private func stopScanning() {
        session += 1
        scan?.cancel()
        scan = nil
        reception?.cancel()
        reception = nil
        alarm?.task.cancel()
        alarm = nil
    }

    private func loadCatalogue() async {
        await load { [venues] _ in
            .catalogue(try await venues.catalogue())
        } failed: {
            .catalogueFailed($0)
        }
    }

    private func loadPacket(_ id: VenueID) async {
        await load { [weak self, venues] number in
            // Progress is told in order and before the packet, whatever thread the source reports it on.
            let (fractions, teller) = AsyncStream.makeStream(of: Double.self)
            let forwarding = Task { [weak self] in
                for await fraction in fractions { await self?.answer(.progress(id, fraction), to: number) }
            }
            let result: Result<Venue, any Error>
            do { result = .success(try await venues.packet(for: id) { teller.yield($0) }) } catch {
                result = .failure(error)
            }
            teller.finish()
            await forwarding.value
            return .packet(id, try result.get())
        } failed: {
            .packetFailed(id, $0)
        }
    }

    /// Asks the venue source in a task; on a recording, time stands still until the answer is there.
    private func load(
        _ ask: @escaping @Sendable (_ number: Int) async throws -> Event,
        failed: @escaping @Sendable (LocalizationError) -> Event
    ) async {
        cancelFetch()
        let number = request
        let task = Task { [weak self] in
            let event: Event
            do {
                event = try await ask(number)
            } catch {
                event = failed(LocalizationError(reporting: error, code: .generic, "a venue request failed"))
            }
            await self?.answer(event, to: number)
        }
        fetch = task
        if source.pace == .recorded { await task.value }
    }

    private func cancelFetch() {
        fetch?.cancel()
        fetch = nil
        request += 1
    }

    private func answer(_ event: Event, to number: Int) async {
        guard number == request else { return }
        await perform(driver.handle(event, at: now))
    }

    /// Makes sure that a live session is woken when its machine wants to be.
    private func setAlarm() {
        guard source.pace == .live, let wake = driver.machine.nextWake else {
            alarm?.task.cancel()
            alarm = nil
            return
        }
        guard alarm?.wake != wake else { return }
        alarm?.task.cancel()
        let due = timeline.elapsed(at: wake)
        alarmCount += 1
        let task = Task { [weak self, clock, number = alarmCount] in
            do { try await clock.sleep(until: due) } catch { return }
            await self?.wakeUp(at: wake, number: number)
        }
        alarm = (alarmCount, wake, task)
    }
}
