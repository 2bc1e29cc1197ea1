import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The state machine of a floor plan localizer, without I/O: events in, directives out, time as an argument.
///
/// It contains the machine of a `Localizer`. It fetches that machine's data beforehand, forces the venue, locks the
/// floor, and answers the machine's requests at once. In a venue with one floor, both therefore give the same
/// positions.
package struct FloorPlanLocalizerMachine<Belief: PositioningBelief>: Sendable {
    package typealias Session = LocalizationMachine<Belief>

    /// An input of the machine.
    package enum Event: Sendable {
        case connect
        case prepare(FloorPlanLocalizerParameters)
        case start(FloorPlanLocalizerParameters)
        case stop
        /// The caller submits a position on the floor plan.
        case fix(Fix)
        /// The calibration of the device from an earlier session.
        case calibration(Calibration)
        /// The caller changes the monitored geofences.
        case monitor(GeofenceChange)
        case catalogue([VenueSummary])
        case catalogueFailed(LocalizationError)
        /// The fraction of the packet that has arrived.
        case progress(Double)
        case packet(Venue)
        case packetFailed(LocalizationError)
        /// The result of the work of a `prepareBelief` directive.
        case prepared(BeliefPreparation, Result<Belief, LocalizationError>)
        /// The venue source sends an update without a request.
        case venues(VenueUpdate)
        /// The source delivered a reading, with this delay since its measurement.
        case reading(DecodedReading, delay: Duration)
        case sourceEnded
        case sourceFailed(any Error)
        case tick
    }

    /// Work for the shell, in order.
    package enum Directive: Hashable, Sendable {
        case fetchCatalogue
        case fetchPacket(VenueID)
        /// Do this work outside the actor, instead of any fetch, and return its result as `prepared`.
        ///
        /// Indirect, because a venue is large.
        indirect case prepareBelief(BeliefPreparation)
        /// Cancel any fetch or preparation.
        case cancelFetch
        case startScanning
        case stopScanning
        case schedule(ScanSchedule)
        case publish(FloorPlanLocalizerState)
        case emitProgress(Double)
        case emit(Position)
        case emitEvent(LocalizationEvent)
        case report(LocalizationError)
    }

    /// The step that the caller wants to reach.
    enum Goal: Int, Comparable, Sendable {
        case connected, ready, positioning
        static func < (left: Goal, right: Goal) -> Bool { left.rawValue < right.rawValue }
    }

    /// A new state and its directives.
    struct Transition {
        var state: FloorPlanLocalizerState
        var directives: [Directive] = []
    }

    /// The fetched venue and the belief prepared from it.
    struct Preparation: Sendable {
        let venue: Venue
        let settings: SettingsStack
        let belief: Belief
        let addresses: KnownAddresses
    }

    /// The current state.
    package private(set) var state = FloorPlanLocalizerState.stopped(nil)
    let plan: FloorPlan
    let settings: LocalizationSettings
    let seed: UInt64
    let pace: ScanPace
    /// Creates the belief for the venue.
    package let makeBelief: @Sendable (Venue, PositioningSettings) -> Belief
    /// Whether the shell prepares beliefs outside the actor; otherwise the machine does it in `handle`.
    let preparesApart: Bool
    var goal: Goal?
    /// The parameters of the preparation; nil until the caller sets them.
    package internal(set) var parameters: FloorPlanLocalizerParameters?
    /// The venue's entry in the catalogue; nil before the catalogue arrives.
    var summary: VenueSummary?
    var preparation: Preparation?
    /// The session on the floor plan; nil before it is started.
    var session: Session?
    /// The starting point of the session; nil without a fix.
    var place: Fix?
    var backoff: Backoff
    /// The instant of the next retry; nil if no request has failed.
    var retryAt: Instant?
    /// The instant at which the latest reading becomes too old for the state; nil if its age can't change the state.
    var staleAt: Instant?
    /// The error that stops the radio's reception; nil without one.
    var trouble: LocalizationError?
    var hasPosition = false
    /// The age of the latest reading from the venue, in listening time; nil before the first one.
    var latestAge: ReadingAge?
    /// The time from the latest reception to the position computed from it; zero while there are no positions.
    package var latency = Duration.zero
    /// The application's monitored geofences, for all sessions.
    var geofences = MonitoredGeofences()
    /// The calibration of the device from earlier sessions; nil without one.
    var earlierCalibration: Calibration?
    /// The outcome of the latest fix.
    package var fixOutcome: FixOutcome?

    /// Creates a stopped machine.
    ///
    /// - Parameters:
    ///   - plan: the plan of the floor.
    ///   - settings: the settings that the parameters override.
    ///   - seed: the seed of the retry jitter.
    ///   - pace: the pace of the source.
    ///   - preparesApart: whether the shell prepares beliefs outside the actor, on a `prepareBelief` directive.
    ///   - makeBelief: creates the belief for the venue.
    package init(
        plan: FloorPlan, settings: LocalizationSettings, seed: UInt64, pace: ScanPace = .live,
        preparesApart: Bool = false,
        makeBelief: @escaping @Sendable (Venue, PositioningSettings) -> Belief
    ) {
        self.plan = plan
        self.settings = settings
        self.seed = seed
        self.pace = pace
        self.makeBelief = makeBelief
        self.preparesApart = preparesApart
        backoff = Backoff(first: settings.retryPause, seed: seed)
    }

    /// Handles an event and returns the directives for the shell.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        let transition = transition(on: event, at: now)
        state = transition.state
        return transition.directives
    }

    private mutating func transition(on event: Event, at now: Instant) -> Transition {
        switch event {
        case .connect: return pursue(.connected, at: now)
        case .prepare(let given): return pursue(.ready, with: given, at: now)
        case .start(let given): return pursue(.positioning, with: given, at: now)
        case .stop: return state.isStopped ? Transition(state: state) : end(nil, at: now)
        case .fix(let fix): return submit(fix, at: now)
        case .calibration(let calibration):
            earlierCalibration = calibration
            return Transition(state: state)
        case .monitor(let change):
            geofences.apply(change)
            _ = session?.handle(.monitor(change), at: now)
            return Transition(state: state)
        case _ where state.isStopped:
            return Transition(state: state)  // late answers to a session that is over
        case .catalogue(let venues): return learn(venues, at: now)
        case .catalogueFailed(let error):
            return summary == nil ? fail(error, at: now) : Transition(state: state)
        case .progress(let fraction): return Transition(state: state, directives: [.emitProgress(fraction)])
        case .packet(let venue): return prepare(venue, at: now)
        case .prepared(let work, let result): return finish(work, result, at: now)
        case .packetFailed(let error):
            return preparation == nil ? fail(error, at: now) : Transition(state: state)
        case .venues(let update): return learn(update, at: now)
        case .reading(let reading, let delay): return observe(reading, delay, at: now)
        case .sourceEnded: return work(.sourceEnded, at: now)
        case .sourceFailed(let error):
            let failure = LocalizationError(endOfScan: error, pace: pace, isOnlySender: true)
            if !failure.endsSession { trouble = failure }
            return work(.sourceFailed(failure), at: now)
        case .tick: return tick(at: now)
        }
    }
}

