import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// An indoor positioning session on a single floor plan.
///
///     let localizer = FloorPlanLocalizer(on: plan, source: radio, venues: packets)
///     let positions = localizer.positions
///     await localizer.start()
///     for await position in positions { print(position.x, position.y) }
///
/// A session has the steps ``connect()``, ``prepare(_:)``, ``start(_:)`` and ``stop()``. Each step performs the ones
/// before it that you leave out. Any number of floor plan localizers can run at the same time; they share one radio
/// through a `SharedScanSource`. To switch between floor plans, stop one localizer and start another. If the floor is
/// unknown or can change, use a ``Localizer``.
public actor FloorPlanLocalizer {
    /// The floor plan of this localizer.
    public nonisolated let floorPlan: FloorPlan

    package var runtime: SessionRuntime<FloorPlanLocalizerMachine<PositioningEngine>>

    nonisolated let stateBroadcast: Broadcast<FloorPlanLocalizerState>
    nonisolated let progressBroadcast = Broadcast<Double>(.bufferingNewest(64))
    nonisolated let positionBroadcast: Broadcast<Position>
    nonisolated let eventBroadcast: Broadcast<LocalizationEvent>
    /// The calibration's quality at each time when it can have changed, only while there are subscribers.
    nonisolated let qualityBroadcast: Broadcast<Calibration.Quality>
    nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    /// The counts of the elements in streams that are derived from others.
    nonisolated let derivedElements = DerivedElements()

    /// Creates a stopped floor plan localizer.
    ///
    /// - Parameters:
    ///   - plan: the plan of the floor that the device is on, from `Venue.floorPlan(_:)` or
    ///     `VenueSource.fetchFloorPlan(_:of:)`.
    ///   - source: the source of the readings.
    ///   - venues: the source of the venue's packet.
    ///   - settings: the settings of the session; the parameters of ``prepare(_:)`` override them.
    ///   - clock: the clock that measures the time between readings of a live source.
    ///   - seed: the seed of the random numbers; on a recording, the same seed gives the same positions.
    ///   - tables: the tables to share with other sessions that have the same object.
    public init(
        on plan: FloorPlan, source: some ScanSource, venues: some VenueSource,
        settings: LocalizationSettings = LocalizationSettings(), clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = 0, tables: SharedTables = SharedTables()
    ) {
        floorPlan = plan
        stateBroadcast = Broadcast(of: source.pace, replaysLatest: true)
        positionBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        eventBroadcast = Broadcast(of: source.pace)
        qualityBroadcast = Broadcast(of: source.pace)
        let machine = FloorPlanLocalizerMachine(
            plan: plan, settings: settings, seed: seed, pace: source.pace, preparesApart: true
        ) {
            PositioningEngine(venue: $0, tables: tables, settings: $1, seed: seed)
        }
        runtime = SessionRuntime(machine, source: source, venues: venues, clock: clock)
        stateBroadcast.send(.stopped(nil))
    }

    /// The current state of the localizer.
    public var state: FloorPlanLocalizerState { runtime.driver.machine.state }
    /// The time between the reception of the latest beacon and the position computed from it.
    ///
    /// The source and the session may use different clocks, so the quickest delivery of the session is assumed to have
    /// no delay. The value is zero while the localizer emits no positions.
    public var latency: Duration { runtime.driver.machine.latency }

    /// A stream of the localizer's states, beginning with the current one. Each access returns a new stream.
    public nonisolated var states: AsyncStream<FloorPlanLocalizerState> { stateBroadcast.subscribe() }
    /// A stream of the fraction of the venue's packet that has been fetched, while the state is `loading`.
    public nonisolated var loadingProgress: AsyncStream<Double> { progressBroadcast.subscribe() }
    /// A stream of positions. It buffers the newest 1024 positions, on a recording all of them.
    public nonisolated var positions: AsyncStream<Position> { positionBroadcast.subscribe() }
    /// Returns a stream of positions that can begin with the latest one; buffered like ``positions``.
    ///
    /// - Parameter beginsWithLatest: whether the stream begins with the latest position, if there is one; `false`
    ///   returns the same stream as ``positions``.
    public nonisolated func positions(beginningWithLatest beginsWithLatest: Bool) -> AsyncStream<Position> {
        positionBroadcast.subscribe(beginningWithLatest: beginsWithLatest)
    }
    /// The latest position; nil before the first one.
    ///
    /// The value stays after ``stop()``. Compare its instant with the current one to find its age.
    public nonisolated var latestPosition: Position? { positionBroadcast.latest }
    /// A stream of the rooms and fences that the device enters and leaves; buffered like ``positions``.
    public nonisolated var events: AsyncStream<LocalizationEvent> { eventBroadcast.subscribe() }
    /// A stream of errors, including those that don't end the session.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }
    /// The number of elements of all streams that slow subscribers have lost.
    public nonisolated var droppedElements: Int {
        stateBroadcast.dropped + progressBroadcast.dropped + positionBroadcast.dropped + eventBroadcast.dropped
            + errorBroadcast.dropped + qualityBroadcast.dropped + derivedElements.dropped
    }

    /// Connects to the venue source and checks that it has the venue. Does nothing if that is done or in progress.
    public func connect() async { await begin(with: .connect) }

    /// Fetches the venue's packet and prepares the session, connecting first if necessary.
    ///
    /// This method does nothing if the session is prepared or its preparation is in progress.
    /// - Parameter parameters: the parameters of the session; until ``stop()``, only those of the first call apply.
    public func prepare(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) async {
        await begin(with: .prepare(parameters))
    }

    /// Starts positioning, preparing the session first if necessary.
    ///
    /// This method does nothing if positioning has started or its start is in progress.
    /// - Parameter parameters: the parameters of the session; ignored if the session was prepared before.
    public func start(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) async {
        await begin(with: .start(parameters))
    }

    /// Ends the session. After this method returns, the localizer emits nothing until its next use.
    public func stop() async { await handle(.stop) }

    /// Submits a known position of the device.
    ///
    /// Before positioning starts, the position is its starting point. Later, the positions converge to it.
    /// - Parameters:
    ///   - place: the position in metres, in pixels or as a coordinate.
    ///   - radius: 68 % radius, in pixels for a pixel position and in metres otherwise.
    ///   - isSoft: `true` combines the position with the radio readings; `false` replaces their evidence.
    /// - Returns: the outcome of the fix.
    /// - Throws: `FixError` if the position or the radius is invalid, or if the position is off the plan by more than
    ///   50 m plus the radius.
    @discardableResult public func submit(
        _ place: FixPlace, radius: Double, isSoft: Bool = false
    ) async throws(FixError) -> FixOutcome {
        let fix = try floorPlan.map.fix(at: place, radius: radius, isSoft: isSoft, instant: runtime.timeline.now)
        if let problem = fix.problem(on: floorPlan.map) { throw problem }
        await handle(.fix(fix))
        return runtime.driver.machine.fixOutcome ?? .ignored(.methodWithoutMemory)
    }

    /// The calibration of the device from this and earlier sessions; see ``setCalibration(_:)``.
    public var calibration: Calibration { runtime.driver.machine.calibration ?? Calibration() }

    /// Sets the calibration of the device, from an earlier session. It takes effect with the next start.
    public func setCalibration(_ calibration: Calibration) async {
        await handle(.calibration(calibration))
        publishQuality()
    }

    /// Passes the quality to the subscribers, if there are any.
    func publishQuality() {
        if qualityBroadcast.hasSubscribers { qualityBroadcast.send(calibration.quality) }
    }

    /// The monitored geofences, in the order in which monitoring started.
    public var monitoredGeofences: [Geofence] { runtime.driver.machine.session.monitoredGeofences }

    /// Changes the monitored geofences.
    func monitor(_ change: GeofenceChange) async { await handle(.monitor(change)) }
}

