import IndoorVocabulary

/// A scanner for beacons, for applications that use receptions and regions, but no positions.
///
///     let scanner = BeaconScanner(source: radio)
///     let beacons = scanner.beacons
///     await scanner.start()
///     for await record in beacons { print(record.beacon, record.rssi) }
///
/// It passes the readings of the source to a `ScanMachine` as events and performs the machine's directives; it makes no
/// decisions itself. By default, it scans all the time. With a duty cycle from its settings or a power mode, events
/// that depend on silence, such as the exit from a region, are late; see ``ScannerSettings``. Between two passes, it
/// ends the stream of the source, so that the radio is off. On a recording, the duty cycle follows the instants of the
/// readings, and the scanner ignores the receptions between two passes.
public actor BeaconScanner {
    let source: any ScanSource
    private var machine: ScanMachine
    private var decoder = ReadingDecoder()
    /// The training of a room; nil while there is none.
    var trainer: RoomTrainer?
    private var timeline: SessionTimeline
    private var scan = CurrentTask()
    private var alarm = SessionAlarm()

    nonisolated let eventBroadcast: Broadcast<ScannerEvent>
    nonisolated let scanBroadcast: Broadcast<ScanEvent>
    nonisolated let advertisementBroadcast: Broadcast<Advertisement>
    nonisolated let beaconBroadcast: Broadcast<BeaconRecord>
    nonisolated let regionBroadcast: Broadcast<RegionEvent>
    nonisolated let rangingBroadcast: Broadcast<RegionRanging>
    nonisolated let everyRangingBroadcast: Broadcast<RegionRanging>
    nonisolated let roomBroadcast: Broadcast<RoomEvent>
    nonisolated let radioBroadcast: Broadcast<RadioEvent>
    nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    nonisolated let trackingBroadcast = Broadcast<TrackingState>(.bufferingNewest(256), replaysLatest: true)
    nonisolated let trainingBroadcast: Broadcast<TrainingProgress>
    /// The broadcasts of room estimates that have had a subscriber, by the region's name.
    nonisolated let estimateBroadcasts = Guarded<[String: Broadcast<RoomEstimate>]>([:])
    private var toldTracking = TrackingState(isMonitoring: false, isRanging: false, insideRegions: [])

    /// Creates a scanner that is not started.
    ///
    /// - Parameters:
    ///   - source: the radio, or a recording of one.
    ///   - settings: the settings of duty cycle, regions and ranging.
    ///   - clock: the clock of a live source.
    ///   - seed: the seed of the random pauses after failures.
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

    /// Creates a scanner with the duty cycle and timing of a power mode.
    public init(source: some ScanSource, powerMode: PowerMode, clock: some Clock<Duration> = ContinuousClock()) {
        self.init(source: source, settings: ScannerSettings(powerMode: powerMode), clock: clock)
    }

    // MARK: - Streams

    /// The elements of ``scanEvents``, ``advertisements`` and ``beacons`` as one ordered stream with wall-clock times.
    /// Each access to this and the following properties returns a separate stream.
    ///
    /// Subscribe before `start()` to get the beginning of the first pass.
    public nonisolated var events: AsyncStream<ScannerEvent> { eventBroadcast.subscribe() }
    /// The beginning and the end of each pass, from now on.
    ///
    /// The stream stores the newest 1024 elements for a slow reader, or all elements on a recording; this also applies
    /// to the following streams.
    public nonisolated var scanEvents: AsyncStream<ScanEvent> { scanBroadcast.subscribe() }
    /// All received advertisements from beacons and other devices, if the source delivers advertisements.
    public nonisolated var advertisements: AsyncStream<Advertisement> { advertisementBroadcast.subscribe() }
    /// The received beacons.
    public nonisolated var beacons: AsyncStream<BeaconRecord> { beaconBroadcast.subscribe() }
    /// Entries into tracked regions and exits from them.
    public nonisolated var regionEvents: AsyncStream<RegionEvent> { regionBroadcast.subscribe() }
    /// The ranges to the beacons of each region that the device is in, once per second; without empty rangings.
    public nonisolated var rangings: AsyncStream<RegionRanging> { rangingBroadcast.subscribe() }
    /// The same as `rangings`, including empty rangings.
    public nonisolated var everyRanging: AsyncStream<RegionRanging> { everyRangingBroadcast.subscribe() }
    /// Entries into trained rooms, exits from them, and updates of the current rooms; none until `startRooms()`.
    public nonisolated var roomEvents: AsyncStream<RoomEvent> { roomBroadcast.subscribe() }
    /// Status changes of the radio. The stream stores the newest 256.
    public nonisolated var radioEvents: AsyncStream<RadioEvent> { radioBroadcast.subscribe() }
    /// The states of region tracking, beginning with the current one. The stream stores the newest 256.
    public nonisolated var trackingStates: AsyncStream<TrackingState> { trackingBroadcast.subscribe() }
    /// The progress of room training with each sample, and when it is paused, resumed and ended; from now on.
    public nonisolated var trainingProgress: AsyncStream<TrainingProgress> { trainingBroadcast.subscribe() }
    /// The errors of the scan. After an error that is not critical, the scanner continues after a pause. The stream
    /// stores the newest 256.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }
    /// The number of elements of all streams that slow subscribers lost.
    public nonisolated var droppedElements: Int {
        let receptions = eventBroadcast.dropped + advertisementBroadcast.dropped + beaconBroadcast.dropped
        let regions = regionBroadcast.dropped + rangingBroadcast.dropped + everyRangingBroadcast.dropped
        let rooms = roomBroadcast.dropped + trainingBroadcast.dropped + trackingBroadcast.dropped
        let reports = scanBroadcast.dropped + radioBroadcast.dropped + errorBroadcast.dropped
        let estimates = estimateBroadcasts.withLock { $0.values.reduce(0) { $0 + $1.dropped } }
        return receptions + regions + rooms + reports + estimates
    }

    // MARK: - Scanning

    /// Whether the scanner was started and not stopped. The end of the source also stops it.
    public var isStarted: Bool { machine.isStarted }
    /// Whether the radio scans now.
    public var isScanning: Bool { machine.isScanning }
    /// The number of sightings and advertisements that were discarded because their RSSI is not a measurement.
    public var discardedReadings: Int { machine.discarded }
    /// The activity since the scanner was created; it includes no positions.
    public private(set) var activityCounts = ActivityCounts()

    /// Begins the first pass; does nothing if the scanner is started.
    ///
    /// If settings are out of range, the scanner emits a critical error with their names, and doesn't scan.
    public func start() {
        if !machine.isStarted { timeline.begin() }
        perform(machine.handle(.start, at: timeline.now))
        tellTracking()
    }

    /// Ends the scan. After the method returns, the scanner emits nothing until the next `start()`; a subscriber's
    /// stream may still contain earlier elements. Regions stay tracked, and the device enters them again after the next
    /// start.
    public func stop() {
        perform(machine.handle(.stop, at: timeline.now))
        tellTracking()
    }

    /// Changes the duty cycle from the next boundary: the current pass or rest ends as before.
    ///
    /// An endless pass ends one `scanDuration` after the change.
    /// - Throws: `LocalizationError` with the values that are out of range; the duty cycle is then unchanged.
    public func setDutyCycle(_ cycle: DutyCycle) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: cycle.problems) {
            error.code = .generic
            throw error
        }
        perform(machine.handle(.change(cycle, machine.settings.timing), at: timeline.now))
    }

    /// Changes the schedule. The duty cycle changes at the next boundary, the timing at the next pass.
    ///
    ///     try scanner.setSchedule(ScanSchedule(settings))
    ///
    /// - Throws: `LocalizationError` with the values that are out of range; the schedule is then unchanged.
    public func setSchedule(_ schedule: ScanSchedule) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: schedule.problems) {
            error.code = .generic
            throw error
        }
        perform(machine.handle(.change(schedule.cycle, schedule.timing), at: timeline.now))
    }

    /// Changes the power mode. The duty cycle changes at the next boundary, the timing at the next pass.
    public func setPowerMode(_ mode: PowerMode) {
        perform(machine.handle(.change(mode.dutyCycle, mode.timing), at: timeline.now))
    }
}

