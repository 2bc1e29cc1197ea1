import IndoorPositioning
import IndoorVocabulary
import VenueModel

// The outputs of a session as asynchronous streams, for any number of subscribers.
extension Localizer {
    /// A stream of all outputs of the session, in the order in which it emits them: states, positions, outdoor
    /// positions, motion, events, interactions, venues, errors and diagnoses.
    ///
    /// Each access to this property, and to those below, returns a new stream that starts with the next output.
    ///
    ///     let outputs = localizer.outputs
    ///     await localizer.start()
    ///     for await output in outputs {
    ///         switch output.content {
    ///         case .state(let state): print(state.name)
    ///         case .position(let position): print(position.x, position.y)
    ///         case .error(let error): print(error)
    ///         case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue, .diagnosis: break
    ///         }
    ///     }
    ///
    /// The streams below emit the same outputs, one kind each. For a slow subscriber, this stream buffers the newest
    /// 1024 outputs and drops older ones; motion alone is ten outputs a second. On a recording, it buffers all outputs,
    /// and they equal those of a ``SessionReplay`` that emits motion.
    public nonisolated var outputs: AsyncStream<SessionOutput> { outputBroadcast.subscribe() }
    /// A stream of the session's states, beginning with the current one.
    public nonisolated var states: AsyncStream<LocalizationState> { stateBroadcast.subscribe() }
    /// A stream of the session's states, each with the evidence for its venue, beginning with the current one.
    ///
    /// The stream repeats a state when the evidence changes: for example, when the source receives the first beacon of
    /// a venue that satellites identified.
    public nonisolated var evaluations: AsyncStream<VenueEvaluation> { evaluationBroadcast.subscribe() }
    /// A stream of the service status, beginning with the current one.
    public nonisolated var serviceStatuses: AsyncStream<ServiceStatus> { statusBroadcast.subscribe() }
    /// A stream of diagnoses, beginning with the current one: one for each change of its reason.
    ///
    /// This stream contains every reason, also those that last only a moment. ``outputs`` contains a reason for the
    /// absence of positions only if it lasts 5 s, and its end. The details of a diagnosis are those at the change;
    /// ``diagnosis`` has the current ones.
    public nonisolated var diagnoses: AsyncStream<SessionDiagnosis> { diagnosisBroadcast.subscribe() }
    /// A stream of positions. It buffers the newest 1024 positions, on a recording all of them.
    public nonisolated var positions: AsyncStream<Position> { positionBroadcast.subscribe() }
    /// Returns a stream of positions that can begin with the latest one of the session; buffered like ``positions``.
    ///
    /// - Parameter beginsWithLatest: whether the stream begins with the latest position, if there is one; `false`
    ///   returns the same stream as ``positions``.
    public nonisolated func positions(beginningWithLatest beginsWithLatest: Bool) -> AsyncStream<Position> {
        positionBroadcast.subscribe(beginningWithLatest: beginsWithLatest)
    }
    /// The latest position of the session; nil before the first one.
    ///
    /// The value stays after the venue is lost and after the session ends, until the next session starts. Compare its
    /// instant with the current one to find its age.
    public nonisolated var latestPosition: Position? { positionBroadcast.latest }
    /// A stream of satellite positions while no floor is known: before the session has the venue, its packet and the
    /// floor, and after it loses the venue.
    ///
    /// The stream buffers the newest 1024 positions, on a recording all of them.
    public nonisolated var outdoorPositions: AsyncStream<OutdoorPosition> { outdoorBroadcast.subscribe() }
    /// A stream of downloaded venues.
    ///
    /// It emits a venue that the session found by its coordinate, before any of its beacons was received. It also emits
    /// a newer version that the venue source stored while a session continues with an older one.
    public nonisolated var downloadedVenues: AsyncStream<Venue> { venueBroadcast.subscribe() }
    /// A stream of the rooms and fences that the device enters and leaves.
    ///
    /// The stream buffers the newest 1024 events, on a recording all of them.
    public nonisolated var events: AsyncStream<LocalizationEvent> { eventBroadcast.subscribe() }
    /// A stream of the venue's interactions, emitted when the device approaches or leaves a beacon or a place.
    ///
    /// The stream buffers the newest 1024 interactions, on a recording all of them.
    public nonisolated var interactions: AsyncStream<InteractionEvent> { interactionBroadcast.subscribe() }
    /// Returns the events in ``eventHistory`` after an instant, in order.
    ///
    /// Instants are on the source's timeline. If the source restarts its timeline in each session, call
    /// ``forgetEvents()`` between sessions.
    public func events(after instant: Instant) -> [LocalizationEvent] { eventHistory.events(after: instant) }
    /// Returns the events in ``eventHistory`` after a wall-clock time, in order.
    ///
    ///     let sinceNoon = await localizer.events(after: UnixTime(milliseconds: noon))
    ///
    /// The result also contains events from a source without a wall clock, whose ``LocalizationEvent/unixTime`` is nil,
    /// because their age is unknown. If the wall clock was set back meanwhile, the times aren't in ascending order.
    public func events(after time: UnixTime) -> [LocalizationEvent] { eventHistory.events(after: time) }
    /// Removes all events from ``eventHistory``.
    public func forgetEvents() { eventHistory.removeAll() }
    /// A stream of errors, including those that don't end the session.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }
    /// The number of elements of all streams that slow subscribers have lost.
    public nonisolated var droppedElements: Int {
        let states =
            stateBroadcast.dropped + datedStateBroadcast.dropped + evaluationBroadcast.dropped + statusBroadcast.dropped
        let places = positionBroadcast.dropped + outdoorBroadcast.dropped + motionBroadcast.dropped
        let events = eventBroadcast.dropped + interactionBroadcast.dropped + venueBroadcast.dropped
        let reports =
            diagnosisBroadcast.dropped + errorBroadcast.dropped + outputBroadcast.dropped + levelBroadcast.dropped
        return states + places + events + reports + qualityBroadcast.dropped + derivedElements.dropped
    }

