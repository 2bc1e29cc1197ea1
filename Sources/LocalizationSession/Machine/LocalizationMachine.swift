import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// Every event and every decision of a session, without any I/O: events in, directives out, time as an argument.
///
/// Generic over the belief about the place, so that a test can script it.
package struct LocalizationMachine<Belief: PositioningBelief>: Sendable {
    /// What happens to a session.
    package enum Event: Sendable {
        /// The user begins a session.
        case start
        /// The user ends it.
        case stop
        /// The source delivered something.
        case reading(DecodedReading)
        /// The instant that `nextWake` named has come.
        case tick
        /// The venues that can be recognised.
        case catalogue([VenueSummary])
        case catalogueFailed(LocalizationError)
        /// The fraction of a packet that is there.
        case progress(VenueID, Double)
        /// The answer to the request for that venue's packet.
        case packet(VenueID, Venue)
        case packetFailed(VenueID, LocalizationError)
        /// The result of the work that `prepareBelief` asked for.
        case prepared(BeliefPreparation, Result<Belief, LocalizationError>)
        /// The venue source tells something without being asked.
        case venues(VenueUpdate)
        /// The source has nothing more to deliver.
        case sourceEnded
        /// The scan has failed, with whatever error: the machine decides what that means for the session.
        case sourceFailed(any Error)
        /// The satellite receiver beside it has nothing more to deliver; its positions come as readings.
        case gnssEnded
        case gnssFailed(any Error)
        /// Other settings count from now on.
        case settings(SettingsStack)
        /// A place is given from outside.
        case fix(Fix)
        /// The device points there, in degrees clockwise from the plan's top.
        case heading(Double)
        /// The device is on that map, whatever the evidence says; nil lets evidence decide.
        case lockFloor(MapID?)
        /// Whether satellites cannot tell that the device is outdoors.
        case lockIndoors(Bool)
        /// What an earlier session learned of the device.
        case calibration(Calibration)
        /// Other geofences are to be watched.
        case monitor(GeofenceChange)
        /// What an earlier session knew, its age that of now.
        case restore(SessionMemory)
        /// The user ends the session, to go on later: rooms and fences are not left.
        case suspend
        /// The user begins a session that goes on with the last one's motion.
        case resume
    }

    /// What the shell has to do, in order.
    package enum Directive: Hashable, Sendable {
        case startScanning
        /// Begin to receive from satellites, beside the scan.
        case startReceiving
        /// End whatever delivers readings.
        case stopScanning
        case fetchCatalogue
        case fetchPacket(VenueID)
        /// Do this work apart from the session, in place of any fetch, and return its result as `prepared`.
        ///
        /// Apart in memory: a venue is large.
        indirect case prepareBelief(BeliefPreparation)
        /// Whatever is being fetched or prepared is no longer wanted.
        case cancelFetch
        case publish(LocalizationState)
        case emit(Position)
        case emitOutdoor(OutdoorPosition)
        /// Apart in memory: an estimate is large, and the other directives are not.
        indirect case emitMotion(MotionUpdate)
        case emitEvent(LocalizationEvent)
        /// Apart in memory, as motion.
        indirect case emitInteraction(InteractionEvent)
        /// A venue's data, found by its coordinate, is there; or a newer version than the session goes on with.
        case announceVenue(Venue)
        case report(LocalizationError)
        /// The radio is to rest between passes as the settings say.
        case schedule(ScanSchedule)
    }

    /// A state and what leads to it.
    struct Transition {
        var state: LocalizationState
        var directives: [Directive] = []
    }

    /// What the session is doing.
    package private(set) var state = LocalizationState.idle
    /// All sources of settings; the venue is one of them.
    package internal(set) var stack: SettingsStack
    /// What the stack comes to, for the venue that the device is in.
    package internal(set) var settings: LocalizationSettings
    /// What the radio was last told.
    var schedule = ScanSchedule()
    /// Begins to locate in a venue, with the settings that apply there.
    package let makeBelief: @Sendable (Venue, PositioningSettings) -> Belief
    /// Whether the shell prepares beliefs apart from the session; otherwise the machine does it in `handle`.
    let preparesApart: Bool
    /// Whether other settings were applied since the belief's preparation began.
    var isPreparationStale = false
    var search: VenueSearchMachine
    var visit: VenueVisit<Belief>?
    var backoff: Backoff
    var scan: Delivery
    /// The satellite receiver beside the scan; nil without one.
    var receiver: Delivery?
    var recent = RecentReadings()
    /// Which beacons are known by their address.
    var addresses = KnownAddresses()
    /// Whether only beacons of no known venue are heard.
    var unknownBeacons = UnknownBeaconWatch()
    /// Whether time passes by the readings.
    var instants = InstantWatch()
    /// When the state itself wants a tick; nil if it waits for other events.
    var wakeAt: Instant?
    /// When a failed request is due again; nil if none has failed.
    var retryAt: Instant?
    var isFoundByGNSS = false
    /// What has told the venue that the session is in; nil if nothing has.
    var detectedBy: VenueDetection?
    /// When the latest outdoor position was told; nil if none was.
    var lastOutdoor: Instant?
    /// Where the next visit begins; nil if nobody says.
    var initialFix: Fix?
    /// What became of the latest fix that was given from outside.
    package internal(set) var fixOutcome: FixOutcome?
    var lockedMap: MapID?
    /// Whether the radio has told that something is in the way of its scan.
    var isDeaf = false
    /// In which the silence of beacons is counted. What the search for a venue knows is on this timeline.
    var listened = ListenedTime()
    /// What the application watches, in whatever venue.
    var geofences = MonitoredGeofences()
    /// Nil if the settings decide.
    var lockedIndoors: Bool?
    var gate = PositionGate()
    /// What was learned of the device before the present visit; nil if nothing was.
    var earlierCalibration: Calibration?
    /// When the latest position was told; nil if none was.
    var lastPosition: Instant?
    /// What an earlier session knew, as long as nothing is known better.
    var restored: RestoredMemory?
    /// What the session knew that has ended; nil while one is on.
    var last: RestoredMemory?
    /// When the latest satellite position was used; nil if none was.
    var lastSatellites: Instant?
    /// How time passes for the source.
    let pace: ScanPace
    /// Whether anybody is told of motion.
    let tellsMotion: Bool
    var motion: MotionReporter

    /// Creates an idle machine.
    ///
    /// - Parameters:
    ///   - seed: of the jitter of retries.
    ///   - pace: of the source.
    ///   - hasReceiver: whether a satellite receiver delivers beside the source.
    ///   - tellsMotion: whether there is to be told how the device moves.
    ///   - preparesApart: whether the shell prepares beliefs apart from the session, as `prepareBelief` directs it.
    ///   - makeBelief: begins to locate in a venue, with the settings that count there.
    package init(
        settings stack: SettingsStack, seed: UInt64, pace: ScanPace = .live, hasReceiver: Bool = false,
        tellsMotion: Bool = false, preparesApart: Bool = false,
        makeBelief: @escaping @Sendable (Venue, PositioningSettings) -> Belief
    ) {
        self.stack = stack
        settings = stack.resolved.localization
        self.makeBelief = makeBelief
        self.pace = pace
        self.tellsMotion = tellsMotion
        self.preparesApart = preparesApart
        motion = MotionReporter(settings.motion, model: settings.positioning.motion, calibration: nil)
        search = VenueSearchMachine(settings: settings.venueSearch, forced: settings.forcedVenue)
        backoff = Backoff(first: settings.retryPause, seed: seed)
        scan = Delivery(backoff: Backoff(first: settings.retryPause, seed: ~seed))
        // Any constant that tells it from the others.
        let receiverSeed = seed ^ 0x6E55
        receiver = hasReceiver ? Delivery(backoff: Backoff(first: settings.retryPause, seed: receiverSeed)) : nil
    }

    /// What has told which venue this is; nil while none is known, and where it was given from outside.
    package var detection: VenueDetection? { state.venueID == nil ? nil : detectedBy }

    /// When the machine wants a `tick`; nil if it waits for other events alone. An earlier tick does nothing.
    package var nextWake: Instant? {
        [wakeAt, scan.resumeAt, receiver?.resumeAt].compactMap(\.self).min()
    }

    /// Moves all that is due onto a timeline that begins elsewhere.
    package mutating func shift(by duration: Duration) {
        wakeAt = wakeAt?.advanced(by: duration)
        retryAt = retryAt?.advanced(by: duration)
        lastPosition = lastPosition?.advanced(by: duration)
        listened.shift(by: duration)
        shiftMemory(by: duration)
        scan.shift(by: duration)
        receiver?.shift(by: duration)
    }

    /// Takes in an event; returns what is to be done.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        let transition = transition(on: event, at: now)
        state = transition.state
        return transition.directives
    }

    private mutating func transition(on event: Event, at now: Instant) -> Transition {
        switch (state, event) {
        case (.idle, .start), (.error, .start):
            return begin(at: now)
        case (.idle, .resume), (.error, .resume):
            return begin(at: now, goesOn: true)
        case (_, .resume):
            return Transition(state: state)
        case (.started, .start), (.searchVenue, .start), (.getPacket, .start), (.findFloor, .start),
            (.localizationRunning, .start):
            return Transition(state: state)  // a session is on already

        case (.idle, .stop), (.idle, .suspend):
            return Transition(state: state)
        case (.error, .stop), (.error, .suspend):
            return Transition(state: .idle, directives: [.publish(.idle)])
        case (.started, .stop), (.searchVenue, .stop), (.getPacket, .stop), (.findFloor, .stop),
            (.localizationRunning, .stop):
            return end(with: .idle, at: now)
        case (_, .suspend):
            return end(with: .idle, at: now, leavesAreas: false)

        case (_, .settings(let stack)):
            return change(to: stack)
        case (_, .lockFloor(let map)):
            return lock(to: map)
        case (_, .heading(let course)):
            motion.set(heading: course)
            return Transition(state: state)
        case (_, .monitor(let change)):
            return monitor(change)
        case (_, .lockIndoors(let isLocked)):
            lockedIndoors = isLocked
            return Transition(state: state)
        case (_, .calibration(let calibration)):
            earlierCalibration = calibration
            return Transition(state: state)
        case (_, .restore(let memory)):
            return restore(memory)
        case (.idle, .fix(let fix)), (.error, .fix(let fix)):
            return keep(fix)

        case (.idle, _), (.error, _):
            return Transition(state: state)  // late answers to a session that is over

        case (_, .sourceFailed(let error)):
            return loseSource(error, at: now)
        case (_, .sourceEnded):
            return endScan(at: now)
        case (_, .gnssFailed(let error)):
            return loseReceiver(error, at: now)
        case (_, .gnssEnded):
            return endReceiver(at: now)

        case (.started, .catalogue(let venues)):
            return learn(venues, at: now)
        case (.searchVenue, .catalogue), (.getPacket, .catalogue), (.findFloor, .catalogue),
            (.localizationRunning, .catalogue):
            return Transition(state: state)  // the answer to a request of an earlier session
        case (.started, .catalogueFailed(let error)):
            return fail(error, at: now)
        case (.searchVenue, .catalogueFailed), (.getPacket, .catalogueFailed), (.findFloor, .catalogueFailed),
            (.localizationRunning, .catalogueFailed):
            return Transition(state: state)  // likewise

        case (.getPacket(let wanted, let known), .progress(let id, let fraction)):
            // The comparison also keeps out what is no number.
            guard id == wanted, known < 1, fraction > known else { return Transition(state: state) }
            let next = LocalizationState.getPacket(venueID: id, progress: min(fraction, 1))
            return Transition(state: next, directives: [.publish(next)])
        case (.getPacket(let wanted, _), .packet(let id, let venue)) where id == wanted:
            return prepare(venue, at: now)
        case (.getPacket(let wanted, _), .prepared(let preparation, let result)) where preparation.venue.id == wanted:
            return enter(preparation, result, at: now)
        case (.getPacket(let wanted, _), .packetFailed(let id, let error)) where id == wanted:
            return fail(error, at: now)
        case (_, .progress), (_, .packet), (_, .packetFailed), (_, .prepared):
            return Transition(state: state)  // the answer to a request that was cancelled

        case (_, .venues(let update)):
            return learn(update, at: now)

        case (_, .reading(let reading)):
            return observe(reading, at: now)
        case (_, .fix(let fix)):
            return submit(fix, at: now)

        case (_, .tick):
            return tick(at: now)
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
        case .publish, .emit, .emitOutdoor, .emitMotion, .emitEvent, .emitInteraction, .announceVenue, .report: nil
        }
    }
}

extension ActivityCounts {
    /// Takes in what a session tells.
    mutating func note(_ directive: LocalizationMachine<PositioningEngine>.Directive) {
        switch directive {
        case .startScanning: passes += 1
        case .emit: positions += 1
        case .emitOutdoor: outdoorPositions += 1
        case .emitEvent: events += 1
        case .report: errors += 1
        case .startReceiving, .stopScanning, .cancelFetch, .fetchCatalogue, .fetchPacket, .prepareBelief, .publish,
            .emitMotion,
            .emitInteraction, .announceVenue, .schedule:
            break
        }
    }
}
