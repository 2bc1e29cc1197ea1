/// Tells where the device is on one floor plan, step by step: connect, prepare, start, stop.
///
///     let positioner = Positioner(on: plan, source: radio, venues: packets)
///     let positions = positioner.positions
///     await positioner.start()
///     for await position in positions { print(position.x, position.y) }
///
/// A step that was left out is done by the next one. Any number of positioners run side by side, on one radio with a
/// `SharedScanSource`; to switch between floor plans, stop one and start the other. Where the floor is not known, or may
/// change, use a `Localizer`.
public actor Positioner {
    private typealias Machine = PositionerMachine<PositioningEngine>

    /// The floor plan that it is bound to.
    public nonisolated let floorPlan: FloorPlan

    private let source: any ScanSource
    private let venues: any VenueSource
    private let clock: SessionClock
    private var driver: SessionDriver<Machine>
    /// Counts scans, so that what belongs to an earlier one is recognised.
    private var scanNumber = 0
    private var timeline = SessionTimeline()
    private var delay = DeliveryDelay()
    private var scan: Task<Void, Never>?
    private var fetch: Task<Void, Never>?
    /// Counts requests, so that the late answer to an earlier one is recognised.
    private var request = 0
    private var alarm: (number: Int, wake: Instant, task: Task<Void, Never>)?
    private var alarmCount = 0

    private nonisolated let stateBroadcast = Broadcast<PositionerState>(.unbounded, replaysLatest: true)
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
    public init(
        on plan: FloorPlan, source: some ScanSource, venues: some VenueSource,
        settings: LocalizationSettings = LocalizationSettings(), clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = 0
    ) {
        floorPlan = plan
        self.source = source
        self.venues = venues
        self.clock = SessionClock(clock)
        // A recording plays faster than any subscriber may listen, and nothing of it is to be lost.
        positionBroadcast = Broadcast(source.pace == .recorded ? .unbounded : .bufferingNewest(1024))
        eventBroadcast = Broadcast(source.pace == .recorded ? .unbounded : .bufferingNewest(1024))
        driver = SessionDriver(
            Machine(plan: plan, settings: settings, seed: seed) { venue, positioning in
                PositioningEngine(venue: venue, settings: positioning, seed: seed)
            })
        stateBroadcast.send(.stopped(nil))
    }

    deinit {
        scan?.cancel()
        fetch?.cancel()
        alarm?.task.cancel()
    }

    /// What the positioner is doing now.
    public var state: PositionerState { driver.machine.state }
    /// From the instant at which the radio heard the latest beacon to the position that it led to.
    ///
    /// The quickest delivery of the session counts as one without delay, as source and session may have different clocks.
    /// Zero while no positions are told.
    public var latency: Duration { driver.machine.latency }

    /// Its states, the present one first. Each call gives a stream of its own.
    public nonisolated var states: AsyncStream<PositionerState> { stateBroadcast.subscribe() }
    /// Which fraction of the venue's packet is there, while it is loading, from now on.
    public nonisolated var loadingProgress: AsyncStream<Double> { progressBroadcast.subscribe() }
    /// Positions from now on; of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var positions: AsyncStream<Position> { positionBroadcast.subscribe() }
    /// Rooms and fences entered and left, from now on; kept as positions are.
    public nonisolated var events: AsyncStream<LocalizationEvent> { eventBroadcast.subscribe() }
    /// Errors from now on, also those that it survives.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }

    /// Calls `body` with each element of a stream, for callers without a task of their own.
    ///
    /// - Returns: the observation, which must be kept for as long as calls are wanted.
    public nonisolated func watch<Element: Sendable>(
        _ stream: KeyPath<Positioner, AsyncStream<Element>>, _ body: @escaping @Sendable (Element) -> Void
    ) -> Observation {
        Observation(self[keyPath: stream], body)
    }

    /// Makes sure that the venue can be had; does nothing if that is so or on the way.
    public func connect() async { await handle(.connect) }

    /// Fetches what is needed to begin, after connecting if need be; does nothing if that is done or on the way.
    ///
    /// - Parameter parameters: of the session; those of the first call count, later ones are ignored until `stop()`.
    public func prepare(_ parameters: PositionerParameters = PositionerParameters()) async {
        await handle(.prepare(parameters))
    }

    /// Begins to tell positions, after preparing if need be; does nothing if that has begun or is on the way.
    ///
    /// - Parameter parameters: of the session; ignored if it was prepared before.
    public func start(_ parameters: PositionerParameters = PositionerParameters()) async {
        await handle(.start(parameters))
    }

    /// Ends whatever is on: once this returns, nothing more is emitted until it is used again.
    public func stop() async { await handle(.stop) }

    /// Tells where the device is: before the session has begun, where that begins; during it, the positions converge to it.
    ///
    /// - Parameters:
    ///   - place: in metres, pixels or as a coordinate.
    ///   - radius: 68 % radius, in pixels for a pixel and in metres otherwise.
    ///   - isSoft: whether it is one witness among others, as the radio; otherwise it is believed.
    /// - Returns: how far it was believed.
    /// - Throws: `FixError` if the place or its radius tells nothing.
    @discardableResult public func submit(
        _ place: FixPlace, radius: Double, isSoft: Bool = false
    ) async throws(FixError) -> FixOutcome {
        let fix = try floorPlan.map.fix(at: place, radius: radius, isSoft: isSoft, instant: now)
        await handle(.fix(fix))
        return driver.machine.fixOutcome ?? .ignored
    }

    /// What was learned of the device so far, in this session or before; see `setCalibration(_:)`.
    public var calibration: Calibration { driver.machine.calibration ?? Calibration() }

    /// Begins with what an earlier session learned of the device: from the next start on.
    public func setCalibration(_ calibration: Calibration) async { await handle(.calibration(calibration)) }

    /// The clock's time; nil on a recording, where only readings pass the time.
    private var elapsed: Duration? { source.pace == .live ? clock.elapsed() : nil }
    /// The session's present instant.
    private var now: Instant { timeline.now(elapsed) }

    private func handle(_ event: Machine.Event) async {
        if state.isStopped { timeline = SessionTimeline(startedAt: elapsed ?? .zero) }
        await perform(driver.handle(event, at: now))
    }

    private func receive(_ reading: SensorReading, of expected: Int) async {
        guard expected == scanNumber else { return }
        let late = elapsed.map { delay.observe(reading.instant, at: $0) } ?? .zero
        driver.shift(by: timeline.align(to: reading.instant, elapsed: elapsed))
        while expected == scanNumber, let steps = driver.wake(before: reading.instant) { await perform(steps) }
        guard expected == scanNumber else { return }
        await perform(driver.handle(.reading(reading, delay: late), at: reading.instant))
    }

    private func finishScan(_ error: (any Error)?, of expected: Int) async {
        guard expected == scanNumber else { return }
        let end = now
        if let error {
            var failure = LocalizationError(reporting: error, code: .critical, "the scan failed")
            // Without readings no time passes on a recording: a pause before the next scan would never end.
            if source.pace == .recorded, !failure.endsSession { failure.code = .critical }
            return await perform(driver.handle(.sourceFailed(failure), at: end))
        }
        // First what is due until then, so that the last readings count.
        var rounds = 0
        while expected == scanNumber, rounds < 3, let steps = driver.wake(upTo: end) {
            await perform(steps)
            rounds += 1
        }
        guard expected == scanNumber else { return }
        await perform(driver.handle(.sourceEnded, at: end))
    }

    private func perform(_ steps: [SessionDriver<Machine>.Step]) async {
        for step in steps {
            switch step.directive {
            case .startScanning: startScanning()
            case .stopScanning: stopScanning()
            case .schedule(let schedule): keep(schedule)
            case .cancelFetch: cancelFetch()
            case .fetchCatalogue:
                await load {
                    [venues] in
                    .catalogue(try await venues.catalogue())
                } failed: {
                    .catalogueFailed($0)
                }
            case .fetchPacket(let id):
                await load { [venues, progressBroadcast] in
                    .packet(try await venues.packet(for: id) { progressBroadcast.send($0) })
                } failed: {
                    .packetFailed($0)
                }
            case .publish(let state): stateBroadcast.send(state)
            case .emit(let position): positionBroadcast.send(position)
            case .emitEvent(let event): eventBroadcast.send(event)
            case .report(let error): errorBroadcast.send(error)
            }
        }
        setAlarm()
    }
}

