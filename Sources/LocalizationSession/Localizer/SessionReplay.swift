import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// A session on recorded readings, without tasks or a clock, that runs as fast as the machine can.
///
///     var replay = SessionReplay(venues: [office])
///     var outputs = replay.start()
///     for reading in readings { outputs += replay.handle(reading) }
///     outputs += replay.finish()
///
/// The same readings and seed give the same outputs. A ``Localizer`` on the same recording gives these outputs, too.
public struct SessionReplay: Sendable {
    /// An output of the session.
    public typealias Output = SessionOutput

    private var driver: SessionDriver<LocalizationMachine<PositioningEngine>>
    private var decoder = ReadingDecoder()
    private let venues: VenueLibrary
    private var now: Instant?
    /// The relation of the readings' instants to Unix time, for ``LocalizationEvent/unixTime``; nil if unknown.
    package var wallClock: WallClock?

    /// Creates a session with a list of known venues.
    ///
    /// - Parameters:
    ///   - venues: the known venues.
    ///   - settings: the settings of the session.
    ///   - seed: the seed of the random numbers; the same seed gives the same outputs.
    ///   - tellsMotion: whether the outputs include motion.
    public init(
        venues: [Venue], settings: LocalizationSettings = LocalizationSettings(), seed: UInt64 = 0,
        tellsMotion: Bool = false
    ) {
        self.init(
            venues: venues, settings: SettingsStack(localization: settings), seed: seed, tellsMotion: tellsMotion)
    }

    /// Creates a session with settings from several sources; each venue is one of them.
    public init(venues: [Venue], settings: SettingsStack, seed: UInt64 = 0, tellsMotion: Bool = false) {
        self.init(venues: venues, settings: settings, seed: seed, fields: [:], tellsMotion: tellsMotion)
    }

    /// Creates a session on existing tables, to share them between replays.
    package init(
        venues: [Venue], settings: SettingsStack, seed: UInt64, fields: [VenueID: SignalField],
        tellsMotion: Bool = false
    ) {
        self.venues = VenueLibrary(venues)
        driver = SessionDriver(
            LocalizationMachine(
                settings: settings, seed: seed, pace: .recorded, reportsMotion: tellsMotion, reportsDiagnosis: true
            ) { venue, positioning in
                PositioningEngine(
                    venue: venue, field: fields[venue.id] ?? SignalField(venue: venue, model: positioning.signal),
                    settings: positioning, seed: seed)
            })
    }

    /// The current state of the session.
    public var state: LocalizationState { driver.machine.shownState }

    /// The evidence that identified the venue; nil while no venue is known, and if the caller has set the venue.
    ///
    /// In the state `searchVenue`, `.satellites` means that satellites identified a venue that the device hasn't
    /// entered yet.
    package var detection: VenueDetection? { driver.machine.detection }

    /// The first beacons that sent an advertisement without a valid measured power.
    package var uncalibratedBeacons: [BeaconIdentity] { decoder.uncalibratedBeacons }

    /// The reason for the presence or absence of positions at the latest reading.
    public var diagnosis: SessionDiagnosis { driver.machine.diagnosis(at: now ?? .zero) }
    /// The diagnosis of a session without a venue from all its readings, as of the end of the recording; nil before
    /// ``finish(at:)``.
    package private(set) var conclusion: SessionDiagnosis?

    /// The current session memory, for the next session.
    package var memory: SessionMemory { driver.machine.memory(at: now ?? .zero) }

    /// Returns a snapshot of the session at its current instant, as ``Localizer/snapshot(particles:)`` does.
    ///
    /// - Parameter particles: the greatest number of particles in the snapshot.
    public func snapshot(particles: Int = 1000) -> SessionSnapshot {
        driver.machine.snapshot(at: now ?? .zero, particles: particles)
    }

    /// Returns the position of the device at an instant, as ``Localizer/position(at:)`` does.
    package func position(at instant: Instant) -> Position? { driver.machine.position(at: instant) }

    /// Restores the memory of an earlier session. Has an effect only before the start.
    ///
    /// - Parameters:
    ///   - memory: the memory of an earlier session.
    ///   - duration: the age of the memory.
    package mutating func restore(_ memory: SessionMemory, after duration: Duration = .zero) {
        _ = driver.handle(.restore(memory.aged(by: duration)), at: now ?? .zero)
    }

    /// Starts monitoring geofences, in addition to the fences of the venues; at any time, also before the start.
    ///
    /// Each geofence replaces one with the same identifier.
    /// - Throws: `GeofenceError` for the first invalid geofence. The monitored geofences then stay as they are.
    public mutating func startMonitoring(_ fences: [Geofence]) throws(GeofenceError) {
        if let problem = fences.lazy.compactMap(\.problem).first { throw problem }
        _ = driver.handle(.monitor(.start(fences)), at: now ?? .zero)
    }

    /// Starts the session at an instant.
    public mutating func start(at instant: Instant = .zero) -> [Output] {
        now = instant
        return perform(driver.handle(.start, at: instant))
    }

