import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The state machine of a session, without I/O: events in, directives out, time as an argument.
///
/// The machine is generic over the belief about the position, so that a test can script the belief.
package struct LocalizationMachine<Belief: PositioningBelief>: Sendable {
    /// An input of the machine.
    package enum Event: Sendable {
        /// The caller starts a session.
        case start
        /// The caller ends the session.
        case stop
        /// The source delivered a reading.
        case reading(DecodedReading)
        /// The instant of `nextWake` has arrived.
        case tick
        /// The venues that the session can identify.
        case catalogue([VenueSummary])
        case catalogueFailed(LocalizationError)
        /// The fraction of a packet that has arrived.
        case progress(VenueID, Double)
        /// The answer to the request for a venue's packet.
        case packet(VenueID, Venue)
        case packetFailed(VenueID, LocalizationError)
        /// The result of the work of a `prepareBelief` directive.
        case prepared(BeliefPreparation, Result<Belief, LocalizationError>)
        /// The venue source sends an update without a request.
        case venues(VenueUpdate)
        /// The venue source delivers another edition of a venue's packet from now on, which the session is to use at once.
        case renewed(Venue)
        /// The source has ended.
        case sourceEnded
        /// The scan has failed; the machine decides from the error whether the session continues.
        case sourceFailed(any Error)
        /// The satellite receiver has ended. Its positions arrive as readings.
        case gnssEnded
        case gnssFailed(any Error)
        /// The caller replaces the settings.
        case settings(SettingsStack)
        /// The caller submits a position.
        case fix(Fix)
        /// The caller sets the heading of the device, in degrees clockwise from the top of the plan.
        case heading(Double)
        /// The caller locks the floor to a map; nil removes the lock.
        case lockFloor(MapID?)
        /// The caller locks the device indoors, or removes that lock.
        case lockIndoors(Bool)
        /// The calibration of the device from an earlier session.
        case calibration(Calibration)
        /// The caller changes the monitored geofences.
        case monitor(GeofenceChange)
        /// The caller restores the memory of an earlier session, with its current age.
        case restore(SessionMemory)
        /// The caller needs the levels of the beacons from now on.
        case collectLevels
        /// The caller ends the session without exits from rooms and fences, to continue later.
        case suspend
        /// The caller starts a session that continues the motion of the last one.
        case resume
    }

    /// Work for the shell, or an output, in order.
    package enum Directive: Hashable, Sendable {
        case startScanning
        /// Start the satellite receiver, in addition to the scan.
        case startReceiving
        /// Stop the scan and the satellite receiver.
        case stopScanning
        case fetchCatalogue
        case fetchPacket(VenueID)
        /// Do this work outside the actor, instead of any fetch, and return its result as `prepared`.
        ///
        /// Indirect, because a venue is large.
        indirect case prepareBelief(BeliefPreparation)
        /// Cancel any fetch or preparation.
        case cancelFetch
        case publish(LocalizationState)
        case emit(Position)
        case emitOutdoor(OutdoorPosition)
        /// Indirect, because an estimate is larger than the other directives.
        indirect case emitMotion(MotionUpdate)
        case emitEvent(LocalizationEvent)
        /// Indirect, like `emitMotion`.
        indirect case emitInteraction(InteractionEvent)
        /// Emit a venue that was found by its coordinate, or a newer version than the session uses.
        case announceVenue(Venue)
        case report(LocalizationError)
        /// Emit a reason for the absence of positions once it has lasted, or its end. Indirect, like `emitMotion`.
        indirect case diagnose(SessionDiagnosis)
        /// Emit the levels of the beacons since the previous directive. Indirect, like `emitMotion`.
        indirect case emitLevels(VenueLevels)
        /// Set the duty cycle of the radio.
        case schedule(ScanSchedule)
    }

    /// A new state and its directives.
    struct Transition {
        var state: LocalizationState
        var directives: [Directive] = []
    }

    /// The machine's own state. The session emits ``shownState``, which can differ.
    package private(set) var state = LocalizationState.idle
    /// All sources of settings; the venue is one of them.
    package internal(set) var stack: SettingsStack
    /// The effective settings for the current venue.
    package internal(set) var settings: LocalizationSettings
    /// The duty cycle that the radio received last.
    var schedule = ScanSchedule()
    /// Creates the belief for a venue, with the settings that apply there.
    package let makeBelief: @Sendable (Venue, PositioningSettings) -> Belief
    /// Whether the shell prepares beliefs outside the actor; otherwise the machine does it in `handle`.
    let preparesApart: Bool
    /// Whether the shell prepares the belief of the venue in `getPacket`.
    var isPreparing = false
    /// The edition of the current venue that replaces the one in use once its belief is prepared; nil without one.
    package internal(set) var renewing: Venue?
    var search: VenueSearchMachine
    var visit: VenueVisit<Belief>?
    var backoff: Backoff
    var scan: Delivery
    /// The satellite receiver; nil without one.
    var receiver: Delivery?
    var recent = RecentReadings()
    /// The recently received beacons, known or unknown, for snapshots.
    var recentBeacons = RecentBeacons()
    /// The beacons that are known by their device address.
    var addresses = KnownAddresses()
    /// The detection of beacons that belong to no known venue.
    var unknownBeacons = UnknownBeaconWatch()
    /// The detection of beacons without a valid measured power.
    var uncalibratedBeacons = UncalibratedBeaconWatch()
    /// The decision which beacon faults are reported.
    var faults = FaultWatch()
    /// The detection of readings whose instants don't advance.
    var instants = InstantWatch()
    /// The instant at which the state needs a tick; nil if it waits for other events.
    var wakeAt: Instant?
    /// The instant of the next retry; nil if no request has failed.
    var retryAt: Instant?
    var isFoundByGNSS = false
    /// Whether only satellites have identified the venue so far, so that the device may still be in front of it.
    var isInFront = false
    /// The evidence that identified the current venue; nil without any.
    var detectedBy: VenueDetection?
    /// The instant of the latest outdoor position; nil before the first one.
    var lastOutdoor: Instant?
    /// The starting point of the next visit; nil without a fix.
    var initialFix: Fix?
    /// The outcome of the latest submitted fix.
    package internal(set) var fixOutcome: FixOutcome?
    var lockedMap: MapID?
    /// Whether the radio has reported that it can't receive.
    var isDeaf = false
    /// The listening time, which measures the silence of beacons. The venue search uses this timeline.
    var listened = ListenedTime()
    /// The application's monitored geofences, for all venues.
    var geofences = MonitoredGeofences()
    /// The caller's indoor lock; nil if the setting applies.
    var lockedIndoors: Bool?
    var gate = PositionGate()
    /// The calibration of the device before the current visit; nil without one.
    var earlierCalibration: Calibration?
    /// The instant of the latest emitted position; nil before the first one.
    var lastPosition: Instant?
    /// The memory of an earlier session, until this session has an estimate of its own.
    var restored: RestoredMemory?
    /// The memory of the last session after its end; nil while a session is running.
    var last: RestoredMemory?
    /// The instant of the latest satellite position that was used; nil before the first one.
    var lastSatellites: Instant?
    /// The pace of the source.
    let pace: ScanPace
    /// Whether the machine emits motion.
    let reportsMotion: Bool
    var motion: MotionReporter
    /// Whether the machine emits diagnoses.
    let reportsDiagnosis: Bool
    var diagnosing = DiagnosisRecord()
    /// The levels of the beacons that wait to be emitted; nil unless the caller needs them.
    var levels: PendingLevels?

    /// Creates an idle machine.
    ///
    /// - Parameters:
    ///   - stack: the settings of all sources.
    ///   - seed: the seed of the retry jitter.
    ///   - pace: the pace of the source.
    ///   - hasReceiver: whether there is a satellite receiver in addition to the source.
    ///   - reportsMotion: whether the machine emits motion.
    ///   - reportsDiagnosis: whether the machine emits diagnoses.
    ///   - preparesApart: whether the shell prepares beliefs outside the actor, on a `prepareBelief` directive.
    ///   - makeBelief: creates the belief for a venue, with the settings that apply there.
    package init(
        settings stack: SettingsStack, seed: UInt64, pace: ScanPace = .live, hasReceiver: Bool = false,
        reportsMotion: Bool = false, reportsDiagnosis: Bool = false, preparesApart: Bool = false,
        makeBelief: @escaping @Sendable (Venue, PositioningSettings) -> Belief
    ) {
        self.stack = stack
        settings = stack.resolved.localization
        self.makeBelief = makeBelief
        self.pace = pace
        self.reportsMotion = reportsMotion
        self.reportsDiagnosis = reportsDiagnosis
        self.preparesApart = preparesApart
        motion = MotionReporter(settings.motion, model: settings.positioning.motion, calibration: nil)
        search = VenueSearchMachine(settings: settings.venueSearch, forced: settings.forcedVenue)
        backoff = Backoff(first: settings.retryPause, seed: seed)
        scan = Delivery(backoff: Backoff(first: settings.retryPause, seed: ~seed))
        // Any constant that makes this seed differ from the others.
        let receiverSeed = seed ^ 0x6E55
        receiver = hasReceiver ? Delivery(backoff: Backoff(first: settings.retryPause, seed: receiverSeed)) : nil
    }

    /// The state that the session emits. While the device may still be in front of a venue that satellites identified,
    /// this is `searchVenue`: the device counts as outdoors.
    package var shownState: LocalizationState { isInFront ? .searchVenue : state }

    /// The evidence that identified the venue; nil while no venue is known, and if the caller has set the venue.
    package var detection: VenueDetection? { state.venueID == nil ? nil : detectedBy }

    /// The instant of the next `tick`; nil if the machine waits for other events only. An earlier tick does nothing.
    package var nextWake: Instant? {
        // Each reading calls this property, and an array would allocate memory.
        earlier(earlier(wakeAt, diagnosing.watch.wakeAt), earlier(scan.resumeAt, receiver?.resumeAt))
    }

    private func earlier(_ first: Instant?, _ second: Instant?) -> Instant? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }

    /// Moves all due instants to a timeline with another origin.
    package mutating func shift(by duration: Duration) {
        wakeAt = wakeAt?.advanced(by: duration)
        retryAt = retryAt?.advanced(by: duration)
        lastPosition = lastPosition?.advanced(by: duration)
        listened.shift(by: duration)
        recentBeacons.shift(by: duration)
        diagnosing.watch.shift(by: duration)
        faults.shift(by: duration)
        uncalibratedBeacons.shift(by: duration)
        shiftMemory(by: duration)
        scan.shift(by: duration)
        receiver?.shift(by: duration)
        // A session that begins with a fix enters its venue before the first reading.
        visit?.shift(by: duration)
        recent.shift(by: duration)
        gate.shift(by: duration)
    }

    /// Handles an event and returns the directives for the shell.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        let wasInFront = isInFront
        let transition = transition(on: event, at: now)
        state = transition.state
        var directives = transition.directives
        if wasInFront || isInFront { show(&directives, wasInFront: wasInFront, at: now) }
        if levels != nil { directives += emitLevels(at: now) }
        guard let diagnosis = diagnose(after: event, at: now) else { return directives }
        return directives + [diagnosis]
    }

    // One switch of the event, and others of the state: Swift 6.2 can't optimize a switch of both in a generic type.
    private mutating func transition(on event: Event, at now: Instant) -> Transition {
        switch event {
        case .start: return state.isOver ? begin(at: now) : Transition(state: state)
        case .resume: return state.isOver ? begin(at: now, goesOn: true) : Transition(state: state)
        case .stop: return stop(at: now, leavesAreas: true)
        case .suspend: return stop(at: now, leavesAreas: false)

        case .settings(let stack): return change(to: stack)
        case .lockFloor(let map): return lock(to: map)
        case .heading(let course): motion.set(heading: course)
        case .monitor(let change): return monitor(change)
        case .lockIndoors(let isLocked): lockedIndoors = isLocked
        case .collectLevels: collectLevels()
        case .calibration(let calibration): earlierCalibration = calibration
        case .restore(let memory): return restore(memory)
        case .fix(let fix): return state.isOver ? keep(fix) : submit(fix, at: now)

        // Late answers to a session that is over.
        case _ where state.isOver: break

        case .sourceFailed(let error): return loseSource(error, at: now)
        case .sourceEnded: return endScan(at: now)
        case .gnssFailed(let error): return loseReceiver(error, at: now)
        case .gnssEnded: return endReceiver(at: now)

        // In another state, the answer to a request of an earlier session.
        case .catalogue(let venues): if case .started = state { return learn(venues, at: now) }
        case .catalogueFailed(let error): if case .started = state { return fail(error, at: now) }

        case .progress(let id, let fraction):
            // The comparison also rejects NaN.
            guard case .getPacket(id, let known) = state, known < 1, fraction > known else { break }
            diagnosing.requestFailure = nil
            let next = LocalizationState.getPacket(venueID: id, progress: min(fraction, 1))
            return Transition(state: next, directives: [.publish(next)])
        // Without the request of this venue, the answer to a request that was cancelled.
        case .packet(let id, let venue): if case .getPacket(id, _) = state { return prepare(venue, at: now) }
        case .prepared(let preparation, let result):
            if case .getPacket(preparation.venue.id, _) = state { return enter(preparation, result, at: now) }
            return replaceVisit(by: preparation, result, at: now)
        case .renewed(let venue): return renew(venue, at: now)
        case .packetFailed(let id, let error): if case .getPacket(id, _) = state { return fail(error, at: now) }

        case .venues(let update): return learn(update, at: now)
        case .reading(let reading): return observe(reading, at: now)
        case .tick: return tick(at: now)
        }
        return Transition(state: state)
    }

    private mutating func stop(at now: Instant, leavesAreas: Bool) -> Transition {
        switch state {
        case .idle: Transition(state: .idle)
        case .error: Transition(state: .idle, directives: [.publish(.idle)])
        case .started, .searchVenue, .getPacket, .findFloor, .localizationRunning:
            end(with: .idle, at: now, leavesAreas: leavesAreas)
        }
    }
}

