import IndoorVocabulary

/// The state machine of a scanner: duty cycle, records, regions and rooms.
///
/// The machine is a value, and the caller passes the time. Before an event, the machine performs all ticks that are due
/// earlier, each at its own instant. A pass includes its first instant and excludes its last one. On a live source, a
/// tick that is more than a second late is performed at the current time, because a computer that was asleep did not
/// scan in the meantime.
package struct ScanMachine: Sendable {
    package enum Event: Hashable, Sendable {
        case start
        case stop
        case tick
        case reading(DecodedReading)
        case sourceEnded
        case sourceFailed(LocalizationError)
        /// A change of the duty cycle at the next boundary, and of the timing at the next pass.
        case change(DutyCycle, ScanTiming?)
    }

    package enum Directive: Hashable, Sendable {
        case startSource(ScanTiming?)
        case stopSource
        case publish(ScanEvent)
        case emitAdvertisement(Advertisement)
        case emitBeacon(BeaconRecord)
        case emitRegionEvent(RegionEvent)
        /// A ranging, which may contain no ranges.
        case emitRanging(RegionRanging)
        case emitRoomEstimate(RoomEstimate, regionID: String)
        case emitRoomEvent(RoomEvent)
        case passOn(RadioEvent)
        case report(LocalizationError)
    }

    /// The delay of a tick above which the computer must have been asleep.
    private static let lateness = Duration.seconds(1)

    package private(set) var settings: ScannerSettings
    private let pace: ScanPace
    private var duty: DutyCycleMachine
    /// The tracked regions. Changing them returns no directives.
    package var regions: RegionMachine
    /// The rooms within the regions. Changing them returns no directives.
    package var rooms: RoomMachine
    private var ranger: Ranger
    private var rangerCleanup = Instant.zero
    private var backoff: Backoff
    private var failures = 0
    /// The earliest time to start a failed source again.
    private var retryAt: Instant?
    private var startedAt = Instant.zero
    /// The latest instant. Late events are handled at this instant, so that the time never decreases.
    private var latest: Instant?
    private var hasReading = false
    /// Whether the radio receives while it scans, according to its latest status.
    private var isHearing = true

    /// Whether the radio scans, according to the emitted events.
    package private(set) var isScanning = false
    /// The number of sightings and advertisements that were discarded because their RSSI is not a measurement.
    package private(set) var discarded = 0

    /// Creates a stopped machine.
    ///
    /// - Parameter seed: the seed of the random pauses after failures.
    package init(settings: ScannerSettings, pace: ScanPace, seed: UInt64) {
        self.settings = settings
        self.pace = pace
        duty = DutyCycleMachine(settings.dutyCycle)
        regions = RegionMachine(settings: settings.regions)
        rooms = RoomMachine(settings: settings.rooms)
        ranger = Ranger(settings: settings.ranging)
        backoff = Backoff(first: settings.retryPause * 2, seed: seed)
    }

    /// The number of beacons that are ranged.
    package var rangedBeacons: Int { ranger.count }

    /// Whether the machine was started and not stopped.
    package var isStarted: Bool { duty.state != .stopped }

    /// The state of region tracking.
    package var trackingState: TrackingState {
        let inside = regions.insideRegions
        let isMonitoring = isStarted && !regions.isPaused && !regions.isEmpty
        return TrackingState(
            isMonitoring: isMonitoring, isRanging: isMonitoring && !inside.isEmpty, insideRegions: inside,
            isPaused: regions.isPaused)
    }

    /// When the machine needs a tick; nil if never.
    package var nextWake: Instant? {
        let retry = duty.isScanning && !isScanning ? retryAt : nil
        return [duty.nextWake, regions.nextWake, retry].compactMap(\.self).min()
    }

    /// Shifts the latest instant and the due times onto another timeline.
    package mutating func shift(by duration: Duration) {
        duty.shift(by: duration)
        regions.shift(by: duration)
        retryAt = retryAt?.advanced(by: duration)
        startedAt = startedAt.advanced(by: duration)
        latest = latest?.advanced(by: duration)
    }

    /// Handles an event; returns the directives for the scanner.
    package mutating func handle(_ event: Event, at instant: Instant) -> [Directive] {
        if event == .start, !isStarted { return start(at: instant) }
        guard isStarted else {
            if case .change(let cycle, let timing) = event { change(to: cycle, timing, at: instant) }
            return []
        }
        let now = max(latest ?? instant, instant)
        var directives = advance(to: now)
        latest = now
        switch event {
        case .start, .tick: break
        case .change(let cycle, let timing): change(to: cycle, timing, at: now)
        case .stop: directives += stop(at: now)
        case .reading(let reading): directives += receive(reading, at: now)
        case .sourceEnded: directives += settle(wanted: false, at: now) + stop(at: now)
        case .sourceFailed(let error): directives += fail(error, at: now)
        }
        return directives
    }

    private mutating func change(to cycle: DutyCycle, _ timing: ScanTiming?, at now: Instant) {
        settings.dutyCycle = cycle
        settings.timing = timing
        _ = duty.handle(.change(cycle), at: now)
    }
}

