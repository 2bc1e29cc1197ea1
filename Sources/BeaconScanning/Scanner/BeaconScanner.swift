import IndoorVocabulary

/// Hears beacons: the object that users hold who want what is heard, and no positions.
///
///     let scanner = BeaconScanner(source: radio)
///     let beacons = scanner.beacons
///     await scanner.start()
///     for await record in beacons { print(record.beacon, record.rssi) }
///
/// It turns what the source delivers into events of a `ScanMachine` and carries out its directives; it decides nothing
/// itself. It scans all the time unless its settings or a power mode have the radio rest: then everything that waits for
/// silence comes late, such as the exit from a region; see ``ScannerSettings``. Between two passes the source's stream is
/// ended, so that a radio is off. A recording is cycled by the instants of its readings: what lies between two passes is left
/// out.
public actor BeaconScanner {
    let source: any ScanSource
    private var machine: ScanMachine
    /// Who takes samples of a room; nil while nobody does.
    var trainer: RoomTrainer?
    private var timeline: SessionTimeline
    private var scan = CurrentTask()
    private var alarm = SessionAlarm()

    private nonisolated let eventBroadcast: Broadcast<ScannerEvent>
    private nonisolated let scanBroadcast: Broadcast<ScanEvent>
    private nonisolated let advertisementBroadcast: Broadcast<Advertisement>
    private nonisolated let beaconBroadcast: Broadcast<BeaconRecord>
    private nonisolated let regionBroadcast: Broadcast<RegionEvent>
    private nonisolated let rangingBroadcast: Broadcast<RegionRanging>
    private nonisolated let everyRangingBroadcast: Broadcast<RegionRanging>
    private nonisolated let roomBroadcast: Broadcast<RoomEvent>
    private nonisolated let radioBroadcast: Broadcast<RadioEvent>
    private nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    private nonisolated let trackingBroadcast = Broadcast<TrackingState>(.bufferingNewest(256), replaysLatest: true)
    nonisolated let trainingBroadcast: Broadcast<TrainingProgress>
    private var toldTracking = TrackingState(isMonitoring: false, isRanging: false, insideRegions: [])

    /// Creates a scanner that is not started.
    ///
    /// - Parameters:
    ///   - source: the radio, or a recording of one.
    ///   - settings: of duty cycle, regions and ranging.
    ///   - clock: passes the time of a live source.
    ///   - seed: of the pauses after failures.
    public init(
        source: some ScanSource, settings: ScannerSettings = ScannerSettings(),
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = 0
    ) {
        self.source = source
        timeline = SessionTimeline(clock, pace: source.pace)
        machine = ScanMachine(settings: settings, pace: source.pace, seed: seed)
        eventBroadcast = Broadcast(of: source.pace)
        scanBroadcast = Broadcast(of: source.pace)
        advertisementBroadcast = Broadcast(of: source.pace)
        beaconBroadcast = Broadcast(of: source.pace)
        regionBroadcast = Broadcast(of: source.pace)
        rangingBroadcast = Broadcast(of: source.pace)
        everyRangingBroadcast = Broadcast(of: source.pace)
        roomBroadcast = Broadcast(of: source.pace)
        radioBroadcast = Broadcast(of: source.pace, newest: 256)
        trainingBroadcast = Broadcast(of: source.pace, newest: 256)
        trackingBroadcast.send(toldTracking)
    }

    /// Creates a scanner with duty cycle and timing of a power mode.
    public init(source: some ScanSource, powerMode: PowerMode, clock: some Clock<Duration> = ContinuousClock()) {
        self.init(source: source, settings: ScannerSettings(powerMode: powerMode), clock: clock)
    }

    // MARK: - Streams

    /// Passes that began and ended, and all that was heard, in the order in which it happened: what ``scanEvents``,
    /// ``advertisements`` and ``beacons`` tell, as one stream with wall-clock times. Each call gives a stream of its own,
    /// here and below.
    ///
    /// Subscribe before `start()` to get the beginning of the first pass.
    public nonisolated var events: AsyncStream<ScannerEvent> { eventBroadcast.subscribe() }
    /// Passes that began and ended, from now on.
    ///
    /// Of what nobody takes, the newest 1024 elements are kept, of a recording all, here and below.
    public nonisolated var scanEvents: AsyncStream<ScanEvent> { scanBroadcast.subscribe() }
    /// Everything that was heard, beacons or not, as it came over the air; where the source gives advertisements.
    public nonisolated var advertisements: AsyncStream<Advertisement> { advertisementBroadcast.subscribe() }
    /// The beacons that were heard.
    public nonisolated var beacons: AsyncStream<BeaconRecord> { beaconBroadcast.subscribe() }
    /// Tracked regions that were entered and left.
    public nonisolated var regionEvents: AsyncStream<RegionEvent> { regionBroadcast.subscribe() }
    /// The beacons of each region that the device is in, once a second; none without any beacon.
    public nonisolated var rangings: AsyncStream<RegionRanging> { rangingBroadcast.subscribe() }
    /// The same as `rangings`, and those without any beacon too.
    public nonisolated var everyRanging: AsyncStream<RegionRanging> { everyRangingBroadcast.subscribe() }
    /// Trained rooms that were entered, left, and still are the present ones; none until `startRooms()`.
    public nonisolated var roomEvents: AsyncStream<RoomEvent> { roomBroadcast.subscribe() }
    /// What became of the radio, as the source tells it. The newest 256 are kept.
    public nonisolated var radioEvents: AsyncStream<RadioEvent> { radioBroadcast.subscribe() }
    /// What is being done for the regions, the present state first: whether they are monitored and ranged, and whether
    /// tracking is paused. The newest 256 are kept.
    public nonisolated var trackingStates: AsyncStream<TrackingState> { trackingBroadcast.subscribe() }
    /// How far the training of a room is, with each sample, and when it is paused, resumed and ended; from now on.
    public nonisolated var trainingProgress: AsyncStream<TrainingProgress> { trainingBroadcast.subscribe() }
    /// Errors: the scanner goes on after a pause, unless they are critical. The newest 256 are kept.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }
    /// How many records, rangings and region events subscribers lost because they took them too slowly.
    public nonisolated var droppedElements: Int {
        eventBroadcast.dropped + advertisementBroadcast.dropped + beaconBroadcast.dropped + regionBroadcast.dropped
            + rangingBroadcast.dropped
            + everyRangingBroadcast.dropped + roomBroadcast.dropped
    }

    // MARK: - Scanning

    /// Whether it was started and not stopped; the end of the source stops it too.
    public var isStarted: Bool { machine.isStarted }
    /// Whether a pass is on.
    public var isScanning: Bool { machine.isScanning }
    /// How many sightings and advertisements were dropped because their RSSI is no measurement.
    public var discardedReadings: Int { machine.discarded }
    /// What was counted since this scanner was created; it tells no positions.
    public private(set) var activityCounts = ActivityCounts()

    /// Begins the first pass; does nothing if it was started already.
    ///
    /// With settings out of range, a critical error names them, and nothing is scanned.
    public func start() {
        if !machine.isStarted { timeline.begin() }
        perform(machine.handle(.start, at: timeline.now))
        tellTracking()
    }

    /// Ends the scan: once this returns, nothing more is emitted until the next `start()`. What was emitted before may
    /// still wait in a subscriber's stream. Regions stay tracked, and are entered anew.
    public func stop() {
        perform(machine.handle(.stop, at: timeline.now))
        tellTracking()
    }

    /// Keeps another duty cycle from the next boundary on: a pass or a rest that is on ends when it would have ended.
    ///
    /// A pass without an end then ends one `scanDuration` after the change.
    /// - Throws: what is out of range; then nothing is changed.
    public func setDutyCycle(_ cycle: DutyCycle) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: cycle.problems) {
            error.code = .generic
            throw error
        }
        perform(machine.handle(.change(cycle, machine.settings.timing), at: timeline.now))
    }

    /// Keeps another schedule: its duty cycle from the next boundary on, its timing from the next pass on.
    ///
    ///     try scanner.setSchedule(ScanSchedule(settings))
    ///
    /// - Throws: what is out of range; then nothing is changed.
    public func setSchedule(_ schedule: ScanSchedule) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: schedule.problems) {
            error.code = .generic
            throw error
        }
        perform(machine.handle(.change(schedule.cycle, schedule.timing), at: timeline.now))
    }

    /// Keeps another power mode: its duty cycle from the next boundary on, its timing from the next pass on.
    public func setPowerMode(_ mode: PowerMode) {
        perform(machine.handle(.change(mode.dutyCycle, mode.timing), at: timeline.now))
    }
}