extension LocalizationMachine: SessionMachine {
    package static var tick: Event { .tick }
    package var isOver: Bool { state.isOver }

    package static func delivered(_ reading: DecodedReading, delay: Duration) -> Event { .reading(reading) }
    package static func updated(_ update: VenueUpdate) -> Event { .venues(update) }

    package static func ended(_ sender: SessionTimeline.Sender, _ error: (any Error)?) -> Event {
        switch sender {
        case .source: error.map(Event.sourceFailed) ?? .sourceEnded
        case .receiver: error.map(Event.gnssFailed) ?? .gnssEnded
        }
    }

    package static func answered(_ answer: VenueAnswer) -> Event {
        switch answer {
        case .catalogue(let venues): .catalogue(venues)
        case .catalogueFailed(let error): .catalogueFailed(error)
        case .progress(let id, let fraction): .progress(id, fraction)
        case .packet(let id, let venue): .packet(id, venue)
        case .packetFailed(let id, let error): .packetFailed(id, error)
        }
    }

    package func work(for directive: Directive) -> SessionWork<Event>? {
        switch directive {
        case .startScanning: .startScanning
        case .startReceiving: .startReceiving
        case .stopScanning: .stopScanning
        case .fetchCatalogue: .fetch(.catalogue)
        case .fetchPacket(let id): .fetch(.packet(id))
        case .prepareBelief(let preparation):
            .prepare { [makeBelief] in .prepared(preparation, preparation.run(makeBelief)) }
        case .cancelFetch: .cancelFetch
        case .schedule(let schedule): .keep(schedule)
        case .publish, .emit, .emitOutdoor, .emitMotion, .emitEvent, .emitInteraction, .announceVenue, .report,
            .diagnose, .emitLevels:
            nil
        }
    }
}