// MARK: - Passes

extension ScanMachine {
    private mutating func start(at now: Instant) -> [Directive] {
        if let error = settings.error { return [.report(error)] }
        startedAt = now
        latest = now
        hasReading = false
        isHearing = true
        retryAt = nil
        failures = 0
        ranger = Ranger(settings: settings.ranging)
        rangerCleanup = now
        _ = duty.handle(.start, at: now)
        // A recording has no radio to turn off: its stream continues, and the machine ignores the receptions between
        // two passes.
        return (pace == .recorded ? [.startSource(settings.timing)] : []) + settle(at: now)
    }

    /// Stops the scan. The only output is the end of the pass.
    private mutating func stop(at now: Instant) -> [Directive] {
        _ = duty.handle(.stop, at: now)
        regions.forget()
        rooms.forget()
        return settle(at: now) + (pace == .recorded ? [.stopSource] : [])
    }

    /// Performs all ticks up to now.
    private mutating func advance(to now: Instant) -> [Directive] {
        var directives: [Directive] = []
        var count = 0
        while let wake = nextWake, wake <= now {
            if count == DutyCycleMachine.dueLimit {
                // After a gap of years in a recording, the cycle continues after the gap.
                duty.shift(by: wake.duration(to: now))
                regions.shift(by: wake.duration(to: now))
                count += 1
                continue
            }
            count += 1
            let isLate = pace == .live && wake.duration(to: now) > Self.lateness
            directives += tick(at: isLate ? now : wake)
        }
        return directives
    }

    private mutating func tick(at now: Instant) -> [Directive] {
        // Handle the regions first: the receptions until now belong to the pass that may end now.
        let directives = outputs(of: regions.handle(.tick, at: now))
        _ = duty.handle(.tick, at: now)
        return directives + settle(at: now)
    }

    /// Starts or stops the radio as the duty cycle requires.
    private mutating func settle(at now: Instant) -> [Directive] {
        settle(wanted: duty.isScanning && (retryAt.map { $0 <= now } ?? true), at: now)
    }

    private mutating func settle(wanted: Bool, at now: Instant) -> [Directive] {
        guard wanted != isScanning else { return [] }
        isScanning = wanted
        if pace == .live, wanted { isHearing = true }
        let last = outputs(of: regions.handle(.hearing(wanted && isHearing), at: now))
        let event = ScanEvent(
            kind: wanted ? .started : .stopped, elapsed: startedAt.duration(to: now), instant: hasReading ? now : nil)
        let source: [Directive] = pace == .live ? [wanted ? .startSource(settings.timing) : .stopSource] : []
        return wanted ? [.publish(event)] + source : last + source + [.publish(event)]
    }

    private mutating func fail(_ error: LocalizationError, at now: Instant) -> [Directive] {
        // A failed recording is not started again: it would fail again immediately.
        guard pace == .live, !error.endsSession else {
            var final = error
            if !final.endsSession { final.code = .critical }
            return [.report(final)] + settle(wanted: false, at: now) + stop(at: now)
        }
        failures += 1
        if failures == 1 { backoff.reset() }
        retryAt = now.advanced(by: failures == 1 ? settings.retryPause : backoff.next())
        return [.report(error)] + settle(at: now)
    }
}

