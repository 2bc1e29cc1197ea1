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
    ///   - tell: receives the outputs but for motion, the last state last, each with the time since the start.
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
        let outputs = localizer.outputs
        await withTaskGroup { beside in
            for companion in companions { beside.addImmediateTask { await companion.run(beside: localizer) } }
            await localizer.start()
            var final: LocalizationState?
            for await output in outputs {
                switch output.content {
                case .motion: break
                case .state(let state) where state.isOver:
                    final = final ?? state
                    // The stream ends behind what was emitted until now, which comes before the last state.
                    await end(localizer)
                case .state, .position, .outdoorPosition, .event, .interaction, .downloadedVenue, .error:
                    tell(output.content)
                }
            }
            await end(localizer)
            if let final { tell(.state(final)) }
            beside.cancelAll()
        }
    }

    private static func end(_ localizer: Localizer) async {
        await localizer.stop()
        localizer.finishStreams()
    }
}