// MARK: - Regions

extension BeaconScanner {
    /// What is being done for the regions.
    public var trackingState: TrackingState { machine.trackingState }

    /// Tracks a region under a name; its entries and exits are told by `regionEvents`.
    ///
    /// Regions may overlap, as in all beacons of a UUID and those of one major: each has events of its own.
    /// - Returns: false if the region is tracked already, or another one has the name; then nothing is changed.
    @discardableResult public func track(_ region: BeaconRegion, id: String) -> Bool {
        defer { tellTracking() }
        return machine.regions.track(region, id: id)
    }

    /// Tracks the beacons with a UUID that is given as text, and with a major and minor where given.
    ///
    /// - Returns: false if the region is tracked already, or another one has the name; then nothing is changed.
    /// - Throws: `RegionError.malformedUUID` if the text is no UUID.
    @discardableResult public func track(
        uuid: String, major: UInt16? = nil, minor: UInt16? = nil, id: String
    ) throws(RegionError) -> Bool {
        guard let parsed = BeaconUUID(uuid) else { throw .malformedUUID(uuid) }
        return track(BeaconRegion(uuid: parsed, major: major, minor: minor), id: id)
    }

    /// Tracks the region of that name no more. If the device is in it, no exit is told.
    ///
    /// - Returns: whether it was tracked.
    @discardableResult public func stopTracking(_ id: String) -> Bool {
        defer { settleTracking() }
        machine.rooms.forget(id)
        return machine.regions.stopTracking { $1 == id }
    }

