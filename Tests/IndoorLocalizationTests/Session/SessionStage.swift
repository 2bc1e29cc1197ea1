import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

typealias Machine = LocalizationMachine<FixBelief>

/// A belief that takes every fix at its word, so that a test says where the device is.
struct FixBelief: PositioningBelief {
    private var fix: Fix?
    private(set) var observed: [SensorReading] = []
    private let log: WatchedBelief?
    private var collectsLevels = false
    private var hasLevels = false

    init(log: WatchedBelief? = nil) { self.log = log }

    mutating func observe(_ reading: SensorReading) {
        log?.note(reading)
        hasLevels = collectsLevels
        if case .fix(let fix) = reading { self.fix = fix }
    }

    mutating func advance(to now: Instant) { log?.note(now) }

    mutating func collectLevels() { collectsLevels = true }

    mutating func drainLevels() -> BeaconLevels? {
        defer { hasLevels = false }
        return hasLevels ? BeaconLevels() : nil
    }

    var mapProbabilities: [MapID: Double] { fix.map { [$0.mapID: 1] } ?? [:] }

    func estimate(on map: MapID) -> PositioningEngine.Estimate? {
        guard let fix, fix.mapID == map else { return nil }
        return PositioningEngine.Estimate(at: fix.point, radius: fix.radius)
    }
}

/// Two venues far from each other, and what is heard in them.
enum SessionStage {
    /// Two floors (maps 10 and 11) with a room (1), a fence (2) and three beacons; a coordinate.
    static let office = Venue(
        id: 1, name: "office", coordinate: Coordinate(latitude: 52, longitude: 13), radius: 50,
        maps: [
            VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30, widthPixels: 400, heightPixels: 300),
            VenueMap(id: 11, name: "first", level: 1, width: 40, height: 30),
        ],
        beacons: (1...3).map { VenueBeacon(identity: beacon(1, $0), mapID: 10, point: MapPoint(x: 5, y: 5)) },
        rooms: [Room(id: 1, name: "kitchen", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 2))],
        fences: [Fence(id: 2, name: "door", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 3))])
    /// One floor (map 20) and one beacon; 1.1 km north of the office.
    static let shop = Venue(
        id: 2, name: "shop", coordinate: Coordinate(latitude: 52.01, longitude: 13), radius: 50,
        maps: [VenueMap(id: 20, name: "shop", level: 0, width: 10, height: 10)],
        beacons: [VenueBeacon(identity: beacon(2, 1), mapID: 20, point: MapPoint(x: 5, y: 5))])
    static let summaries = [office, shop].map(VenueSummary.init)

    static func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xF00D, low: 0xBEEF), major: major, minor: minor)
    }

    static func heard(_ venue: UInt16, _ minor: UInt16 = 1, at seconds: Double, rssi: Double = -60) -> SensorReading {
        .sighting(Sighting(instant: Instant(seconds: seconds), beacon: beacon(venue, minor), rssi: rssi))
    }

    static func fix(_ map: MapID, _ x: Double = 20, _ y: Double = 20, at seconds: Double) -> SensorReading {
        .fix(Fix(instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: y), radius: 1))
    }

    static func gnss(_ latitude: Double, at seconds: Double, accuracy: Double = 5) -> SensorReading {
        .gnss(
            GNSSFix(
                instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                accuracy: accuracy))
    }

    /// What is told of a satellite position outdoors.
    static func outdoors(_ latitude: Double, at seconds: Double, radius: Double = 5) -> Machine.Directive {
        .emitOutdoor(
            OutdoorPosition(
                instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                radius: radius))
    }

    static func motion(at seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: 1000))
    }

    static let network = LocalizationError(code: .network, message: "the server is away")
    static let credential = LocalizationError(code: .credential, message: "who are you?")

    static func machine(
        _ settings: LocalizationSettings = LocalizationSettings(), seed: UInt64 = 1, hasReceiver: Bool = false,
        reportsDiagnosis: Bool = false, log: WatchedBelief? = nil
    ) -> Machine {
        Machine(settings: settings, seed: seed, hasReceiver: hasReceiver, reportsDiagnosis: reportsDiagnosis) { _ in
            FixBelief(log: log)
        }
    }

    /// A machine that was led into a state; the last event was at second 10, the office's beacon was heard then.
    static func machine(
        in stage: Stage, _ settings: LocalizationSettings = LocalizationSettings(), hasReceiver: Bool = false,
        reportsDiagnosis: Bool = false, log: WatchedBelief? = nil
    ) -> Machine {
        var machine = machine(settings, hasReceiver: hasReceiver, reportsDiagnosis: reportsDiagnosis, log: log)
        for (reached, events) in Stage.way {
            if stage == .idle { break }
            for event in events { _ = machine.handle(event, at: Instant(seconds: 10)) }
            if reached == stage { break }
        }
        if stage == .error { _ = machine.handle(.sourceFailed(Self.credential), at: Instant(seconds: 10)) }
        return machine
    }

    enum Stage: String, CaseIterable {
        case idle, started, searchVenue, getPacket, findFloor, localizationRunning, error

        /// The events that lead from each state to the next.
        static let way: [(Stage, [Machine.Event])] = [
            (.started, [.start]),
            (.searchVenue, [.catalogue(summaries)]),
            (.getPacket, [.reading(heard(1, at: 10))]),
            (.findFloor, [.packet(1, office)]),
            (.localizationRunning, [.reading(fix(10, at: 10)), .tick]),
        ]
    }
}