    /// Finishes the streams of all current subscribers, after the elements already emitted.
    public nonisolated func finishStreams() {
        stateBroadcast.finish()
        datedStateBroadcast.finish()
        evaluationBroadcast.finish()
        statusBroadcast.finish()
        diagnosisBroadcast.finish()
        positionBroadcast.finish()
        outdoorBroadcast.finish()
        venueBroadcast.finish()
        eventBroadcast.finish()
        interactionBroadcast.finish()
        motionBroadcast.finish()
        qualityBroadcast.finish()
        levelBroadcast.finish()
        errorBroadcast.finish()
        outputBroadcast.finish()
    }
}

extension Localizer: StreamSource {}

extension Localizer {
    /// A stream of the levels of the venue's beacons, once a minute and at the end of each visit, after
    /// ``collectBeaconLevels()``. The stream buffers the newest 256.
    package nonisolated var beaconLevels: AsyncStream<VenueLevels> { levelBroadcast.subscribe() }

    /// Collects the levels of the beacons from now on. By default, a session collects none.
    package func collectBeaconLevels() async { _ = await guide(.collectLevels) }
}

extension Localizer {
    /// A stream of the venues and floor plans that the device enters and leaves, beginning with the current ones.
    ///
    /// A visit of a venue begins with its first beacon, or with the first position inside. Satellite positions near the
    /// venue don't begin one; ``downloadedVenues`` emits the venue that they identified. The stream buffers the newest
    /// 1024 visits.
    public nonisolated var visits: AsyncStream<VisitEvent> {
        let (states, elements) = (datedStateBroadcast.subscribe(), derivedElements)
        let (stream, continuation) = AsyncStream.makeStream(
            of: VisitEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task {
            var machine = VisitMachine()
            for await state in states {
                for event in machine.handle(state.state, at: state.instant) { elements.send(event, to: continuation) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }

    /// A stream of the calibration's quality, beginning with the current one. It emits each change.
    ///
    /// The stream buffers the newest 1024 changes.
    public nonisolated var calibrationQualities: AsyncStream<Calibration.Quality> {
        changes(of: qualityBroadcast.subscribe(), derivedElements) { [weak self] in await self?.publishQuality() }
    }

    /// Passes the quality to the subscribers, if there are any.
    func publishQuality() {
        if qualityBroadcast.hasSubscribers { qualityBroadcast.send(calibration.quality) }
    }
}

extension FloorPlanLocalizer {
    /// A stream of the calibration's quality, beginning with the current one. It emits each change.
    ///
    /// The stream buffers the newest 1024 changes.
    public nonisolated var calibrationQualities: AsyncStream<Calibration.Quality> {
        changes(of: qualityBroadcast.subscribe(), derivedElements) { [weak self] in await self?.publishQuality() }
    }
}

/// Returns a stream of the qualities without repetitions.
///
/// - Parameter publish: adds the current quality to `qualities`.
private func changes(
    of qualities: AsyncStream<Calibration.Quality>, _ elements: DerivedElements,
    publish: @escaping @Sendable () async -> Void
) -> AsyncStream<Calibration.Quality> {
    let (stream, continuation) = AsyncStream.makeStream(
        of: Calibration.Quality.self, bufferingPolicy: .bufferingNewest(1024))
    let watch = Task {
        await publish()
        var published: Calibration.Quality?
        for await quality in qualities {
            if quality != published { elements.send(quality, to: continuation) }
            published = quality
        }
        continuation.finish()
    }
    continuation.onTermination = { _ in watch.cancel() }
    return stream
}