    /// Does the work that is due before an instant, at which no reading arrives.
    ///
    /// Call this before ``snapshot(particles:)``, for the state of the session at an instant between two readings. If
    /// the next reading isn't earlier than the instant, the outputs of the session stay the same.
    public mutating func advance(to instant: Instant) -> [Output] {
        var outputs: [Output] = []
        while let steps = driver.wake(before: instant) { outputs += perform(steps) }
        now = max(now ?? instant, instant)
        return outputs
    }

    /// Handles a reading, after all work that was due before it.
    public mutating func handle(_ reading: SensorReading) -> [Output] {
        var outputs: [Output] = []
        while let steps = driver.wake(before: reading.instant) { outputs += perform(steps) }
        now = max(now ?? reading.instant, reading.instant)
        return outputs + perform(driver.handle(.reading(decoder.decode(reading)), at: reading.instant))
    }

    /// Ends the session at the end of the readings. Emits a last position, then the state `idle`.
    ///
    /// - Parameter instant: the end of the recording, if it is later than the last reading.
    public mutating func finish(at instant: Instant? = nil) -> [Output] {
        let end = max(now ?? .zero, instant ?? .zero)
        var outputs: [Output] = []
        while let steps = driver.wake(before: end) { outputs += perform(steps) }
        var ending = SessionEnding(at: end)
        while let steps = driver.wake(for: &ending) { outputs += perform(steps) }
        conclusion = driver.machine.diagnosis(at: end, ofSearch: true)
        return outputs + perform(driver.handle(.sourceEnded, at: end))
    }

    private mutating func perform(_ steps: [SessionDriver<LocalizationMachine<PositioningEngine>>.Step]) -> [Output] {
        var outputs: [Output] = []
        for step in steps {
            if case .fetchCatalogue = step.directive {
                outputs += perform(driver.handle(.catalogue(venues.catalogue()), at: step.instant))
            } else if case .fetchPacket(let id) = step.directive {
                guard let venue = venues.venues.first(where: { $0.id == id }) else { continue }
                outputs += perform(driver.handle(.progress(id, 1), at: step.instant))
                outputs += perform(driver.handle(.packet(id, venue), at: step.instant))
            } else if let content = Output.Content(step.directive) {
                outputs.append(Output(instant: step.instant, content: content.timed(by: wallClock)))
            }  // A replay has no radio, so the other directives need no work.
        }
        return outputs
    }
}

/// An output of a session with its instant, from ``Localizer/outputs`` or a ``SessionReplay``.
public struct SessionOutput: Hashable, Sendable {
    /// The kinds of outputs.
    public enum Content: Hashable, Sendable {
        /// The session changed its state.
        case state(LocalizationState)
        /// A position of the device in a venue.
        case position(Position)
        /// A position of the device while no floor is known.
        case outdoorPosition(OutdoorPosition)
        /// An estimate of the device's motion; a replay emits it on request only.
        indirect case motion(MotionEstimate)
        /// The device entered or left a room or a fence.
        case event(LocalizationEvent)
        /// The device approached or left a beacon or a place that has an interaction.
        case interaction(InteractionEvent)
        /// The session found a venue by its coordinate, or the venue source stored a newer version of a venue.
        case downloadedVenue(Venue)
        /// An error occurred; the state shows whether the session continues.
        case error(LocalizationError)
        /// A reason for the absence of positions has lasted 5 s, has changed, or has ended; see ``SessionDiagnosis``.
        indirect case diagnosis(SessionDiagnosis)
    }

    /// The instant at which the session emitted the output.
    public var instant: Instant
    /// The content of the output.
    public var content: Content

    /// Creates an output.
    package init(instant: Instant, content: Content) {
        self.instant = instant
        self.content = content
    }
}

extension SessionOutput.Content {
    /// Creates the output of a directive. Returns nil for directives that the shell carries out, and for headings and
    /// attitudes, which motion estimates contain.
    init?<Belief>(_ directive: LocalizationMachine<Belief>.Directive) {
        switch directive {
        case .publish(let state): self = .state(state)
        case .emit(let position): self = .position(position)
        case .emitOutdoor(let position): self = .outdoorPosition(position)
        case .emitMotion(.motion(let estimate)): self = .motion(estimate)
        case .emitEvent(let event): self = .event(event)
        case .emitInteraction(let event): self = .interaction(event)
        case .announceVenue(let venue): self = .downloadedVenue(venue)
        case .report(let error): self = .error(error)
        case .diagnose(let diagnosis): self = .diagnosis(diagnosis)
        case .emitMotion(.heading), .emitMotion(.attitude), .emitLevels: return nil
        case .startScanning, .startReceiving, .stopScanning, .fetchCatalogue, .fetchPacket, .prepareBelief,
            .cancelFetch,
            .schedule:
            return nil
        }
    }

    /// Returns the output with its wall-clock time, if it is of a kind that has one.
    ///
    /// - Parameter source: returns the source's instant for an instant of the session.
    func timed(by clock: @autoclosure () -> WallClock?, at source: (Instant) -> Instant = { $0 }) -> Self {
        switch self {
        case .event(let event): .event(event.timed(by: clock(), at: source(event.instant)))
        case .interaction(let event): .interaction(event.timed(by: clock(), at: source(event.instant)))
        case .state, .position, .outdoorPosition, .motion, .downloadedVenue, .error, .diagnosis: self
        }
    }
}
