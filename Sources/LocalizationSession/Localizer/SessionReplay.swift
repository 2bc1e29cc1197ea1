import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// A whole session on readings that are there already, without tasks or a clock: as fast as the machine can.
///
///     var replay = SessionReplay(venues: [office])
///     var outputs = replay.start()
///     for reading in readings { outputs += replay.handle(reading) }
///     outputs += replay.finish()
///
/// The same readings and seed give the same outputs, and a `Localizer` on the same recording gives them too.
public struct SessionReplay: Sendable {
    /// An output of the session.
    public typealias Output = SessionOutput

    private var driver: SessionDriver<LocalizationMachine<PositioningEngine>>
    private var decoder = ReadingDecoder()
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
            LocalizationMachine(settings: settings, seed: seed, pace: .recorded, tellsMotion: tellsMotion) {
                venue, positioning in
                PositioningEngine(
                    venue: venue, field: fields[venue.id] ?? SignalField(venue: venue, model: positioning.signal),
                    settings: positioning, seed: seed)
            })
    }

    /// What the session is doing.
    public var state: LocalizationState { driver.machine.state }

    /// What has told which venue this is; nil while none is known, and where it was given from outside.
    public var detection: VenueDetection? { driver.machine.detection }

    /// The session memory now, for the next session.
    public var memory: SessionMemory { driver.machine.memory(at: now ?? .zero) }

    /// Where the device is at an instant, as ``Localizer/position(at:)`` tells it.
    public func position(at instant: Instant) -> Position? { driver.machine.position(at: instant) }

    /// Restores the memory of an earlier session; before the start only.
    ///
    /// - Parameters:
    ///   - memory: of an earlier session.
    ///   - duration: how long ago it was taken.
    public mutating func restore(_ memory: SessionMemory, after duration: Duration = .zero) {
        _ = driver.handle(.restore(memory.aged(by: duration)), at: now ?? .zero)
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
        return outputs + perform(driver.handle(.reading(decoder.decode(reading)), at: reading.instant))
    }

    /// Ends the session where the readings end: a last position, then idle.
    ///
    /// - Parameter instant: the recording's last instant, if that is later than its last reading.
    public mutating func finish(at instant: Instant? = nil) -> [Output] {
        let end = max(now ?? .zero, instant ?? .zero)
        var outputs: [Output] = []
        while let steps = driver.wake(before: end) { outputs += perform(steps) }
        var ending = SessionEnding(at: end)
        while let steps = driver.wake(for: &ending) { outputs += perform(steps) }
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
            }  // There is no radio: the other work is nothing.
        }
        return outputs
    }
}
