import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// Every event and every decision of a positioner, without any I/O.
///
/// Around the machine that a `Localizer` runs too: a positioner fetches what that one needs beforehand, forces the venue
/// and locks the floor, and answers its requests at once. So where a venue has one floor, both give the same positions.
package struct FloorPlanLocalizerMachine<Belief: PositioningBelief>: Sendable {
    package typealias Session = LocalizationMachine<Belief>

    /// What happens to a positioner.
    package enum Event: Sendable {
        case connect
        case prepare(FloorPlanLocalizerParameters)
        case start(FloorPlanLocalizerParameters)
        case stop
        /// A place on the floor plan is given from outside.
        case fix(Fix)
        /// What an earlier session learned of the device.
        case calibration(Calibration)
        /// Other geofences are to be watched.
        case monitor(GeofenceChange)
        case catalogue([VenueSummary])
        case catalogueFailed(LocalizationError)
        /// The fraction of the packet that has arrived.
        case progress(Double)
        case packet(Venue)
        case packetFailed(LocalizationError)
        /// The result of the work that `prepareBelief` asked for.
        case prepared(BeliefPreparation, Result<Belief, LocalizationError>)
        /// The venue source tells something without being asked.
        case venues(VenueUpdate)
        /// The source delivered something, so long after it was sensed.
        case reading(DecodedReading, delay: Duration)
        case sourceEnded
        case sourceFailed(any Error)
        case tick
    }

    /// What the shell has to do, in order.
    package enum Directive: Hashable, Sendable {
        case fetchCatalogue
        case fetchPacket(VenueID)
        /// Do this work apart from the session, in place of any fetch, and return its result as `prepared`.
        ///
        /// Apart in memory: a venue is large.
        indirect case prepareBelief(BeliefPreparation)
        /// Whatever is being fetched or prepared is no longer wanted.
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

    /// How far the caller wants it.
    enum Goal: Int, Comparable, Sendable {
        case connected, ready, positioning
        static func < (left: Goal, right: Goal) -> Bool { left.rawValue < right.rawValue }
    }

    /// A state and what leads to it.
    struct Transition {
        var state: FloorPlanLocalizerState
        var directives: [Directive] = []
    }

    /// What was fetched and made of it.
    struct Preparation: Sendable {
        let venue: Venue
        let settings: SettingsStack
        let belief: Belief
        let addresses: KnownAddresses
    }

    /// What the positioner is doing.
    package private(set) var state = FloorPlanLocalizerState.stopped(nil)
    let plan: FloorPlan
    let settings: LocalizationSettings
    let seed: UInt64
    let pace: ScanPace
    /// Begins to locate in the venue.
    package let makeBelief: @Sendable (Venue, PositioningSettings) -> Belief
    /// Whether the shell prepares beliefs apart from the session; otherwise the machine does it in `handle`.
    let preparesApart: Bool
    var goal: Goal?
    /// What it is or will be prepared with; nil before anybody says.
    package internal(set) var parameters: FloorPlanLocalizerParameters?
    /// The venue in the catalogue; nil before that is there.
    var summary: VenueSummary?
    var preparation: Preparation?
    /// The session on the floor plan; nil before it is started.
    var session: Session?
    /// Where the session will begin; nil if nobody says.
    var place: Fix?
    var backoff: Backoff
    /// When a failed request is due again; nil if none has failed.
    var retryAt: Instant?
    /// When the news will have become too old for the state; nil if they cannot.
    var staleAt: Instant?
    /// What keeps the radio from hearing; nil if nothing does.
    var trouble: LocalizationError?
    var hasPosition = false
    /// In time that was listened to.
    var news: ReadingAge?
    /// From the radio's time of what was heard last to the latest position; zero while there are no positions.
    package var latency = Duration.zero
    /// What the application watches, in whatever session.
    var geofences = MonitoredGeofences()
    /// What was learned of the device in earlier sessions; nil if nothing was.
    var earlierCalibration: Calibration?
    /// What became of the latest fix.
    package var fixOutcome: FixOutcome?

    /// Creates a stopped machine.
    ///
    /// - Parameters:
    ///   - plan: the floor.
    ///   - settings: on which the parameters are put.
    ///   - seed: of the jitter of retries.
    ///   - pace: of the source.
    ///   - preparesApart: whether the shell prepares beliefs apart from the session, as `prepareBelief` directs it.
    ///   - makeBelief: begins to locate in the venue.
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

    /// Takes in an event; returns what is to be done.
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
    /// What is known of the device now; nil if nothing was learned.
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

    /// The source is the only sender.
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