    /// Tracks a region no more, whatever its name. If the device is in it, no exit is told.
    ///
    /// - Returns: whether it was tracked.
    @discardableResult public func stopTracking(_ region: BeaconRegion) -> Bool {
        defer { settleTracking() }
        machine.regions.id(of: region).map { machine.rooms.forget($0) }
        return machine.regions.stopTracking { other, _ in other == region }
    }

    /// Tracks no region any more. No exits are told.
    public func clearTrackedRegions() {
        machine.regions.clear()
        machine.rooms.forget()
        settleTracking()
    }

    /// Keeps the regions, but tells nothing of them until `resumeTracking()`. No exits are told.
    public func pauseTracking() {
        machine.regions.pause()
        machine.rooms.forget()
        settleTracking()
    }

    /// Ends a pause: regions whose beacons are heard are entered anew. Without a pause, nothing happens.
    public func resumeTracking() {
        machine.regions.resume()
        tellTracking()
    }

    /// Believes the device outside all regions and rooms, without an exit: those whose beacons are heard next are entered
    /// anew.
    public func forgetPresence() {
        machine.regions.forget()
        machine.rooms.forget()
        settleTracking()
    }
}

// MARK: - Rooms

extension BeaconScanner {
    /// Has a classifier tell the rooms of a tracked region, in place of one before; nil for none.
    ///
    /// The room that the device is in is forgotten, without an exit.
    public func insertClassifier(_ classifier: (any Classifier)?, for regionID: String) {
        machine.rooms.insert(classifier, for: regionID)
    }