// The tasks of a session: scan, fetch, alarm. Each holds the positioner weakly and tells what it belongs to.
extension Positioner {
    private func startScanning() {
        let stream = source.readings()
        let current = scanNumber
        scan = Task { [weak self] in
            do {
                for try await reading in stream {
                    guard let self, !Task.isCancelled else { return }
                    await self.receive(reading, of: current)
                }
                await self?.finishScan(nil, of: current)
            } catch {
                await self?.finishScan(error, of: current)
            }
        }
    }

    private func stopScanning() {
        scanNumber += 1
        scan?.cancel()
        scan = nil
        delay = DeliveryDelay()
    }

    /// Tells a source that can be told when its radio is to rest; on another one it is of no effect.
    private func keep(_ schedule: ScanSchedule) {
        do { try (source as? any SteerableScanSource)?.steering?.set(schedule) } catch { errorBroadcast.send(error) }
    }

    /// Asks the venue source in a task; on a recording, time stands still until the answer is there.
    private func load(
        _ ask: @escaping @Sendable () async throws -> Machine.Event,
        failed: @escaping @Sendable (LocalizationError) -> Machine.Event
    ) async {
        cancelFetch()
        let number = request
        let task = Task { [weak self] in
            let event: Machine.Event
            do {
                event = try await ask()
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

    private func answer(_ event: Machine.Event, to number: Int) async {
        guard number == request else { return }
        await perform(driver.handle(event, at: now))
    }

    /// An alarm rings; one that was replaced while it began to ring is none of ours any more.
    private func wakeUp(at wake: Instant, number: Int) async {
        guard number == alarm?.number else { return }
        alarm = nil
        if let steps = driver.wake(upTo: wake) { await perform(steps) }
        setAlarm()
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
