import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// Begins a new session, with the restored memory of an earlier one.
    ///
    /// - Parameter goesOn: whether the session continues the motion of the session before.
    mutating func begin(at now: Instant, goesOn: Bool = false) -> Transition {
        if let error = settings.error {
            return Transition(state: .error(error), directives: [.publish(.error(error)), .report(error)])
        }
        search = VenueSearchMachine(settings: settings.venueSearch, forced: settings.forcedVenue)
        addresses = KnownAddresses()
        unknownBeacons = UnknownBeaconWatch()
        uncalibratedBeacons = UncalibratedBeaconWatch()
        faults = FaultWatch()
        recentBeacons.removeAll()
        instants = InstantWatch()
        let watch = diagnosing.watch
        diagnosing = DiagnosisRecord()
        diagnosing.watch = watch
        backoff.reset()
        scan.begin()
        isDeaf = false
        listened = ListenedTime()
        receiver?.begin()
        lastOutdoor = nil
        lastSatellites = nil
        lastPosition = nil
        forgetVenue()
        dateRestoredMemory(at: now)
        if !goesOn {
            motion = MotionReporter(
                settings.motion, model: settings.positioning.motion, calibration: earlierCalibration)
        }
        gate.open()
        var directives = reschedule() + [.publish(.started), .fetchCatalogue, .startScanning]
        if receiver != nil { directives.append(.startReceiving) }
        return Transition(state: .started, directives: directives)
    }

    /// Handles the catalogue of venues and begins the venue search.
    mutating func learn(_ venues: [VenueSummary], at now: Instant) -> Transition {
        search.learn(venues)
        addresses.learn(venues)
        diagnosing.requestFailure = nil
        diagnosing.evidence.begin(since: listened.instant(at: now))
        backoff.reset()
        wakeAt = nil
        retryAt = nil
        var directives = [Directive.publish(.searchVenue)]
        if let shared = search.sharedBeacons { directives.append(.report(.sharedBeacons(shared))) }
        if let forced = settings.forcedVenue, !venues.contains(where: { $0.id == forced }) {
            let message = "forcedVenue \(forced) is not among the source's venues; add its packet or change the setting"
            directives.append(.report(LocalizationError(code: .generic, message: message, kind: .contentUnavailable)))
        }
        guard let forced = placedVenue else { return Transition(state: .searchVenue, directives: directives) }
        let fetching = fetch(forced, at: now)
        return Transition(state: fetching.state, directives: directives + fetching.directives)
    }

    /// Handles an update that the venue source sent without a request.
    mutating func learn(_ update: VenueUpdate, at now: Instant) -> Transition {
        switch update {
        case .failure(let error):
            return error.endsSession
                ? end(with: .error(error), at: now) : Transition(state: state, directives: [.report(error)])
        case .packet(let venue):
            return Transition(state: state, directives: [.announceVenue(venue)])
        case .catalogue(let venues):
            // The update is newer than the pending answer, which the session then ignores.
            if case .started = state { return learn(venues, at: now) }
            let sharedBefore = search.sharedBeacons
            search.learn(venues)
            var directives: [Directive] = []
            if let shared = search.sharedBeacons, shared != sharedBefore {
                directives.append(.report(.sharedBeacons(shared)))
            }
            addresses.learn(venues)
            if let venue = visit?.venue { addresses.learn(venue) }
            guard case .searchVenue = state, let forced = placedVenue else {
                return Transition(state: state, directives: directives)
            }
            let fetching = fetch(forced, at: now)
            return Transition(state: fetching.state, directives: directives + fetching.directives)
        }
    }

    /// Ends the session.
    mutating func end(
        with final: LocalizationState, at now: Instant, leavesAreas: Bool = true
    ) -> Transition {
        keepMemory(at: now, hasLeft: leavesAreas)
        // The memory keeps rooms and fences, but no interactions with beacons and points of interest.
        let left = leavesAreas ? leaveAreas(at: now) : leaveInteractions(at: now)
        forgetVenue()
        initialFix = nil
        scan.begin()
        receiver?.begin()
        var directives = left
        directives += [.cancelFetch, .stopScanning, .publish(final)]
        if case .error(let error) = final { directives.append(.report(error)) }
        return Transition(state: final, directives: directives)
    }

    /// Handles the end of all senders: emits a last position from all readings, unless it was emitted already, and then
    /// the state `idle`.
    mutating func finish(at now: Instant) -> Transition {
        var directives: [Directive] = []
        switch state {
        case .findFloor, .localizationRunning:
            if lastPosition != now { directives = locate(at: now, isLast: true).directives }
        case .idle, .started, .searchVenue, .getPacket, .error: break
        }
        return Transition(state: .idle, directives: directives + end(with: .idle, at: now).directives)
    }

    /// Handles a failed request: reports the error and retries after a pause, unless the error ends the session.
    mutating func fail(_ error: LocalizationError, at now: Instant) -> Transition {
        guard !error.endsSession else { return end(with: .error(error), at: now) }
        diagnosing.requestFailure = error
        let due = now.advanced(by: backoff.next())
        retryAt = due
        wakeAt = min(due, wakeAt ?? due)
        return Transition(state: state, directives: [.report(error)])
    }

    /// Does the work that is due.
    mutating func tick(at now: Instant) -> Transition {
        var directives: [Directive] = []
        if scan.resume(at: now) { directives.append(.startScanning) }
        if receiver?.resume(at: now) == true { directives.append(.startReceiving) }
        guard let due = wakeAt, due <= now else { return Transition(state: state, directives: directives) }
        wakeAt = nil
        let work: Transition
        switch state {
        case .started: work = Transition(state: state, directives: [.fetchCatalogue])
        case .getPacket(let id, _): work = retryPacket(id, at: now)
        case .findFloor, .localizationRunning:
            let near = visit?.interactions.tick(at: now, listened: listened.instant(at: now)) ?? []
            directives += near.map(Directive.emitInteraction)
            work = locate(at: now)
        case .idle, .searchVenue, .error: work = Transition(state: state)  // these never set `wakeAt`
        }
        return Transition(state: work.state, directives: directives + work.directives)
    }

    /// Leaves the venue and searches for the next one.
    mutating func loseVenue(at now: Instant) -> Transition {
        let left = leaveAreas(at: now)
        if visit != nil { restored = nil }
        forgetVenue()
        gate.open()
        let present = listened.instant(at: now)
        diagnosing.evidence.begin(since: min(search.latestSighting ?? present, present))
        search.restart()
        return Transition(
            state: .searchVenue,
            directives: left + reschedule() + [.cancelFetch, .publish(.searchVenue)] + wakeReceiver())
    }

    /// Ends the interactions with beacons and points of interest.
    private mutating func leaveInteractions(at now: Instant) -> [Directive] {
        (visit?.interactions.leaveAll(at: now, []) ?? []).map(Directive.emitInteraction)
    }

    /// Leaves all rooms and fences, and ends all interactions.
    private mutating func leaveAreas(at now: Instant) -> [Directive] {
        let left = visit?.leave(at: now, watching: geofences) ?? []
        let interactions = visit?.interactions.leaveAll(at: now, left) ?? []
        return left.map(Directive.emitEvent) + interactions.map(Directive.emitInteraction)
    }

    private mutating func forgetVenue() {
        earlierCalibration = calibration
        keepLevels()
        visit = nil
        wakeAt = nil
        retryAt = nil
        isFoundByGNSS = false
        isInFront = false
        detectedBy = nil
        recent.clear()
        diagnosing.requestFailure = nil
        _ = useSettings(of: nil)
    }

    mutating func fetch(_ id: VenueID, at now: Instant) -> Transition {
        let next = LocalizationState.getPacket(venueID: id, progress: 0)
        isPreparing = false
        retryAt = nil
        diagnosing.requestFailure = nil
        wakeAt = now.advanced(by: settings.venueLostTimeout)
        return Transition(state: next, directives: [.publish(next), .fetchPacket(id)])
    }

    /// The interval at which a session checks whether the rest of a radio has ended.
    private static var restCheck: Duration { .seconds(1) }

    /// Handles a tick in `getPacket`: loses the venue or retries the failed download.
    mutating func retryPacket(_ id: VenueID, at now: Instant) -> Transition {
        let present = listened.instant(at: now)
        let left = present.duration(
            to: (search.lastEvidence(of: id) ?? present).advanced(by: settings.venueLostTimeout))
        if left <= .zero || isDeafTooLong(at: now) { return loseVenue(at: now) }
        // While the radio rests, the remaining time doesn't elapse.
        let lostAt = now.advanced(by: listened.isListening ? left : max(left, Self.restCheck))
        guard let due = retryAt, due <= now else {
            wakeAt = min(lostAt, retryAt ?? lostAt)
            return Transition(state: state)
        }
        wakeAt = lostAt
        retryAt = nil
        return Transition(state: state, directives: [.fetchPacket(id)])
    }

    /// Handles the packet: prepares the belief, while `recent` keeps the readings.
    mutating func prepare(_ venue: Venue, at now: Instant) -> Transition {
        guard venue.id == state.venueID else {
            let wanted = state.venueID.map(\.description) ?? "none"
            let message = "the packet of venue \(wanted) contains venue \(venue.id); correct the venue source"
            return fail(LocalizationError(code: .generic, message: message, kind: .badResponse), at: now)
        }
        backoff.reset()
        retryAt = nil
        diagnosing.requestFailure = nil
        let settings = stack.resolved(in: venue).localization.positioning
        let preparation = BeliefPreparation(
            venue: venue, settings: settings, readings: recent.readings, mapID: initialFix?.mapID)
        guard preparesApart else {
            return enter(preparation, preparation.run(makeBelief, makesTables: false), at: now)
        }
        isPreparing = true
        return Transition(state: state, directives: [.prepareBelief(preparation)])
    }

    /// Handles the prepared belief: begins to locate the device, with the readings received meanwhile.
    mutating func enter(
        _ preparation: BeliefPreparation, _ result: Result<Belief, LocalizationError>, at now: Instant
    ) -> Transition {
        let belief: Belief
        switch result {
        case .success(let made): belief = made
        case .failure(let error): return end(with: .error(error), at: now)
        }
        let venue = preparation.venue
        guard stack.resolved(in: venue).localization.positioning == preparation.settings else {
            return prepare(venue, at: now)
        }
        isPreparing = false
        renewing = nil
        unknownBeacons.end()
        addresses.learn(venue)
        let problems = useSettings(of: venue)
        var visit = newVisit(of: venue, belief, since: listened.instant(at: now))
        restore(&visit)
        visit.lock(to: lockedMap)
        if let fix = initialFix.take() { visit.observe(.fix(fix), listened: listened.instant(at: now)) }
        self.visit = visit
        observeRecent(at: now)
        wakeAt = now
        let next = LocalizationState.findFloor(venue)
        let announcement: [Directive] = isFoundByGNSS ? [.announceVenue(venue)] : []
        return Transition(state: next, directives: problems + reschedule() + announcement + [.publish(next)])
    }

    /// Returns a visit that begins with what is known of the device.
    func newVisit(of venue: Venue, _ belief: Belief, since: Instant) -> VenueVisit<Belief> {
        var visit = VenueVisit(venue: venue, belief: belief, settings: settings, since: since)
        if levels != nil { visit.belief.collectLevels() }
        if let device = settings.device { visit.belief.begin(asDevice: device) }
        if let earlierCalibration { visit.belief.begin(with: earlierCalibration) }
        return visit
    }

    /// Handles the readings received before the packet arrived.
    private mutating func observeRecent(at now: Instant) {
        guard isHeldBack(at: now) else {
            for reading in recent.readings { visit?.observe(reading, listened: listened.instant(at: now)) }
            return recent.clear()
        }
        for case .sighting(let sighting) in recent.readings {
            visit?.interactions.observe(sighting, listened: listened.instant(at: now))
        }
    }

    /// Handles a tick in a venue: updates the belief, decides the floor, emits the position.
    mutating func locate(at now: Instant, isLast: Bool = false) -> Transition {
        guard let venue = visit?.venue, let since = visit?.since else { return Transition(state: state) }
        let heard = max(lastSign(of: venue.id) ?? since, since)
        let silence = heard.duration(to: listened.instant(at: now))
        if silence >= settings.venueLostTimeout || isDeafTooLong(at: now) { return loseVenue(at: now) }
        let isHeldBack = isHeldBack(at: now)
        // Moved out and back, not copied: the belief owns large buffers.
        guard var visit = visit.take() else { return Transition(state: state) }
        defer { self.visit = visit }
        wakeAt = isLast ? nil : now.advanced(by: settings.positionInterval)
        if isHeldBack { return Transition(state: state) }
        for reading in recent.readings { visit.locate(by: reading, listened: listened.instant(at: now)) }
        recent.clear()
        visit.belief.advance(to: now)
        visit.follow(listened, to: now)
        visit.findFloor(at: now)
        var directives = faults.follow(visit.belief.beaconFaults, at: now).map { Directive.report(.beaconFault($0)) }
        guard let map = visit.floor.map else { return Transition(state: state, directives: directives) }
        if case .localizationRunning(let running) = state, running.mapID != map {
            wakeAt = isLast ? nil : now
            gate.open()
            let next = LocalizationState.findFloor(visit.venue)
            return Transition(state: next, directives: directives + [.publish(next)])
        }
        guard let position = visit.position(on: map, at: now) else {
            return Transition(state: state, directives: directives)
        }
        restored = nil
        var next = state
        if case .findFloor = state {
            next = .localizationRunning(RunningState(venue: visit.venue, mapID: map))
            directives.append(.publish(next))
            motion.enter(map, of: visit.venue, bearing: visit.bearing(of: map))
        }
        if gate.admits(position, by: settings.positionFilter) || isLast {
            directives.append(.emit(position))
            lastPosition = now
        }
        let events = visit.events(of: position, watching: geofences)
        directives += events.map(Directive.emitEvent)
        let time = visit.watchedTime(at: now)
        directives += visit.interactions.events(of: position, events, watched: time).map(Directive.emitInteraction)
        return Transition(state: next, directives: directives)
    }

    /// Returns whether the radio has failed for so long that the position is unknown.
    private func isDeafTooLong(at now: Instant) -> Bool {
        guard isDeaf, let since = listened.deafSince else { return false }
        return since.duration(to: now) >= settings.motion.reckoningLimit
    }

    /// Returns the instant of the latest evidence for the venue, in listening time, at which the timeout of its loss
    /// starts.
    ///
    /// Positions need beacons, or motion after a fix. For the search for a floor, satellite positions are enough.
    private func lastSign(of venue: VenueID) -> Instant? {
        let carried = carried(in: venue, heard: search.lastHeard(of: venue))
        if case .localizationRunning = state { return later(search.lastHeard(of: venue), carried) }
        return later(search.lastEvidence(of: venue), carried)
    }

    private func later(_ first: Instant?, _ second: Instant?) -> Instant? {
        guard let first, let second else { return first ?? second }
        return max(first, second)
    }
}