// MARK: - Readings

extension ScanMachine {
    private mutating func receive(_ decoded: DecodedReading, at now: Instant) -> [Directive] {
        hasReading = true
        if case .radio(let event) = decoded.reading { return receive(event, at: now) }
        guard isScanning else { return [] }
        switch decoded.content {
        case .sighting(let sighting):
            guard case .advertisement(let advertisement) = decoded.reading else { return receive(sighting, at: now) }
            failures = 0
            return [.emitAdvertisement(advertisement)] + receive(sighting, at: now)
        // The advertisement may be malformed; the subscriber can read its `defect`.
        case .advertisement(let advertisement):
            failures = 0
            return [.emitAdvertisement(advertisement)]
        case .rejected(.invalidRSSI):
            discarded += 1
            return []
        case .rejected(.repetition), .other: return []
        }
    }

    private mutating func receive(_ event: RadioEvent, at now: Instant) -> [Directive] {
        isHearing = event.status.isHearing
        return outputs(of: regions.handle(.hearing(isScanning && isHearing), at: now)) + [.passOn(event)]
    }

    private mutating func receive(_ sighting: Sighting, at now: Instant) -> [Directive] {
        guard sighting.rssi >= settings.rssiThreshold else { return [] }
        failures = 0
        if rangerCleanup.advanced(by: settings.ranging.silence) <= now {
            ranger.forgetSilent(at: now)
            rangerCleanup = now
        }
        ranger.observe(sighting)
        guard let range = ranger.estimate(of: sighting.beacon, at: sighting.instant) else { return [] }
        return [.emitBeacon(BeaconRecord(sighting: sighting, range: range))]
            + outputs(of: regions.handle(.heard(range), at: now))
    }

    /// Returns the outputs of regions and rooms: the exit from a room precedes the exit from its region, and follows
    /// the region's ranging.
    private mutating func outputs(of directives: [RegionMachine.Directive]) -> [Directive] {
        var outputs: [Directive] = []
        for directive in directives {
            switch directive {
            case .emit(let event):
                outputs += rooms.handle(event).map { .emitRoomEvent($0) } + [.emitRegionEvent(event)]
            case .range(let ranging):
                let count = rooms.estimateCount
                let events = rooms.handle(ranging)
                outputs.append(.emitRanging(ranging))
                if rooms.estimateCount > count, let estimate = rooms.estimate(in: ranging.regionID) {
                    outputs.append(.emitRoomEstimate(estimate, regionID: ranging.regionID))
                }
                outputs += events.map { .emitRoomEvent($0) }
            }
        }
        return outputs
    }
}

extension ActivityCounts {
    /// Counts a directive of a scanner.
    mutating func note(_ directive: ScanMachine.Directive) {
        switch directive {
        case .startSource: passes += 1
        case .emitBeacon: sightings += 1
        case .emitRegionEvent, .emitRoomEvent: events += 1
        case .report(let error): note(error)
        case .stopSource, .publish, .emitAdvertisement, .emitRanging, .emitRoomEstimate, .passOn: break
        }
    }
}

/// A scanner's settings, with their defaults.
///
/// By default, a scanner listens all the time. A ``DutyCycle`` saves power but delays events, because the scanner
/// measures silence only while the radio listens. With passes of 10 s in every 100 s and an exit timeout of 30 s, the
/// device leaves a region 210 s after its last beacon, and enters it up to 90 s after its first beacon. In a
/// ``SettingsStack``, the default duty cycle is 10 s of every 100 s; `ScanSchedule(stack)` uses it only if a source of
/// the settings has one, and is continuous otherwise.
public struct ScannerSettings: Hashable, Sendable {
    /// The duty cycle of the radio; by default, the radio scans all the time.
    public var dutyCycle = DutyCycle.continuous
    /// The scan timing within a pass; nil for the default of the source.
    ///
    /// Only a `TimedScanSource` uses it.
    public var timing: ScanTiming?
    /// The RSSI in dBm below which the scanner ignores sightings, in [-127, 0].
    public var rssiThreshold = -127.0
    /// The settings of regions.
    public var regions = RegionSettings()
    /// The settings of room changes.
    public var rooms = RoomSettings()
    /// The settings of ranging.
    public var ranging = Ranger.Settings()
    /// The pause before a failed scan starts again, above 0 s; it doubles with each failure, up to a minute.
    package var retryPause = Duration.seconds(2)