extension FloorPlanLocalizerMachine {
    /// The current calibration of the device; nil without one.
    package var calibration: Calibration? { session?.calibration ?? earlierCalibration }
}

extension FloorPlanLocalizerMachine: SessionMachine {
    package static var tick: Event { .tick }
    package var isOver: Bool { state.isStopped }

    package var nextWake: Instant? { [session?.nextWake, retryAt, staleAt].compactMap(\.self).min() }

    package mutating func shift(by duration: Duration) {
        session?.shift(by: duration)
        retryAt = retryAt?.advanced(by: duration)
        staleAt = staleAt?.advanced(by: duration)
    }

    package static func delivered(_ reading: DecodedReading, delay: Duration) -> Event {
        .reading(reading, delay: delay)
    }
    package static func updated(_ update: VenueUpdate) -> Event { .venues(update) }

    /// Returns the event of the end of the source, which is the only sender.
    package static func ended(_ sender: SessionTimeline.Sender, _ error: (any Error)?) -> Event {
        error.map(Event.sourceFailed) ?? .sourceEnded
    }

    package static func answered(_ answer: VenueAnswer) -> Event {
        switch answer {
        case .catalogue(let venues): .catalogue(venues)
        case .catalogueFailed(let error): .catalogueFailed(error)
        case .progress(_, let fraction): .progress(fraction)
        case .packet(_, let venue): .packet(venue)
        case .packetFailed(_, let error): .packetFailed(error)
        }
    }

    package func work(for directive: Directive) -> SessionWork<Event>? {
        switch directive {
        case .startScanning: .startScanning
        case .stopScanning: .stopScanning
        case .fetchCatalogue: .fetch(.catalogue)
        case .fetchPacket(let id): .fetch(.packet(id))
        case .prepareBelief(let preparation):
            .prepare { [makeBelief] in .prepared(preparation, preparation.run(makeBelief)) }
        case .cancelFetch: .cancelFetch
        case .schedule(let schedule): .keep(schedule)
        case .publish, .emitProgress, .emit, .emitEvent, .report: nil
        }
    }
}
