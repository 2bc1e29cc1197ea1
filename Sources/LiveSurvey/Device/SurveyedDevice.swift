import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The session that locates this device, as the system of a survey, with the venue of the session.
///
/// The session's source passes each reading to ``receive(_:)``. The session reads its venue from this source, so that it uses
/// the latest edition also after it has left the venue and entered it again.
package final class SurveyedDevice: SurveyedSystem, VenueSource {
    /// The time of surveys: the wall clock at the start, and then a clock that can't be set.
    private struct Time: Sendable {
        let start: Instant
        let clock: SessionClock

        var now: Instant { start.advanced(by: clock.elapsed()) }
    }

    /// What the readings of the source change.
    private struct Hearing: Sendable {
        var decoder = ReadingDecoder()
        var delay = DeliveryDelay()
        /// Whether a beacon of the venue was heard.
        var hasHeard = false
        /// Whether a walk runs.
        var isReported = false
        /// The number of readings that the desk doesn't have yet.
        var waiting = 0
        /// The number of readings that were lost, as they arrived too fast.
        var lost = 0
    }

    /// A difference of clocks of more than this is another timeline of the source.
    private static let longestDelay = Duration.seconds(5)
    /// The number of readings that wait for the desk: some seconds in a hall full of beacons.
    private static let mostWaiting = 16_384

    package let venue: Venue
    private let settings: SettingsStack
    private let seed: UInt64
    private let time: Time
    private let addresses: KnownAddresses
    private let beacons: Set<BeaconIdentity>
    private let hearing = Guarded(Hearing())
    private let edition: Guarded<Venue>
    private let session = Guarded<WeakLocalizer>(WeakLocalizer())
    private let readings: AsyncStream<SurveyReading>
    private let feed: AsyncStream<SurveyReading>.Continuation

    private struct WeakLocalizer: Sendable {
        weak var localizer: Localizer?
    }

    /// Creates the system of a session.
    ///
    /// - Parameters:
    ///   - venue: the venue of the session.
    ///   - settings: the settings with which positions on recorded walks are compared until the session begins.
    ///   - seed: the seed of the session.
    ///   - start: the wall clock's time, counted from the Unix epoch.
    ///   - clock: a clock that can't be set.
    package init(
        venue: Venue, settings: SettingsStack, seed: UInt64 = 0, start: Instant,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        (self.venue, self.settings, self.seed) = (venue, settings, seed)
        time = Time(start: start, clock: SessionClock(clock))
        addresses = KnownAddresses(of: venue)
        beacons = Set(venue.beacons.map(\.identity))
        edition = Guarded(venue)
        (readings, feed) = AsyncStream.makeStream(
            of: SurveyReading.self, bufferingPolicy: .bufferingOldest(Self.mostWaiting))
    }

    /// The time, on the clock of the walks.
    package var now: Instant { time.now }

    /// Uses the session for editions of the venue. Its end ends this.
    package func begin(_ localizer: Localizer) { session.withLock { $0.localizer = localizer } }

    /// Handles a reading of the session's source.
    package func receive(_ reading: SensorReading) {
        hearing.withLock { hearing in
            let sighting: Sighting?
            switch hearing.decoder.decode(reading).content {
            case .sighting(let decoded): sighting = addresses.resolve(decoded)
            case .advertisement(let advertisement): sighting = addresses.sighting(of: advertisement)
            case .rejected, .other: sighting = nil
            }
            guard var sighting, beacons.contains(sighting.beacon) else { return }
            hearing.hasHeard = true
            let elapsed = time.clock.elapsed()
            var delay = hearing.delay.observe(sighting.instant, at: elapsed)
            if delay > Self.longestDelay {
                hearing.delay = DeliveryDelay()
                delay = hearing.delay.observe(sighting.instant, at: elapsed)
            }
            guard hearing.isReported else { return }
            sighting.instant = time.start.advanced(by: elapsed - delay)
            switch feed.yield(SurveyReading(of: .device, sighting)) {
            case .enqueued: hearing.waiting += 1
            case .dropped: hearing.lost += 1
            default: break
            }
        }
    }

    /// Passes readings to a desk, which writes its walks, until the task is cancelled.
    ///
    /// - Parameter report: receives what went wrong, in words for the log.
    package func run(_ desk: SurveyDesk, _ report: @escaping @Sendable (String) -> Void) async {
        await withTaskGroup { group in
            group.addTask { await self.pass(to: desk) }
            group.addTask { await desk.run(report) }
        }
        let lost = hearing.withLock { $0.lost }
        if lost > 0 { report("\(lost) readings are missing in walks, as they arrived too fast") }
    }

    /// Passes readings to a desk until the task is cancelled.
    package func pass(to desk: SurveyDesk) async {
        for await reading in readings {
            await desk.add(CollectionOfOne(reading))
            hearing.withLock { $0.waiting -= 1 }
        }
    }

    /// The number of readings of walks that the desk doesn't have yet.
    package var waitingCount: Int { hearing.withLock { $0.waiting } }

    // MARK: System

    package var hasTags: Bool { false }

    package func carrier(named tag: String?) -> SurveyCarrier? { tag == nil ? .device : nil }

    package func hears(_ carrier: SurveyCarrier) async -> Bool { hearing.withLock { $0.hasHeard } }

    package func report(readingsOf carriers: Set<SurveyCarrier>) async {
        hearing.withLock { $0.isReported = carriers.contains(.device) }
    }

    package func locating() async -> @Sendable (Venue) -> Locating {
        // A service may have other settings by now.
        let settings = await session.withLock { $0.localizer }?.settings ?? settings
        return { [seed] venue in
            let signal = settings.resolved(in: venue).localization.positioning.signal
            let field = SignalField(venue: venue, model: signal)
            return { walk in
                var replay = SessionReplay(venues: [venue], settings: settings, seed: seed, fields: [venue.id: field])
                var outputs = replay.start()
                for sighting in walk.sightings { outputs += replay.handle(.sighting(sighting)) }
                outputs += replay.finish(at: walk.end)
                return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
            }
        }
    }

    package func use(
        _ venue: Venue, preparedAt priority: BackgroundThread.Priority
    ) async throws(SurveyedSystemError) {
        edition.withLock { $0 = venue }
        guard let localizer = session.withLock({ $0.localizer }) else { return }
        await localizer.renew(venue)
        // A session that is in no venue uses the edition when it enters this one.
        guard let used = await localizer.state.venue, used.id == venue.id, used.version != venue.version else { return }
        throw SurveyedSystemError(
            "The packet was written, but the session still uses edition \(used.version). Its log says why.")
    }

    // MARK: Venues of the session

    package func catalogue() -> [VenueSummary] { [VenueSummary(of: edition.withLock(\.self))] }

    package func packet(
        for id: VenueID, progress: @escaping @Sendable (Double) -> Void
    ) throws(LocalizationError) -> Venue {
        try VenueLibrary([edition.withLock(\.self)]).packet(for: id, progress: progress)
    }
}
