import IndoorLocalization

/// A session on a live source, with all its updates in one callback.
struct LiveSession: Sendable {
    /// An update of the session.
    enum Update: Sendable {
        /// An output of the session; its instant counts from the start.
        case output(SessionOutput)
        /// A reading of the source.
        case reading(SensorReading)
        /// A place that the user marked on the live map, and its time.
        case mark(MarkedPlace, ContinuousClock.Instant)
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
    /// Records surveys with this device, and has the venue's latest edition; nil for none.
    var survey: DeviceSurvey?
    /// The companions that run beside the session.
    var companions: [any SessionCompanion] = []
    /// Counts the readings that were discarded because the session was too slow.
    var lost = LostReadings()

    /// Runs until the session ends, or the task is cancelled.
    ///
    /// - Throws: `GeofenceError` for the first geofence that can't be monitored; then no session begins.
    func run(
        _ source: some ScanSource, givesReadings: Bool, _ give: @escaping @Sendable (Update) -> Void
    ) async throws(GeofenceError) {
        let device = survey?.device
        let tap: @Sendable (SensorReading) -> Void = { reading in
            if givesReadings { give(.reading(reading)) }
            device?.receive(reading)
        }
        let venues: any VenueSource = device ?? VenueLibrary([venue])
        let localizer = Localizer(
            source: TappedSource(source: source, lost: lost, tap: tap),
            gnss: gnss.map { TappedGNSSSource(source: $0, lost: lost, tap: tap) },
            venues: venues, settings: settings, seed: seed, traceIDs: { [traceID] in traceID })
        try await localizer.startMonitoring(geofences)
        await Self.follow(localizer, companions: companions) { give(.output($0)) }
    }

    /// Runs the session of a localizer until it ends, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - companions: run beside the session until it ends.
    ///   - emit: receives all outputs of the session except motion; instants count from the start.
    static func follow(
        _ localizer: Localizer, companions: [any SessionCompanion] = [],
        _ emit: @escaping @Sendable (SessionOutput) -> Void
    ) async {
        let start = ContinuousClock.now
        let emitContent: @Sendable (SessionOutput.Content) -> Void = { content in
            let elapsed = start.duration(to: .now).nanoseconds
            emit(SessionOutput(instant: Instant(nanoseconds: elapsed), content: content))
        }
        // The stream is created before the start, so that it misses no output.
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
                    // The stream ends after the elements emitted so far. The final state must come after them.
                    await end(localizer)
                case .state, .position, .outdoorPosition, .event, .interaction, .downloadedVenue, .error,
                    .diagnosis:
                    emitContent(output.content)
                }
            }
            await end(localizer)
            if let final { emitContent(.state(final)) }
            beside.cancelAll()
        }
    }

    private static func end(_ localizer: Localizer) async {
        await localizer.stop()
        localizer.finishStreams()
    }
}

/// Work that runs beside a session, such as sharing its positions.
protocol SessionCompanion: Sendable {
    /// Runs until the session ends: then the localizer's streams end, and the task is cancelled.
    ///
    /// Called before the session begins. A stream that is created before the first suspension misses nothing.
    func run(beside localizer: Localizer) async
}

/// Readings that a session was too slow to receive.
///
/// A class, as the sources that count and the command that reports share it.
final class LostReadings: Sendable {
    private let counts = Guarded((total: 0, reported: 0))

    /// The readings lost so far.
    var total: Int { counts.withLock { $0.total } }

    /// Counts one lost reading.
    func add() { counts.withLock { $0.total += 1 } }

    /// Writes a warning to standard error if readings were lost since the last warning.
    func report() {
        if let warning = drainWarning() { StandardError.line(warning, .warning) }
    }

    /// Returns a warning about the readings lost since the last warning; nil if none was lost.
    func drainWarning() -> String? {
        let count = counts.withLock { counts in
            defer { counts.reported = counts.total }
            return counts.total - counts.reported
        }
        guard count > 0 else { return nil }
        return "\(count.counting("reading")) lost before the session, which is slower than the source"
    }
}

/// A source that also passes each reading to a closure.
///
/// On a live source, the closure receives every reading immediately. Readings for the session wait in a buffer; if it
/// is full, the oldest one is discarded and counted.
struct TappedSource<Source: ScanSource>: SteerableScanSource, ReportingScanSource {
    /// The maximum number of readings that wait for the session: the size of the radio sources' buffers.
    static var standardLimit: Int { 65_536 }

    let source: Source
    /// Counts the readings that were discarded because the session was too slow.
    let lost: LostReadings
    var limit = Self.standardLimit
    let tap: @Sendable (SensorReading) -> Void

    var pace: ScanPace { source.pace }
    var wallClock: WallClock? { source.wallClock }
    var steering: ScanSteering? { (source as? any SteerableScanSource)?.steering }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        guard pace == .live else {
            // A recording waits for the session, so it needs no buffer.
            return source.beginReadings(reporting: report).transformed { reading in
                tap(reading)
                return [reading]
            }
        }
        return ReadingFeed.readings(capacity: limit, onLoss: { [lost] _ in lost.add() }) { feed in
            for try await reading in source.beginReadings(reporting: report) {
                tap(reading)
                feed.yield(reading)
            }
        }
    }
}

/// A satellite receiver that also passes each position to a closure; its buffer is bounded like that of
/// ``TappedSource``.
struct TappedGNSSSource: GNSSSource {
    /// The maximum number of positions that wait for the session: several minutes of a receiver's output.
    private static let limit = 256

    let source: any GNSSSource
    /// Counts the positions that were discarded because the session was too slow.
    let lost: LostReadings
    let tap: @Sendable (SensorReading) -> Void

    func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        .produced(bufferingPolicy: .bufferingNewest(Self.limit)) { continuation in
            for try await fix in source.fixes() {
                tap(.gnss(fix))
                if case .dropped = continuation.yield(fix) { lost.add() }
            }
        }
    }
}