// MARK: - Regions

extension BeaconScanner {
    /// The state of region tracking.
    public var trackingState: TrackingState { machine.trackingState }

    /// Tracks a region under a name; `regionEvents` emits its entries and exits.
    ///
    /// Regions may overlap, for example all beacons of a UUID and those of one major; each region has its own events.
    /// - Returns: false, without a change, if the region is tracked already, or if another region has the name.
    @discardableResult public func track(_ region: BeaconRegion, id: String) -> Bool {
        defer { tellTracking() }
        return machine.regions.track(region, id: id)
    }

    /// Tracks the beacons with a UUID as text and, if given, a major and a minor.
    ///
    /// - Returns: false, without a change, if the region is tracked already, or if another region has the name.
    /// - Throws: `RegionError.malformedUUID` if the text is not a UUID.
    @discardableResult public func track(
        uuid: String, major: UInt16? = nil, minor: UInt16? = nil, id: String
    ) throws(RegionError) -> Bool {
        guard let parsed = BeaconUUID(uuid) else { throw .malformedUUID(uuid) }
        return track(BeaconRegion(uuid: parsed, major: major, minor: minor), id: id)
    }

    /// Stops tracking the region with a name, without an exit event.
    ///
    /// - Returns: whether it was tracked.
    public func stopTracking(_ id: String) -> Bool {
        defer { settleTracking() }
        machine.rooms.forget(id)
        return machine.regions.stopTracking { $1 == id }
    }