/// A session memory with its instant.
struct RestoredMemory: Hashable, Sendable {
    var memory: SessionMemory
    /// The instant of the memory, in the session's time; nil before a session begins.
    var instant: Instant?

    /// Moves the memory to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        guard let instant else { return }
        self.instant = instant.advanced(by: duration)
    }

    /// Returns the memory with its age at an instant.
    func memory(at now: Instant) -> SessionMemory {
        var memory = memory
        if let instant { memory.age = max(.zero, instant.duration(to: now)) }
        return memory
    }
}

// The session memory, which a later session can restore.
extension LocalizationMachine {
    /// Returns the session memory. Parts without new readings keep their values from the earlier session.
    package func memory(at now: Instant) -> SessionMemory {
        var memory = SessionMemory()
        if let visit, restored == nil || !visit.belief.places.isEmpty {
            memory.stay = visit.memory(at: now)
        } else if let kept = state.isOver ? last ?? restored : restored {
            memory = kept.memory(at: now)
        }
        memory.calibration = calibration
        return memory
    }

    /// Restores the memory of an earlier session for the next one. Does nothing while a session is running.
    mutating func restore(_ memory: SessionMemory) -> Transition {
        guard state.isOver else { return Transition(state: state) }
        restored = RestoredMemory(memory: memory)
        last = nil
        if let calibration = memory.calibration { earlierCalibration = calibration }
        return Transition(state: state)
    }