extension FloorPlanLocalizer: SessionShell {
    package func emit(_ output: SessionDriver<FloorPlanLocalizerMachine<PositioningEngine>>.Step) {
        switch output.directive {
        case .publish(let state):
            stateBroadcast.send(state)
            publishQuality()
        case .emitProgress(let fraction): progressBroadcast.send(fraction)
        case .emit(let position):
            positionBroadcast.send(position)
            publishQuality()
        case .emitEvent(let event): eventBroadcast.send(event.timed(by: runtime.source.wallClock))
        case .report(let error): emit(error)
        case .startScanning, .stopScanning, .schedule, .cancelFetch, .fetchCatalogue, .fetchPacket,
            .prepareBelief:
            break  // the shell's work
        }
    }

    package func emit(_ error: LocalizationError) { errorBroadcast.send(error) }
}

extension FloorPlanLocalizer: StreamSource {}

extension FloorPlanLocalizer {
    /// Starts monitoring a geofence, in addition to the fences of the floor plan's venue.
    ///
    /// ``events`` reports its entries and exits. The localizer monitors the geofence until you call
    /// ``stopMonitoring(_:)``, also in later sessions. A geofence with the identifier of a monitored one replaces it.
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
        await monitor(.start(fences))
    }

    /// Stops monitoring a geofence, without an exit event. An unknown identifier has no effect.
    public func stopMonitoring(_ id: String) async { await monitor(.stop([id])) }

    /// Stops monitoring all geofences, without exit events. The fences of the venue stay monitored.
    package func stopMonitoringGeofences() async { await monitor(.stopAll) }
}