    /// Stops tracking a region, without an exit event.
    ///
    /// - Returns: whether it was tracked.
    public func stopTracking(_ region: BeaconRegion) -> Bool {
        defer { settleTracking() }
        machine.regions.id(of: region).map { machine.rooms.forget($0) }
        return machine.regions.stopTracking { other, _ in other == region }
    }

    /// Stops tracking all regions, without exit events.
    public func clearTrackedRegions() {
        machine.regions.clear()
        machine.rooms.forget()
        settleTracking()
    }

    /// Stores the regions, but emits no events for them until `resumeTracking()`. There are no exit events.
    public func pauseTracking() {
        machine.regions.pause()
        machine.rooms.forget()
        settleTracking()
    }

    /// Ends a pause: the next reception of a beacon enters its regions again. The method has no effect if tracking
    /// isn't paused.
    public func resumeTracking() {
        machine.regions.resume()
        tellTracking()
    }

    /// Treats the device as outside all regions and rooms, without exit events: the next reception of a beacon enters
    /// its regions again.
    public func forgetPresence() {
        machine.regions.forget()
        machine.rooms.forget()
        settleTracking()
    }
}

// MARK: - Rooms

extension BeaconScanner {
    /// Sets the classifier of the rooms of a tracked region; nil removes it.
    ///
    /// The scanner forgets the current room, without an exit event.
    public func insertClassifier(_ classifier: (any Classifier)?, for regionID: String) {
        machine.rooms.insert(classifier, for: regionID)
    }

    /// Starts room detection, which is off by default; `roomEvents` then emits entries into the current rooms.
    public func startRooms() { machine.rooms.start() }

    /// Stops room detection, without exit events.
    public func stopRooms() { machine.rooms.stop() }

    /// Whether room detection is on.
    package var isTellingRooms: Bool { machine.rooms.isStarted }

    /// The current room of each region that has one, by the name of the region.
    public var presentRooms: [String: String] { machine.rooms.rooms }
}

// MARK: - Source and time