    /// Sets the instant of the restored memory at the beginning of a session. The memory's age increases from then on.
    mutating func dateRestoredMemory(at now: Instant) {
        last = nil
        guard let age = restored?.memory.age else { return }
        restored?.instant = now.advanced(by: .zero - age)
    }

    /// Keeps the session memory at the end of a session, until the next one.
    ///
    /// - Parameter hasLeft: whether the session emitted exits from rooms and fences.
    mutating func keepMemory(at now: Instant, hasLeft: Bool) {
        var memory = memory(at: now)
        if hasLeft, visit != nil {
            memory.stay?.rooms = []
            memory.stay?.fences = []
            memory.stay?.geofences = []
        }
        last = RestoredMemory(memory: memory, instant: now.advanced(by: .zero - memory.age))
        restored = nil
    }

    /// Returns the venue of the restored memory; nil without a memory, or with one that is too old.
    package func restoredVenue(at now: Instant) -> VenueID? {
        guard let restored, let instant = restored.instant, instant.duration(to: now) < settings.memoryTimeout else {
            return nil
        }
        return restored.memory.stay?.venueID
    }

    /// Restores a visit from the memory of an earlier session.
    func restore(_ visit: inout VenueVisit<Belief>) {
        guard let restored, let instant = restored.instant, let stay = restored.memory.stay else { return }
        visit.begin(with: stay, of: instant, timeout: settings.memoryTimeout, watching: geofences)
    }