    /// Creates the settings with their defaults.
    public init() {}

    /// Creates the settings with a duty cycle.
    public init(dutyCycle: DutyCycle) { self.dutyCycle = dutyCycle }

    /// Creates the settings with duty cycle and timing of a power mode.
    public init(powerMode: PowerMode) {
        dutyCycle = powerMode.dutyCycle
        timing = powerMode.timing
    }

    /// The values that are out of range, each with its key, allowed range and value; empty if all are valid.
    ///
    /// A scanner with invalid settings reports a critical error when it is started, and does not scan.
    public var problems: [String] { Self.list.problems(in: self) }

    /// The error of a scanner with these settings; nil if they are valid.
    var error: LocalizationError? { LocalizationError(settingsProblems: problems) }
}

extension ScannerSettings {
    /// The list of the settings of a scanner.
    package static let list: [Setting<ScannerSettings>] = {
        var list: [Setting<ScannerSettings>] = DutyCycle.list.map { $0.within("dutyCycle", \.dutyCycle, .venue) }
        list += ScanTiming.list.map { $0.within("timing", optional: \.timing, standard: .whole) }
        list.append(thresholdSetting)
        list += RegionSettings.list.map { $0.within("regions", \.regions) }
        list += RoomSettings.list.map { $0.within("rooms", \.rooms) }
        list += Ranger.Settings.list.map { $0.within("ranging", \.ranging) }
        list.append(retrySetting)
        return list
    }()

    private static let thresholdSetting = Setting<ScannerSettings>.number(
        "rssiThreshold", \.rssiThreshold, in: -127...0, unit: "dBm", better: .smaller,
        "The scanner ignores sightings below this RSSI.")
    private static let retrySetting = Setting<ScannerSettings>.duration(
        "retryPause", \.retryPause, above: .zero,
        "The pause before a failed scan starts again; it doubles with each failure, up to a minute."
    ).expert(.estimate)
}

/// An event of a scanner: the beginning or the end of a pass, or a reception.
///
///     for await event in scanner.events {
///         switch event.content {
///         case .scan(let scan): print(scan.kind)
///         case .advertisement(let advertisement): print(advertisement.address)
///         case .beacon(let record): print(record.beacon, record.rssi)
///         }
///     }
public struct ScannerEvent: Hashable, Sendable {
    /// The content of an event.
    public enum Content: Hashable, Sendable {
        /// A pass began or ended.
        case scan(ScanEvent)
        /// The radio received an advertisement from a beacon or another device; only if the source delivers
        /// advertisements.
        case advertisement(Advertisement)
        /// The radio received a beacon. If the source delivers advertisements, this event directly follows the beacon's
        /// advertisement.
        case beacon(BeaconRecord)
    }

    /// The content of the event.
    public var content: Content
    /// When it happened, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?

    /// Creates an event.
    package init(content: Content, unixTime: UnixTime? = nil) {
        self.content = content
        self.unixTime = unixTime
    }

    /// When it happened, on the timeline of the source; nil for a pass that began before the first reading.
    public var instant: Instant? {
        switch content {
        case .scan(let event): event.instant
        case .advertisement(let advertisement): advertisement.instant
        case .beacon(let record): record.instant
        }
    }

    /// Creates an event with the wall-clock time of its instant, or with the current time if it has no instant.
    init(_ content: Content, by clock: WallClock?) {
        self.init(content: content)
        unixTime = clock.flatMap { clock in instant.map(clock.unixTime) ?? clock.measuredAt }
    }
}
