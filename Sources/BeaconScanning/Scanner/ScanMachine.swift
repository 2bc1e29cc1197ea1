import IndoorVocabulary

/// Decides when a radio scans, and what of the heard is told to whom: duty cycle, records and regions.
///
/// A value with time as an input. What is due before an event is done before it, at its own instant; a pass holds its
/// first instant and not its last one. On a live source, what is noticed more than a second late happens when it is
/// noticed: a machine that slept has not scanned meanwhile.
package struct ScanMachine: Sendable {
    package enum Event: Hashable, Sendable {
        case start
        case stop
        case tick
        case reading(SensorReading)
        case sourceEnded
        case sourceFailed(LocalizationError)
        /// Another duty cycle, kept from the next boundary on, and another timing, kept from the next pass on.
        case change(DutyCycle, ScanTiming?)
    }

    package enum Directive: Hashable, Sendable {
        case startSource(ScanTiming?)
        case stopSource
        case publish(ScanEvent)
        case emitAdvertisement(Advertisement)
        case emitBeacon(BeaconRecord)
        case emitRegionEvent(RegionEvent)
        /// Also with no ranges at all.
        case emitRanging(RegionRanging)
        case emitRoomEvent(RoomEvent)
        case passOn(RadioEvent)
        case report(LocalizationError)
    }

    /// What is noticed later than this was slept through.
    private static let lateness = Duration.seconds(1)

    package private(set) var settings: ScannerSettings
    private let pace: ScanPace
    private var duty: DutyCycleMachine
    /// The tracked regions. What changes them tells nothing.
    package var regions: RegionMachine
    /// The rooms within the regions. What changes them tells nothing.
    package var rooms: RoomMachine
    private var ranger: Ranger
    private var rangerCleanup = Instant.zero
    private var backoff: Backoff
    private var failures = 0
    /// A failed source is not started again before this.
    private var retryAt: Instant?
    private var startedAt = Instant.zero
    /// The latest instant: what is delivered late happens now, so that time never runs backwards.
    private var latest: Instant?
    private var hasReading = false
    /// Whether the radio hears when it scans, as far as it told.
    private var isHearing = true
    /// What the last advertisement was decoded to: a sighting of the same behind it is the same news.
    private var decoded: Sighting?

    /// Whether the radio scans, as the events told.
    package private(set) var isScanning = false
    /// How many sightings and advertisements were dropped because their RSSI is no measurement.
    package private(set) var discarded = 0

    /// Creates a stopped machine.
    ///
    /// - Parameter seed: of the pauses after failures.
    package init(settings: ScannerSettings, pace: ScanPace, seed: UInt64) {
        self.settings = settings
        self.pace = pace
        duty = DutyCycleMachine(settings.dutyCycle)
        regions = RegionMachine(settings: settings.regions)
        rooms = RoomMachine(settings: settings.rooms)
        ranger = Ranger(settings: settings.ranging)
        backoff = Backoff(first: settings.retryPause * 2, seed: seed)
    }

    /// How many beacons are ranged: those that were heard lately.
    package var rangedBeacons: Int { ranger.count }

    /// Whether it was started and not stopped.
    package var isStarted: Bool { duty.state != .stopped }

    /// What is being done for the regions.
    package var trackingState: TrackingState {
        let inside = regions.insideRegions
        let isMonitoring = isStarted && !regions.isPaused && !regions.isEmpty
        return TrackingState(
            isMonitoring: isMonitoring, isRanging: isMonitoring && !inside.isEmpty, insideRegions: inside,
            isPaused: regions.isPaused)
    }

    /// When a tick is wanted; nil if never.
    package var nextWake: Instant? {
        let retry = duty.isScanning && !isScanning ? retryAt : nil
        return [duty.nextWake, regions.nextWake, retry].compactMap(\.self).min()
    }

    /// Moves the present and all that is due onto a timeline that begins elsewhere.
    package mutating func shift(by duration: Duration) {
        duty.shift(by: duration)
        regions.shift(by: duration)
        retryAt = retryAt?.advanced(by: duration)
        startedAt = startedAt.advanced(by: duration)
        latest = latest?.advanced(by: duration)
    }

    /// Takes in an event.
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
        case .reading(let reading): directives += take(reading, at: now)
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
        decoded = nil
        retryAt = nil
        failures = 0
        ranger = Ranger(settings: settings.ranging)
        rangerCleanup = now
        _ = duty.handle(.start, at: now)
        // A recording has no radio to turn off: it runs through, and what lies between two passes is left out.
        return (pace == .recorded ? [.startSource(settings.timing)] : []) + settle(at: now)
    }

    /// What is stopped tells nothing more but that it has stopped.
    private mutating func stop(at now: Instant) -> [Directive] {
        _ = duty.handle(.stop, at: now)
        regions.forget()
        rooms.forget()
        return settle(at: now) + (pace == .recorded ? [.stopSource] : [])
    }

    /// Does all that is due up to now.
    private mutating func advance(to now: Instant) -> [Directive] {
        var directives: [Directive] = []
        var count = 0
        while let wake = nextWake, wake <= now {
            if count == DutyCycleMachine.dueLimit {
                // A gap of years in a recording: the cycle goes on behind it.
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
        // The regions first: what was heard until now was heard in the pass that may end now.
        let directives = outputs(of: regions.handle(.tick, at: now))
        _ = duty.handle(.tick, at: now)
        return directives + settle(at: now)
    }

    /// Lets the radio scan if it should, or not if it should not.
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
        // A recording that failed would begin anew, and fail again without any time passing.
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
    private mutating func take(_ reading: SensorReading, at now: Instant) -> [Directive] {
        hasReading = true
        switch reading {
        case .radio(let event): return take(event, at: now)
        case .advertisement(let advertisement): return take(advertisement, at: now)
        case .sighting(let sighting):
            defer { decoded = nil }
            return sighting == decoded ? [] : take(sighting, at: now)
        case .motion, .step, .pressure, .gnss, .fix: return []
        }
    }

    private mutating func take(_ event: RadioEvent, at now: Instant) -> [Directive] {
        isHearing = event.status.isHearing
        return outputs(of: regions.handle(.hearing(isScanning && isHearing), at: now)) + [.passOn(event)]
    }

    private mutating func take(_ advertisement: Advertisement, at now: Instant) -> [Directive] {
        decoded = nil
        guard isScanning, isMeasurement(advertisement.rssi) else { return [] }
        failures = 0
        // Malformed data hold no beacon; the advertisement tells what is wrong with them.
        guard let sighting = try? advertisement.sighting() else { return [.emitAdvertisement(advertisement)] }
        decoded = sighting
        return [.emitAdvertisement(advertisement)] + take(sighting, at: now)
    }

    private mutating func take(_ sighting: Sighting, at now: Instant) -> [Directive] {
        guard isScanning, isMeasurement(sighting.rssi), sighting.rssi >= settings.rssiThreshold else { return [] }
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

    private mutating func isMeasurement(_ rssi: Double) -> Bool {
        let isMeasurement = Sighting.isMeasurement(rssi: rssi)
        if !isMeasurement { discarded += 1 }
        return isMeasurement
    }

    /// A room is left before its region, and told behind what it was told from.
    private mutating func outputs(of directives: [RegionMachine.Directive]) -> [Directive] {
        var outputs: [Directive] = []
        for directive in directives {
            switch directive {
            case .emit(let event):
                outputs += rooms.handle(event).map { .emitRoomEvent($0) } + [.emitRegionEvent(event)]
            case .range(let ranging):
                outputs += [.emitRanging(ranging)] + rooms.handle(ranging).map { .emitRoomEvent($0) }
            }
        }
        return outputs
    }
}

extension ActivityCounts {
    /// Takes in what a scanner tells.
    mutating func note(_ directive: ScanMachine.Directive) {
        switch directive {
        case .startSource: passes += 1
        case .emitBeacon: sightings += 1
        case .emitRegionEvent, .emitRoomEvent: events += 1
        case .report: errors += 1
        case .stopSource, .publish, .emitAdvertisement, .emitRanging, .passOn: break
        }
    }
}
