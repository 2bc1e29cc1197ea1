import IndoorVocabulary
import VenueModel

// What a session tells, as streams that anybody may take.
extension Localizer {
    /// All outputs of the session in the order in which it emits them, from now on: states, positions, outdoor positions,
    /// motion, events, interactions, venues and errors. Each call gives a stream of its own, here and below.
    ///
    ///     let outputs = localizer.outputs
    ///     await localizer.start()
    ///     for await output in outputs {
    ///         switch output.content {
    ///         case .state(let state): print(state.name)
    ///         case .position(let position): print(position.x, position.y)
    ///         case .error(let error): print(error)
    ///         case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue: break
    ///         }
    ///     }
    ///
    /// The streams below emit the same outputs kind by kind. The newest 1024 outputs wait for a slow reader, and older ones
    /// are lost: motion comes ten times a second. On a recording, all outputs wait; they are those of a ``SessionReplay``
    /// that emits motion.
    public nonisolated var outputs: AsyncStream<SessionOutput> { outputBroadcast.subscribe() }
    /// The session's states, the present one first.
    public nonisolated var states: AsyncStream<LocalizationState> { stateBroadcast.subscribe() }
    /// The session's states, each with what has told the venue; the present one first. The same state is told again when
    /// that changes, as when the first beacon of a venue is heard that satellites have found.
    public nonisolated var evaluations: AsyncStream<VenueEvaluation> { evaluationBroadcast.subscribe() }
    /// Whether positions can be expected: the present status first.
    public nonisolated var serviceStatuses: AsyncStream<ServiceStatus> { statusBroadcast.subscribe() }
    /// Positions from now on; of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var positions: AsyncStream<Position> { positionBroadcast.subscribe() }
    /// Positions from now on, after the latest one of the session, if there is one; kept as `positions` are.
    ///
    /// - Parameter beginsWithLatest: false for the same as `positions`.
    public nonisolated func positions(beginningWithLatest beginsWithLatest: Bool) -> AsyncStream<Position> {
        positionBroadcast.subscribe(beginningWithLatest: beginsWithLatest)
    }
    /// The latest position that was told, readable at any time; nil before the session's first one.
    ///
    /// It stays when the venue is lost and when the session ends, until the next one begins: its instant tells how old it is.
    public nonisolated var latestPosition: Position? { positionBroadcast.latest }
    /// Where satellites see the device while no floor is known, from now on: before a venue is found and its packet and the
    /// floor are there, and once it is lost.
    ///
    /// Of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var outdoorPositions: AsyncStream<OutdoorPosition> { outdoorBroadcast.subscribe() }
    /// Data of venues that were found by their coordinate, before any of their beacons was heard; and newer versions that
    /// the venue source has stored while a session goes on with an older one.
    public nonisolated var downloadedVenues: AsyncStream<Venue> { venueBroadcast.subscribe() }
    /// Rooms and fences entered and left, from now on.
    ///
    /// Of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var events: AsyncStream<LocalizationEvent> { eventBroadcast.subscribe() }
    /// What the venue has to say where the device comes near to a beacon or a place, or goes away, from now on.
    ///
    /// Of those that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var interactions: AsyncStream<InteractionEvent> { interactionBroadcast.subscribe() }
    /// Rooms and fences entered and left after an instant, in order, of those that `eventHistory` holds.
    ///
    /// Instants are the source's. If it counts anew in each session, forget the events of the last one before the next.
    public func events(after instant: Instant) -> [LocalizationEvent] { eventHistory.events(after: instant) }
    /// Rooms and fences entered and left after a wall-clock time, in order, of those that `eventHistory` holds.
    ///
    ///     let sinceNoon = await localizer.events(after: UnixTime(milliseconds: noon))
    ///
    /// An event whose source has no wall clock is returned too, as nothing tells that it is older: its
    /// ``LocalizationEvent/unixTime`` is nil. Where the wall clock was set back meanwhile, the times don't grow with the order.
    public func events(after time: UnixTime) -> [LocalizationEvent] { eventHistory.events(after: time) }
    /// Empties `eventHistory`.
    public func forgetEvents() { eventHistory.removeAll() }
    /// Errors from now on, also those that the session survives.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }
    /// The number of outputs that slow subscribers have lost: positions, events, estimates of motion, and elements of
    /// ``outputs``.
    public nonisolated var droppedElements: Int {
        positionBroadcast.dropped + outdoorBroadcast.dropped + eventBroadcast.dropped + interactionBroadcast.dropped
            + motionBroadcast.dropped + outputBroadcast.dropped
    }

    /// Ends the streams of all subscribers so far, behind what they were told.
    public nonisolated func finishStreams() {
        stateBroadcast.finish()
        evaluationBroadcast.finish()
        statusBroadcast.finish()
        positionBroadcast.finish()
        outdoorBroadcast.finish()
        venueBroadcast.finish()
        eventBroadcast.finish()
        interactionBroadcast.finish()
        motionBroadcast.finish()
        errorBroadcast.finish()
        outputBroadcast.finish()
    }
}

extension Localizer: StreamSource {}