extension ActivityCounts {
    /// Counts a directive of a session.
    mutating func note(_ directive: LocalizationMachine<PositioningEngine>.Directive) {
        switch directive {
        case .startScanning: passes += 1
        case .emit: positions += 1
        case .emitOutdoor: outdoorPositions += 1
        case .emitEvent: events += 1
        case .report(let error): note(error)
        case .startReceiving, .stopScanning, .cancelFetch, .fetchCatalogue, .fetchPacket, .prepareBelief, .publish,
            .emitMotion,
            .emitInteraction, .announceVenue, .schedule, .diagnose, .emitLevels:
            break
        }
    }
}

/// The evidence that identified the venue.
public enum VenueDetection: String, Hashable, Sendable, CaseIterable {
    /// The source received beacons of the venue.
    case beacons
    /// Satellite positions lie in or near the venue, and the source hasn't received any of its beacons yet. The device
    /// may be in front of the building, so the session stays in `searchVenue`.
    case satellites
}

/// The state of a session, and the evidence that identified the venue.
///
/// In the state `searchVenue`, the evidence `.satellites` means that satellites have identified a venue.
/// ``Localizer/downloadedVenues`` emits its data, and the device may be in front of the building. In the states with a
/// venue, the device is inside.
public struct VenueEvaluation: Hashable, Sendable {
    /// The state of the session.
    public var state: LocalizationState
    /// The evidence that identified the venue; nil while no venue is known, and if the caller has set the venue.
    public var detection: VenueDetection?

