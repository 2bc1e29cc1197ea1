import IndoorLocalization

/// A session over a live source, whose news come as one stream.
struct LiveSession: Sendable {
    /// What comes of it.
    enum News: Sendable {
        /// The session tells, its instant counted from the start.
        case told(SessionReplay.Output)
        /// The source delivers.
        case heard(SensorReading)
    }

    let venue: Venue
    let settings: SettingsStack
    let seed: UInt64
    /// Receives from satellites beside the source; nil for none.
    var gnss: (any GNSSSource)?
    /// What is watched beside the fences of the venue.
    var geofences: [Geofence] = []
    /// What ties it, its recording and its log lines together.
    var traceID = TraceID()
    /// What runs beside it.
    var companions: [any ServiceCompanion] = []

    /// Runs until the session is over, or the task is cancelled.
    ///
    /// - Throws: what is wrong with the first geofence that cannot be watched; then no session begins.
    func run(
        _ source: some ScanSource, givesReadings: Bool, _ give: @escaping @Sendable (News) -> Void
    ) async throws(GeofenceError) {
        let tap: @Sendable (SensorReading) -> Void = { if givesReadings { give(.heard($0)) } }
        let localizer = Localizer(
            source: TappedSource(source: source, tap: tap), gnss: gnss.map { TappedGNSSSource(source: $0, tap: tap) },
            venues: VenueLibrary([venue]), settings: settings, seed: seed, traceIDs: { [traceID] in traceID })
        try await localizer.startMonitoring(geofences)
        await Self.follow(localizer, companions: companions) { give(.told($0)) }
    }

    /// Runs the session of a localizer until it is over, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - companions: run beside it, until it is over.
    ///   - tell: takes what the session tells, all of it, its instant counted from the start.
    static func follow(
        _ localizer: Localizer, companions: [any ServiceCompanion] = [],
        _ tell: @escaping @Sendable (SessionReplay.Output) -> Void
    ) async {
        let start = ContinuousClock.now
        let tell: @Sendable (SessionReplay.Output.Content) -> Void = { content in
            let elapsed = start.duration(to: .now).nanoseconds
            tell(SessionReplay.Output(instant: Instant(nanoseconds: elapsed), content: content))
        }
        // Taken before the start, so that nothing is missed.
        let (states, positions, outdoors, events, errors, venues) = (
            localizer.states, localizer.positions, localizer.outdoorPositions, localizer.events, localizer.errors,
            localizer.downloadedVenues
        )
        let interactions = localizer.interactions
        await withTaskGroup { beside in
            for companion in companions { beside.addImmediateTask { await companion.run(beside: localizer) } }
            await localizer.start()
            await withTaskGroup { group in
                group.addTask { for await position in positions { tell(.position(position)) } }
                group.addTask { for await position in outdoors { tell(.outdoorPosition(position)) } }
                group.addTask { for await event in events { tell(.event(event)) } }
                group.addTask { for await event in interactions { tell(.interaction(event)) } }
                group.addTask { for await error in errors { tell(.error(error)) } }
                group.addTask { for await venue in venues { tell(.downloadedVenue(venue)) } }
                let final = await tellStates(states) { tell(.state($0)) }
                await localizer.stop()
                // What was told before the end is still in the streams, and comes before the last state.
                localizer.finishStreams()
                await group.waitForAll()
                if let final { tell(.state(final)) }
            }
            beside.cancelAll()
        }
    }

    /// Tells the states but for the first, which is that of before the start, and the last one, which is returned; nil if
    /// the task is cancelled.
    private static func tellStates(
        _ states: AsyncStream<LocalizationState>, _ tell: (LocalizationState) -> Void
    ) async -> LocalizationState? {
        for await state in states.dropFirst() {
            if state == .idle { return state }
            if case .error = state { return state }
            tell(state)
        }
        return nil
    }
}
