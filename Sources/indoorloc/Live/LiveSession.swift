import IndoorLocalization

/// A session on a live source, with all its updates in one callback.
struct LiveSession: Sendable {
    /// An update of the session.
    enum Update: Sendable {
        /// An output of the session; its instant counts from the start.
        case output(SessionReplay.Output)
        /// A reading of the source.
        case reading(SensorReading)
    }

    let venue: Venue
    let settings: SettingsStack
    let seed: UInt64
    /// A satellite receiver beside the source; nil for none.
    var gnss: (any GNSSSource)?
    /// The geofences to monitor, in addition to the venue's fences.
    var geofences: [Geofence] = []
    /// The identifier of the session, in its recording and its log lines.
    var traceID = TraceID()
    /// The companions that run beside the session.
    var companions: [any SessionCompanion] = []
    /// Counts the readings that the session was too slow for.
    let lost = LostReadings()

    /// Runs until the session ends, or the task is cancelled.
    ///
    /// - Throws: `GeofenceError` for the first geofence that can't be monitored; then no session begins.
    func run(
        _ source: some ScanSource, givesReadings: Bool, _ give: @escaping @Sendable (Update) -> Void
    ) async throws(GeofenceError) {
        let tap: @Sendable (SensorReading) -> Void = { if givesReadings { give(.reading($0)) } }
        let localizer = Localizer(
            source: TappedSource(source: source, lost: lost, tap: tap),
            gnss: gnss.map { TappedGNSSSource(source: $0, lost: lost, tap: tap) },
            venues: VenueLibrary([venue]), settings: settings, seed: seed, traceIDs: { [traceID] in traceID })
        try await localizer.startMonitoring(geofences)
        await Self.follow(localizer, companions: companions) { give(.output($0)) }
    }

    /// Runs the session of a localizer until it ends, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - companions: run beside the session until it ends.
    ///   - emit: receives all outputs of the session; instants count from the start.
    static func follow(
        _ localizer: Localizer, companions: [any SessionCompanion] = [],
        _ emit: @escaping @Sendable (SessionReplay.Output) -> Void
    ) async {
        let start = ContinuousClock.now
        let emitContent: @Sendable (SessionReplay.Output.Content) -> Void = { content in
            let elapsed = start.duration(to: .now).nanoseconds
            emit(SessionReplay.Output(instant: Instant(nanoseconds: elapsed), content: content))
        }
        // Created before the start, so that they miss nothing.
        let (states, positions, outdoors, events, errors, venues) = (
            localizer.states, localizer.positions, localizer.outdoorPositions, localizer.events, localizer.errors,
            localizer.downloadedVenues
        )
        let interactions = localizer.interactions
        await withTaskGroup { beside in
            for companion in companions { beside.addImmediateTask { await companion.run(beside: localizer) } }
            await localizer.start()
            await withTaskGroup { group in
                group.addTask { for await position in positions { emitContent(.position(position)) } }
                group.addTask { for await position in outdoors { emitContent(.outdoorPosition(position)) } }
                group.addTask { for await event in events { emitContent(.event(event)) } }
                group.addTask { for await event in interactions { emitContent(.interaction(event)) } }
                group.addTask { for await error in errors { emitContent(.error(error)) } }
                group.addTask { for await venue in venues { emitContent(.downloadedVenue(venue)) } }
                let final = await emitStates(states) { emitContent(.state($0)) }
                await localizer.stop()
                // Elements still in the streams come before the last state.
                localizer.finishStreams()
                await group.waitForAll()
                if let final { emitContent(.state(final)) }
            }
            beside.cancelAll()
        }
    }

    /// Emits the states after the initial one; returns the final state, or nil if the task is cancelled.
    private static func emitStates(
        _ states: AsyncStream<LocalizationState>, _ emit: (LocalizationState) -> Void
    ) async -> LocalizationState? {
        for await state in states.dropFirst() {
            if state == .idle { return state }
            if case .error = state { return state }
            emit(state)
        }
        return nil
    }
}

/// Work that runs beside a session, such as sharing its positions.
protocol SessionCompanion: Sendable {
    /// Runs until the session ends: then the localizer's streams end, and the task is cancelled.
    ///
    /// Called before the session begins. A stream that is created before the first suspension misses nothing.
    func run(beside localizer: Localizer) async
}
