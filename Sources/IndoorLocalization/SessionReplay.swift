/// A whole session on readings that are there already, without tasks or a clock: as fast as the machine can.
///
///     var replay = SessionReplay(venues: [office])
///     var outputs = replay.start()
///     for reading in readings { outputs += replay.handle(reading) }
///     outputs += replay.finish()
///
/// The same readings and seed give the same outputs, and a `Localizer` on the same recording gives them too.
public struct SessionReplay: Sendable {
    /// Something that a session tells, and when.
    public struct Output: Hashable, Sendable {
        /// What a session tells.
        public enum Content: Hashable, Sendable {
            /// The session has a new state.
            case state(LocalizationState)
            /// The device is here.
            case position(Position)
            /// The device is here, in no venue.
            case outdoorPosition(OutdoorPosition)
            /// The device moves like this; told only by a replay that was asked for it.
            indirect case motion(MotionEstimate)
            /// A room or a fence was entered or left.
            case event(LocalizationEvent)
            /// The device came near to something that has an interaction, or went away from it.
            case interaction(InteractionEvent)
            /// The data of a venue that was found by its coordinate are there.
            case downloadedVenue(Venue)
            /// Something failed; the state tells whether the session goes on.
            case error(LocalizationError)
        }

        /// When it was told.
        public var instant: Instant
        /// What was told.
        public var content: Content

        /// Creates an output.
        public init(instant: Instant, content: Content) {
            self.instant = instant
            self.content = content
        }
    }

    private var driver: SessionDriver<LocalizationMachine<PositioningEngine>>
    private let venues: VenueLibrary
    private var now: Instant?
    /// How the readings' instants relate to Unix time, which gives events their ``LocalizationEvent/unixTime``; nil if unknown.
    public var wallClock: WallClock?

    /// Creates a session in which these venues are known.
    ///
    /// - Parameters:
    ///   - venues: the known venues.
    ///   - settings: of the session.
    ///   - seed: of all that is random; equal seeds give equal outputs.
    ///   - tellsMotion: whether the outputs tell of motion, too.
    public init(
        venues: [Venue], settings: LocalizationSettings = LocalizationSettings(), seed: UInt64 = 0,
        tellsMotion: Bool = false
    ) {
        self.init(
            venues: venues, settings: SettingsStack(localization: settings), seed: seed, tellsMotion: tellsMotion)
    }

    /// Creates a session with settings of several sources, of which each venue is one.
    public init(venues: [Venue], settings: SettingsStack, seed: UInt64 = 0, tellsMotion: Bool = false) {
        self.init(venues: venues, settings: settings, seed: seed, fields: [:], tellsMotion: tellsMotion)
    }

    /// Creates a session on tables that were made before, to share them between replays.
    package init(
        venues: [Venue], settings: SettingsStack, seed: UInt64, fields: [VenueID: SignalField],
        tellsMotion: Bool = false
    ) {
        self.venues = VenueLibrary(venues)
        driver = SessionDriver(
            LocalizationMachine(settings: settings, seed: seed, tellsMotion: tellsMotion) { venue, positioning in
                PositioningEngine(
                    venue: venue, field: fields[venue.id] ?? SignalField(venue: venue, model: positioning.signal),
                    settings: positioning, seed: seed)
            })
    }

    /// What the session is doing.
    public var state: LocalizationState { driver.machine.state }

    /// What has told which venue this is; nil while none is known, and where it was given from outside.
    public var detection: VenueDetection? { driver.machine.detection }

    /// What is to be remembered now, for the next session.
    public var memory: SessionMemory { driver.machine.memory(at: now ?? .zero) }

    /// Where the device is at an instant, as ``Localizer/position(at:)`` tells it.
    public func position(at instant: Instant) -> Position? { driver.machine.position(at: instant) }

    /// Takes over what an earlier session remembered; before the start only.
    ///
    /// - Parameters:
    ///   - memory: of an earlier session.
    ///   - duration: how long ago it was taken.
    public mutating func remember(_ memory: SessionMemory, after duration: Duration = .zero) {
        _ = driver.handle(.remember(memory.aged(by: duration)), at: now ?? .zero)
    }

    /// Watches geofences, beside the fences of the venues; at any time, also before the start.
    ///
    /// Each takes the place of one with the same identifier.
    /// - Throws: what is wrong with the first one that cannot be watched; then nothing is changed.
    public mutating func startMonitoring(_ fences: [Geofence]) throws(GeofenceError) {
        if let problem = fences.lazy.compactMap(\.problem).first { throw problem }
        _ = driver.handle(.monitor(.start(fences)), at: now ?? .zero)
    }

    /// Begins the session at `instant`.
    public mutating func start(at instant: Instant = .zero) -> [Output] {
        now = instant
        return perform(driver.handle(.start, at: instant))
    }

    /// Takes in a reading, after all that was due before it.
    public mutating func handle(_ reading: SensorReading) -> [Output] {
        var outputs: [Output] = []
        while let steps = driver.wake(before: reading.instant) { outputs += perform(steps) }
        now = max(now ?? reading.instant, reading.instant)
        return outputs + perform(driver.handle(.reading(reading), at: reading.instant))
    }

    /// Ends the session where the readings end: a last position, then idle.
    ///
    /// - Parameter instant: the recording's last instant, if that is later than its last reading.
    public mutating func finish(at instant: Instant? = nil) -> [Output] {
        let end = max(now ?? .zero, instant ?? .zero)
        var outputs: [Output] = []
        while let steps = driver.wake(before: end) { outputs += perform(steps) }
        // Whatever is due at the very end may find the venue or the floor; the last position comes after it.
        var rounds = 0
        while rounds < 3, let steps = driver.wake(upTo: end) {
            outputs += perform(steps)
            rounds += 1
        }
        return outputs + perform(driver.handle(.sourceEnded, at: end))
    }

    private mutating func perform(_ steps: [SessionDriver<LocalizationMachine<PositioningEngine>>.Step]) -> [Output] {
        var outputs: [Output] = []
        for step in steps {
            let at = step.instant
            switch step.directive {
            case .startScanning, .startReceiving, .stopScanning, .cancelFetch, .schedule:
                continue  // no radio is there to rest
            case .fetchCatalogue:
                outputs += perform(driver.handle(.catalogue(venues.catalogue()), at: at))
            case .prepareBelief(let preparation):
                let belief = preparation.run(driver.machine.makeBelief)
                outputs += perform(driver.handle(.prepared(preparation, belief), at: at))
            case .fetchPacket(let id):
                guard let venue = venues.venues.first(where: { $0.id == id }) else { continue }
                outputs += perform(driver.handle(.progress(id, 1), at: at))
                outputs += perform(driver.handle(.packet(id, venue), at: at))
            case .publish(let state): outputs.append(Output(instant: at, content: .state(state)))
            case .emit(let position): outputs.append(Output(instant: at, content: .position(position)))
            case .emitOutdoor(let position): outputs.append(Output(instant: at, content: .outdoorPosition(position)))
            case .emitMotion(.motion(let estimate)): outputs.append(Output(instant: at, content: .motion(estimate)))
            case .emitMotion(.heading), .emitMotion(.attitude): continue  // estimates hold both
            case .emitEvent(let event):
                outputs.append(Output(instant: at, content: .event(event.timed(by: wallClock))))
            case .emitInteraction(let event):
                outputs.append(Output(instant: at, content: .interaction(event.timed(by: wallClock))))
            case .announceVenue(let venue): outputs.append(Output(instant: at, content: .downloadedVenue(venue)))
            case .report(let error): outputs.append(Output(instant: at, content: .error(error)))
            }
        }
        return outputs
    }
}