    /// Tells rooms by `roomEvents` from now on; the ones that the device is in are entered anew. Off until then.
    public func startRooms() { machine.rooms.start() }

    /// Tells no rooms any more. No exits are told.
    public func stopRooms() { machine.rooms.stop() }

    /// Whether rooms are told.
    public var isTellingRooms: Bool { machine.rooms.isStarted }

    /// The room that the device is in, of each region that has one, by the region's name.
    public var presentRooms: [String: String] { machine.rooms.rooms }

    /// What the classifier told last in a region, of all its rooms; nil if nothing since the region was entered.
    public func roomEstimate(in regionID: String) -> RoomEstimate? { machine.rooms.estimate(in: regionID) }
}

// MARK: - Source and time

extension BeaconScanner {
    private func perform(_ directives: [ScanMachine.Directive]) {
        let clock = directives.isEmpty ? nil : source.wallClock
        for directive in directives {
            activityCounts.note(directive)
            switch directive {
            case .startSource(let timing):
                scan.scan(source, timing: timing, for: self) {
                    $0.receive($1, of: $2)
                } report: {
                    $0.tell($1, of: $2)
                } finish: {
                    $0.finish($1, of: $2)
                }
            case .stopSource: scan.cancel()
            case .publish(let event):
                eventBroadcast.send(ScannerEvent(.scan(event), by: clock))
                scanBroadcast.send(event)
            case .emitAdvertisement(let advertisement):
                eventBroadcast.send(ScannerEvent(.advertisement(advertisement), by: clock))
                advertisementBroadcast.send(advertisement)
            case .emitBeacon(var record):
                record.unixTime = clock?.unixTime(at: record.instant)
                eventBroadcast.send(ScannerEvent(.beacon(record), by: clock))
                beaconBroadcast.send(record)
            case .emitRoomEvent(let event): roomBroadcast.send(event)
            case .emitRegionEvent(let event):
                tellTracking()
                regionBroadcast.send(event)
            case .emitRanging(let ranging):
                train(with: ranging)
                everyRangingBroadcast.send(ranging)
                if !ranging.ranges.isEmpty { rangingBroadcast.send(ranging) }
            case .passOn(let event): radioBroadcast.send(event)
            case .report(let error): errorBroadcast.send(error)
            }
        }
        setAlarm()
    }

    private func receive(_ reading: SensorReading, of number: Int) {
        guard scan.isCurrent(number) else { return }
        activityCounts.noteReading(reading)
        machine.shift(by: timeline.align(to: reading.instant))
        perform(machine.handle(.reading(reading), at: reading.instant))
    }

    /// A part of the source has failed, and the scan goes on.
    private func tell(_ error: LocalizationError, of number: Int) {
        guard scan.isCurrent(number) else { return }
        activityCounts.errors += 1
        errorBroadcast.send(error)
    }

    private func finish(_ error: (any Error)?, of number: Int) {
        guard scan.isCurrent(number) else { return }
        let event: ScanMachine.Event =
            error.map { .sourceFailed(LocalizationError(reporting: $0, code: .generic, "the scan failed")) }
            ?? .sourceEnded
        perform(machine.handle(event, at: timeline.now))
    }

    /// What is tracked was changed by the caller.
    private func settleTracking() {
        setAlarm()
        tellTracking()
    }

    private func tellTracking() {
        let state = machine.trackingState
        guard state != toldTracking else { return }
        toldTracking = state
        trackingBroadcast.send(state)
    }

    /// Makes sure that a live scan is woken when its machine wants to be.
    private func setAlarm() {
        alarm.set(to: machine.nextWake, on: timeline, for: self) { $0.wakeUp($1) }
    }

    private func wakeUp(_ number: Int) {
        guard let wake = alarm.ring(number) else { return }
        perform(machine.handle(.tick, at: max(wake, timeline.now)))
    }
}

extension BeaconScanner: StreamSource {}