extension Machine {
    mutating func handle(_ event: Event, at seconds: Double) -> [Directive] {
        handle(event, at: Instant(seconds: seconds))
    }

    /// Delivers all ticks that are due until then, each at its own instant.
    mutating func pass(to seconds: Double) -> [Directive] {
        var directives: [Directive] = []
        while let wake = nextWake, wake <= Instant(seconds: seconds) { directives += handle(.tick, at: wake) }
        return directives
    }
}

/// Notes what beliefs are told, for tests that ask.
final class WatchedBelief: Sendable {
    private let notes = Guarded((readings: [SensorReading](), advances: [Instant]()))

    var readings: [SensorReading] { notes.withLock { $0.readings } }
    var advances: [Instant] { notes.withLock { $0.advances } }

    func note(_ reading: SensorReading) { notes.withLock { $0.readings.append(reading) } }
    func note(_ advance: Instant) { notes.withLock { $0.advances.append(advance) } }
}

/// A localizer with everything around it in the hands of a test.
struct LocalizerStage {
    let clock = ManualClock(now: Instant(seconds: 777))
    let source: ScriptedSource
    let venues: ScriptedVenueSource
    let localizer: Localizer

    /// The instant of the first reading: far from the clock's, as sources count from where they like.
    static let beginning = 5000.0

    init(
        _ source: ScriptedSource = ScriptedSource(), venues: [Venue] = [SessionStage.office, SessionStage.shop],
        _ settings: LocalizationSettings = LocalizerStage.settings, gnss: ScriptedSource? = nil
    ) {
        self.source = source
        self.venues = ScriptedVenueSource(venues)
        localizer = Localizer(
            source: source, gnss: gnss, venues: self.venues, settings: settings, clock: clock, seed: 1)
    }

    /// Few particles: how well the engine finds the place is not asked here.
    static var settings: LocalizationSettings {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        return settings
    }

    /// Three beacons of a venue, ten times a second.
    static func walk(from begin: Double, for seconds: Double, venue: UInt16 = 1) -> [SensorReading] {
        (0..<Int(seconds * 10)).map { tick in
            let minor = venue == 1 ? UInt16(tick % 3 + 1) : 1
            return SessionStage.heard(venue, minor, at: begin + Double(tick) / 10)
        }
    }

    /// Starts, and lets beacons of the office be heard until positions come.
    func run() async throws {
        let states = localizer.states
        await localizer.start()
        try await source.waitUntilScanning()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        let positions = localizer.positions
        for reading in Self.walk(from: Self.beginning, for: 5) { source.send(reading) }
        // Ticks come every half second, so one lies in the half second before the last reading, and is done together
        // with it: then all readings have arrived.
        source.send(SessionStage.heard(1, at: Self.beginning + 5.55))
        _ = try await Bounded.elements(of: positions, until: "the last position") {
            $0.instant >= Instant(seconds: Self.beginning + 5.05)
        }
    }

    /// Returns once the session has that state, without any time passing.
    func reach(_ name: String) async throws {
        _ = try await Bounded.elements(of: localizer.states, until: name) { $0.name == name }
    }

    /// Lets time pass alarm by alarm until the session has that state; returns how many seconds have passed.
    ///
    /// The session handles each alarm before the next one rings, so that the clock stands at the time of the state.
    func passTime(until name: String) async throws -> Double {
        let begin = clock.now
        try await Bounded.wait(for: "\(name) as time passes") { [clock, localizer] in
            while await localizer.state.name != name {
                clock.advance(to: try await clock.waitForSleeper())
                try await Bounded.poll(for: "what is due at \(clock.now.seconds) s") { await !localizer.isTickDue }
            }
        }
        return begin.duration(to: clock.now).seconds
    }

    /// Returns once the session has handled so many sightings, and all readings before them.
    func waitForSightings(_ count: Int) async throws {
        try await Bounded.poll(for: "\(count) sightings") { [localizer] in
            await localizer.activityCounts.readings >= count
        }
    }

    /// Wakes the first alarm that is due within so many seconds.
    func ring(within seconds: Double) async throws {
        let latest = clock.now.advanced(by: .seconds(seconds))
        let due = try await Bounded.wait(for: "an alarm within \(seconds) s") {
            try await clock.waitForSleeper(dueBy: latest)
        }
        clock.advance(to: due)
    }
}

extension ScriptedSource {
    func waitUntilScanning(_ count: Int = 1) async throws {
        try await Bounded.wait(for: "scan \(count)") { try await self.waitForScans(count) }
    }
}