    /// Moves the memories to a timeline with another origin.
    mutating func shiftMemory(by duration: Duration) {
        restored?.shift(by: duration)
        last?.shift(by: duration)
    }
}

/// The retry state of a sender of readings.
struct Delivery: Hashable, Sendable {
    var backoff: Backoff
    /// The instant of the next attempt; nil if the sender hasn't failed.
    var resumeAt: Instant?
    /// Whether the sender has ended.
    var hasEnded = false

    init(backoff: Backoff) { self.backoff = backoff }

    /// Resets the state at the beginning or the end of a session.
    mutating func begin() {
        backoff.reset()
        resumeAt = nil
        hasEnded = false
    }

    /// Schedules the next attempt after a failure.
    mutating func fail(at now: Instant) { resumeAt = now.advanced(by: backoff.next()) }

    /// Moves the next attempt to a timeline with another origin.
    mutating func shift(by duration: Duration) { resumeAt = resumeAt?.advanced(by: duration) }

    /// Returns whether the next attempt is due, and clears it.
    mutating func resume(at now: Instant) -> Bool {
        guard let due = resumeAt, due <= now else { return false }
        resumeAt = nil
        return true
    }
}

// The scan and the satellite receiver. The end of one doesn't end the other.
extension LocalizationMachine {
    /// Handles a failed scan: schedules another scan, unless the error ends the session.
    mutating func loseSource(_ error: any Error, at now: Instant) -> Transition {
        let error = LocalizationError(endOfScan: error, pace: pace, isOnlySender: receiver == nil)
        guard !error.endsSession else { return end(with: .error(error), at: now) }
        scan.fail(at: now)
        // A failed scan counts as a radio that is off, until the radio reports that it receives or delivers a reading.
        isDeaf = true
        diagnosing.scanFailure = error
        listened.pause(at: now)
        return Transition(state: state, directives: [.report(error)])
    }

