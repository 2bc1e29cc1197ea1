import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

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
    /// The floor plan that it is bound to.
    public nonisolated let floorPlan: FloorPlan

    package var runtime: SessionRuntime<FloorPlanLocalizerMachine<PositioningEngine>>

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
        positionBroadcast = Broadcast(of: source.pace, keepsLatest: true)
        eventBroadcast = Broadcast(of: source.pace)
        let machine = FloorPlanLocalizerMachine(
            plan: plan, settings: settings, seed: seed, pace: source.pace, preparesApart: true
        ) {
            PositioningEngine(venue: $0, tables: tables, settings: $1, seed: seed)
        }
        runtime = SessionRuntime(machine, source: source, venues: venues, clock: clock)
        stateBroadcast.send(.stopped(nil))
    }

    /// What the positioner is doing now.
    public var state: FloorPlanLocalizerState { runtime.driver.machine.state }
    /// From the instant at which the radio heard the latest beacon to the position that it led to.
    ///
    /// The quickest delivery of the session counts as one without delay, as source and session may have different clocks.
    /// Zero while no positions are told.
    public var latency: Duration { runtime.driver.machine.latency }

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
    public func connect() async { await begin(with: .connect) }

    /// Fetches what is needed to begin, after connecting if need be; does nothing if that is done or on the way.
    ///
    /// - Parameter parameters: of the session; those of the first call count, later ones are ignored until `stop()`.
    public func prepare(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) async {
        await begin(with: .prepare(parameters))
    }

    /// Begins to tell positions, after preparing if need be; does nothing if that has begun or is on the way.
    ///
    /// - Parameter parameters: of the session; ignored if it was prepared before.
    public func start(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) async {
        await begin(with: .start(parameters))
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
        let fix = try floorPlan.map.fix(at: place, radius: radius, isSoft: isSoft, instant: runtime.timeline.now)
        if let problem = fix.problem(on: floorPlan.map) { throw problem }
        await handle(.fix(fix))
        return runtime.driver.machine.fixOutcome ?? .ignored(.methodWithoutMemory)
    }

    /// What was learned of the device so far, in this session or before; see `setCalibration(_:)`.
    public var calibration: Calibration { runtime.driver.machine.calibration ?? Calibration() }

    /// Begins with what an earlier session learned of the device: from the next start on.
    public func setCalibration(_ calibration: Calibration) async { await handle(.calibration(calibration)) }

    /// The geofences that are watched, in the order in which they were started.
    public var monitoredGeofences: [Geofence] { runtime.driver.machine.geofences.list }

    /// Watches other geofences.
    func monitor(_ change: GeofenceChange) async { await handle(.monitor(change)) }
}

extension FloorPlanLocalizer: SessionShell {
    package func emit(_ output: SessionDriver<FloorPlanLocalizerMachine<PositioningEngine>>.Step) {
        switch output.directive {
        case .publish(let state): stateBroadcast.send(state)
        case .emitProgress(let fraction): progressBroadcast.send(fraction)
        case .emit(let position): positionBroadcast.send(position)
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