    /// Creates an evaluation.
    package init(state: LocalizationState, detection: VenueDetection? = nil) {
        self.state = state
        self.detection = detection
    }
}

extension LocalizationMachine {
    /// Applies a venue's settings; nil removes them. Reports invalid settings and applies the others.
    mutating func useSettings(of venue: Venue?) -> [Directive] {
        let problems = stack.enter(venue?.settings)
        settings = stack.resolved.localization
        motion.use(settings.motion)
        guard let venue, !problems.isEmpty else { return [] }
        let message =
            "settings of venue \(venue.id) are ignored: \(problems.map(\.description).joined(separator: "; "))"
        return [.report(LocalizationError(code: .generic, message: message, kind: .settings))]
    }

    /// Sends the radio its duty cycle if it has changed.
    mutating func reschedule() -> [Directive] {
        let wanted = ScanSchedule(stack)
        guard wanted != schedule else { return [] }
        schedule = wanted
        return [.schedule(wanted)]
    }

    /// Replaces the settings. Those that define the current visit, such as its method, take effect with the next one.
    mutating func change(to other: SettingsStack) -> Transition {
        let moved = other.inVenue(of: stack)
        let problems = moved.resolved.localization.problems
        guard problems.isEmpty else {
            let message =
                "settings out of range: \(problems.joined(separator: "; ")); the previous settings stay in effect"
            return Transition(
                state: state,
                directives: [.report(LocalizationError(code: .generic, message: message, kind: .settings))])
        }
        stack = moved
        settings = moved.resolved.localization
        motion.use(settings.motion)
        return Transition(state: state, directives: reschedule())
    }
}