    /// Handles a failed satellite receiver. The session continues without it after any error.
    mutating func loseReceiver(_ error: any Error, at now: Instant) -> Transition {
        guard receiver != nil else { return Transition(state: state) }
        var error = LocalizationError(reporting: error, code: .generic, "the satellite receiver failed")
        if error.endsSession { error.code = .generic }
        receiver?.fail(at: now)
        return Transition(state: state, directives: [.report(error)])
    }

    /// Handles the end of the scan. The session ends when all senders have ended.
    mutating func endScan(at now: Instant) -> Transition {
        scan.hasEnded = true
        return receiver?.hasEnded ?? true ? finish(at: now) : Transition(state: state)
    }

    mutating func endReceiver(at now: Instant) -> Transition {
        guard receiver != nil else { return Transition(state: state) }
        receiver?.hasEnded = true
        return scan.hasEnded ? finish(at: now) : Transition(state: state)
    }

    /// Starts the satellite receiver again if it ended while the venue was known; returns nothing if it is running.
    mutating func wakeReceiver() -> [Directive] {
        guard receiver?.hasEnded == true, !scan.hasEnded else { return [] }
        receiver?.begin()
        return [.startReceiving]
    }

    /// Resets the retry pause of a sender that delivers again.
    mutating func noteDelivery(of reading: SensorReading) {
        if case .gnss = reading, receiver != nil { receiver?.backoff.reset() } else { scan.backoff.reset() }
    }
}

extension LocalizationError {
    /// Creates the error that a session reports when its scan fails.
    ///
    /// - Parameters:
    ///   - error: the source's error. A `LocalizationError` keeps its code; any other error ends the session.
    ///   - pace: the pace of the source. On a recording, time passes with the readings only, so that a pause before the
    ///     next scan would never end. Every error therefore ends the session.
    ///   - isOnlySender: whether the scan is the only sender; with a satellite receiver, an unknown error doesn't end
    ///     the session.
    init(endOfScan error: any Error, pace: ScanPace, isOnlySender: Bool) {
        self.init(reporting: error, code: isOnlySender ? .critical : .generic, "the scan failed")
        if pace == .recorded, !endsSession { code = .critical }
    }
}

extension LocalizationMachine {
    /// The longest prediction beyond the latest position.
    private static var longestCarry: Duration { .seconds(10) }

    /// Returns the position of the device at an instant; nil while the session emits no positions.
    ///
    /// Up to the latest position, the method interpolates between two positions. After it, the method predicts the
    /// position from all readings so far, without changing the session.
    package func position(at instant: Instant) -> Position? {
        guard case .localizationRunning(let running) = state, let visit, let latest = visit.history.latest else {
            return nil
        }
        if instant <= latest.instant { return visit.history.position(at: instant) }
        guard latest.instant.duration(to: instant) <= Self.longestCarry else { return nil }
        var later = visit
        later.belief.advance(to: instant)
        later.findFloor(at: instant)
        return later.position(on: running.mapID, at: instant)
    }
}
