import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
    func passTime(until name: String) async throws -> Double {
        let begin = clock.now
        let states = localizer.states
        return try await Bounded.wait(for: "\(name) as time passes") {
            let alarms = Task { [clock] in
                while true { clock.advance(to: try await clock.waitForSleeper()) }
            }
            defer { alarms.cancel() }
            for await state in states where state.name == name { return begin.duration(to: clock.now).seconds }
            throw Bounded.Expired(awaited: name)
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