extension LocalizationMachine {
    /// Creates an idle machine whose belief needs no settings.
    package init(
        settings: LocalizationSettings, seed: UInt64, hasReceiver: Bool = false, reportsMotion: Bool = false,
        reportsDiagnosis: Bool = false, preparesApart: Bool = false, makeBelief: @escaping @Sendable (Venue) -> Belief
    ) {
        self.init(
            settings: SettingsStack(localization: settings), seed: seed, hasReceiver: hasReceiver,
            reportsMotion: reportsMotion, reportsDiagnosis: reportsDiagnosis, preparesApart: preparesApart
        ) { venue, _ in makeBelief(venue) }
    }
}

// Information from the caller: a position, the floor, an indoor lock.
extension LocalizationMachine {
    /// Whether satellite positions decide neither that the device is outdoors nor which venue it is in.
    var isLockedIndoors: Bool { lockedIndoors ?? settings.venueSearch.isLockedIndoors }

    /// The forced venue if the caller has submitted a position in it; the session then needs no beacon to enter it.
    var placedVenue: VenueID? {
        guard initialFix != nil, let forced = settings.forcedVenue, search.knows(forced) else { return nil }
        return forced
    }

    /// Keeps a fix as the starting point of the estimation, which hasn't begun yet.
    mutating func keep(_ fix: Fix) -> Transition {
        if let problem = fix.problem { return ignore(problem) }
        initialFix = fix
        fixOutcome = .kept
        return Transition(state: state)
    }