extension BeaconScanner {
    private func perform(_ directives: [ScanMachine.Directive]) {
        let clock = directives.isEmpty ? nil : wallClock
        for directive in directives {
            activityCounts.note(directive)
            switch directive {
            case .startSource(let timing):
                decoder = ReadingDecoder()
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
            case .emitRoomEstimate(let estimate, let id): estimateBroadcasts.withLock(\.self)[id]?.send(estimate)
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

    /// The wall clock of the scanner's timeline, which continues after the source's clock was set back.
    private var wallClock: WallClock? {
        guard var clock = source.wallClock else { return nil }
        clock.timeOfZero += Instant.zero.duration(to: timeline.ofSource(.zero))
        return clock
    }

    private func receive(_ reading: SensorReading, of number: Int) {
        guard scan.isCurrent(number) else { return }
        activityCounts.noteReading(reading)
        var reading = reading
        reading.instant = timeline.place(reading.instant, of: .source)
        machine.shift(by: timeline.align(to: reading.instant))
        perform(machine.handle(.reading(decoder.decode(reading)), at: reading.instant))
    }

    /// Emits the error of a part of the source, while the scan continues.
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

    /// Updates the alarm and the tracking state after the caller has changed the tracked regions.
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

    /// Sets the alarm of a live scan to the next wake-up of its machine.
    private func setAlarm() {
        alarm.set(to: machine.nextWake, on: timeline, for: self) { $0.wakeUp($1) }
    }

    private func wakeUp(_ number: Int) {
        guard let wake = alarm.ring(number) else { return }
        perform(machine.handle(.tick, at: max(wake, timeline.now)))
    }
}

extension BeaconScanner: StreamSource {}

extension BeaconScanner {
    /// The probabilities of all trained rooms of a region, for each scan with a valid estimate, regardless of the
    /// confirmed room.
    ///
    /// The stream emits elements after `startRooms()`. It stores the newest 1024 elements for a slow reader, or all
    /// elements on a recording.
    public nonisolated func roomEstimates(in regionID: String) -> AsyncStream<RoomEstimate> {
        estimateBroadcasts.withLock { [pace = source.pace] broadcasts in
            let broadcast = broadcasts[regionID] ?? Broadcast(of: pace)
            broadcasts[regionID] = broadcast
            return broadcast.subscribe()
        }
    }
}

// Training of rooms, from the scanner's rangings.
extension BeaconScanner {
    /// Records samples of a room, one with each ranging, until the training is finished or aborted.
    ///
    ///     let progress = scanner.trainingProgress
    ///     await scanner.train(room: "kitchen", in: "home")
    ///     for await step in progress where step.quality.isSufficient { break }
    ///     let kitchen = await scanner.finishTraining()
    ///
    /// One room is trained at a time: a new training discards the samples of an unfinished one. The region must be
    /// tracked; the scanner ranges it while the device is in it.
    /// - Parameters:
    ///   - room: the name of the room that the device is in.
    ///   - regionID: the name of the tracked region that contains the room; nil to use the rangings of all regions.
    ///   - placement: the place where a person carries the device during the training.
    ///   - unixTime: returns the wall-clock time at an instant of the source, in seconds since 1970 (UTC); called for
    ///     each sample. Nil uses the source's wall clock; without one, samples begin in 1970.
    public func train(
        room: String, in regionID: String? = nil, placement: RoomFingerprint.Placement = .hand,
        unixTime: (@Sendable (Instant) -> Double)? = nil
    ) {
        let clock = unixTime ?? { [source] in source.wallClock?.unixTime(at: $0).seconds ?? 0 }
        trainer = RoomTrainer(room: room, regionID: regionID, placement: placement, unixTime: clock)
        tellTraining()
    }

    /// The progress of the training; nil if no room is being trained.
    package var training: TrainingProgress? { trainer?.progress }

    /// Pauses the training until `resumeTraining()`.
    public func pauseTraining() {
        trainer?.pause()
        tellTraining()
    }

    /// Ends a pause.
    public func resumeTraining() {
        trainer?.resume()
        tellTraining()
    }

    /// Ends the training and discards its samples.
    public func abortTraining() {
        trainer?.abort()
        tellTraining()
        trainer = nil
    }

    /// Ends the training.
    ///
    /// - Returns: the fingerprint, which can be without samples; nil if no room is being trained.
    public func finishTraining() -> RoomFingerprint? {
        guard var ended = trainer else { return nil }
        let room = ended.room
        let fingerprint = ended.finish()
        trainer = nil
        trainingBroadcast.send(TrainingProgress(room: room, state: .idle, fingerprint: fingerprint))
        return fingerprint
    }

    /// Passes a ranging to the training.
    func train(with ranging: RegionRanging) {
        if trainer?.observe(ranging) == true { tellTraining() }
    }

    private func tellTraining() {
        if let training { trainingBroadcast.send(training) }
    }
}