    private mutating func ignore(_ problem: FixError) -> Transition {
        fixOutcome = .ignored(problem)
        return Transition(state: state)
    }

    /// Handles a fix with the uncertainty of its radius, and keeps the outcome.
    mutating func submit(_ fix: Fix, at now: Instant) -> Transition {
        guard let venue = visit?.venue else {
            // A fix during the preparation keeps its place among the readings that the belief receives afterwards.
            if isPreparing, case .getPacket = state, fix.problem == nil {
                var fix = fix
                fix.instant = now
                recent.add(.fix(fix))
                fixOutcome = .kept
                return Transition(state: state)
            }
            let waiting = keep(fix)
            guard initialFix == fix, case .searchVenue = state, let forced = placedVenue else { return waiting }
            return fetch(forced, at: now)
        }
        if let problem = fix.problem(in: venue) { return ignore(problem) }
        let transition = observe(DecodedReading(fix), at: now)
        fixOutcome = visit?.belief.fixReception.map(FixOutcome.taken) ?? .ignored(.methodWithoutMemory)
        return transition
    }

    /// Locks the floor to a map, in this venue and in every other with a map of this number.
    mutating func lock(to map: MapID?) -> Transition {
        lockedMap = map
        visit?.lock(to: map)
        return Transition(state: state)
    }

    /// The current calibration of the device; nil without one.
    package var calibration: Calibration? { visit?.belief.calibration ?? earlierCalibration }
}

// The geofences of the application.
extension LocalizationMachine {
    /// The monitored geofences, in the order in which monitoring started.
    package var monitoredGeofences: [Geofence] { geofences.list }

    /// Changes the monitored geofences, with effect from the next position on, with or without a session.
    mutating func monitor(_ change: GeofenceChange) -> Transition {
        geofences.apply(change)
        return Transition(state: state)
    }
}

/// A change of the monitored geofences.
package enum GeofenceChange: Sendable {
    /// Start monitoring these geofences; each replaces one with the same identifier.
    case start([Geofence])
    /// Stop monitoring the geofences with these identifiers.
    case stop([String])
    /// Stop monitoring all geofences.
    case stopAll
}

extension MonitoredGeofences {
    mutating func apply(_ change: GeofenceChange) {
        switch change {
        case .start(let fences): start(fences)
        case .stop(let ids): stop(ids)
        case .stopAll: stopAll()
        }
    }
}

// The motion of the device, estimated without beacons.
extension LocalizationMachine {
    /// Handles a reading of a motion sensor and returns the motion updates.
    mutating func follow(_ reading: SensorReading) -> [Directive] {
        switch reading {
        case .motion(let sample):
            // If the sample contains the attitude, the session itself needs no attitude filter.
            guard reportsMotion || sample.attitude == nil else { return [] }
        case .step, .pressure, .gnss:
            guard reportsMotion else { return [] }
        case .sighting, .advertisement, .fix, .range, .radio:
            return []
        }
        motion.observe(reading)
        guard reportsMotion else { return [] }
        return motion.updates(at: reading.instant).map(Directive.emitMotion)
    }

    /// Returns the reading with an estimated attitude if the device supplies none.
    func oriented(_ reading: SensorReading) -> SensorReading {
        guard case .motion(var sample) = reading, sample.attitude == nil,
            let attitude = motion.reckoner.compass.alignedRotation
        else { return reading }
        sample.attitude = attitude
        return .motion(sample)
    }

    /// Returns the instant until which motion alone keeps the session in the forced venue after a fix, in listening
    /// time; nil without such a fix or without motion.
    ///
    /// - Parameter heard: the instant of the latest sighting of a beacon of the venue.
    func carried(in venue: VenueID, heard: Instant?) -> Instant? {
        guard settings.forcedVenue == venue, let placed = visit?.placedAt, let moved = visit?.lastMotion else {
            return nil
        }
        return min(moved, max(placed, heard ?? placed).advanced(by: settings.motion.reckoningLimit))
    }
}
