import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import LocalizationSession

/// The machine of a positioner on the office's ground floor, and what happens to it.
struct FloorPlanLocalizerMachineStage {
    typealias Machine = FloorPlanLocalizerMachine<FixBelief>

    var machine: Machine
    let log: WatchedBelief

    /// The office, and its ground floor.
    static let venue = SessionStage.office
    static let plan = FloorPlan(venueID: 1, map: venue.maps[0])

    init(
        plan: FloorPlan = plan, _ settings: LocalizationSettings = LocalizationSettings(), pace: ScanPace = .live
    ) {
        let log = WatchedBelief()
        self.log = log
        machine = Machine(plan: plan, settings: settings, seed: 1, pace: pace) { _, _ in FixBelief(log: log) }
    }

    /// Hands over an event at a second; returns what is to be done.
    mutating func handle(_ event: Machine.Event, at seconds: Double) -> [Machine.Directive] {
        machine.handle(event, at: Instant(seconds: seconds))
    }

    /// Answers all requests; returns all directives, these included.
    mutating func answer(_ event: Machine.Event, at seconds: Double) -> [Machine.Directive] {
        var all: [Machine.Directive] = []
        var events = [event]
        while !events.isEmpty {
            for directive in handle(events.removeFirst(), at: seconds) {
                all.append(directive)
                switch directive {
                case .fetchCatalogue: events.append(.catalogue(SessionStage.summaries))
                case .fetchPacket: events.append(.packet(Self.venue))
                default: break
                }
            }
        }
        return all
    }

    /// A beacon of the office is heard.
    mutating func hear(at seconds: Double, delay: Double = 0) -> [Machine.Directive] {
        handle(.reading(SessionStage.heard(1, at: seconds - delay), delay: .seconds(delay)), at: seconds)
    }

    /// Delivers all ticks that are due until then, each at its own instant.
    mutating func pass(to seconds: Double) -> [Machine.Directive] {
        var directives: [Machine.Directive] = []
        while let wake = machine.nextWake, wake <= Instant(seconds: seconds) {
            directives += machine.handle(.tick, at: wake)
        }
        return directives
    }

    /// Started at second 0, with a place given, and a beacon heard at second 10: positions are told from then on.
    mutating func run(_ parameters: FloorPlanLocalizerParameters = FloorPlanLocalizerParameters()) {
        _ = answer(.start(parameters), at: 10)
        _ = handle(.fix(Self.fix()), at: 10)
        _ = hear(at: 10)
        _ = pass(to: 10)
    }

    static func fix(_ x: Double = 20, _ y: Double = 20) -> Fix {
        Fix(instant: .zero, mapID: 10, point: MapPoint(x: x, y: y), radius: 1)
    }

    static let network = SessionStage.network
    static let credential = SessionStage.credential
}

extension Array where Element == FloorPlanLocalizerMachineStage.Machine.Directive {
    /// The names of the states that are told.
    var states: [String] {
        compactMap { if case .publish(let state) = $0 { state.name } else { nil } }
    }

    var positions: [Position] {
        compactMap { if case .emit(let position) = $0 { position } else { nil } }
    }
}

/// A positioner in the hall with all around it in the hands of a test.
struct FloorPlanLocalizerStage {
    let clock = ManualClock(now: Instant(seconds: 777))
    let source: ScriptedSource
    let venues: ScriptedVenueSource
    let positioner: FloorPlanLocalizer

    /// The instant of the first reading: far from the clock's, as sources count from where they like.
    static let beginning = 5000.0

    init(
        _ source: ScriptedSource = ScriptedSource(), sharing radio: (any ScanSource)? = nil, map: Int = 0,
        venue: Venue = SessionStage.office
    ) {
        self.source = source
        venues = ScriptedVenueSource([venue])
        let plan = FloorPlan(venueID: venue.id, map: venue.maps[map])
        let radio: any ScanSource = radio ?? source
        positioner = Self.positioner(plan, radio, venues, clock)
    }

    private static func positioner(
        _ plan: FloorPlan, _ source: some ScanSource, _ venues: ScriptedVenueSource, _ clock: ManualClock
    ) -> FloorPlanLocalizer {
        FloorPlanLocalizer(
            on: plan, source: source, venues: venues, settings: LocalizerStage.settings, clock: clock, seed: 1)
    }

    /// Returns once it has that state, without any time passing.
    func reach(_ name: String) async throws {
        _ = try await Bounded.elements(of: positioner.states, until: name) { $0.name == name }
    }

    /// Starts, and lets beacons be heard for 2.5 s: positions come, and all readings have arrived.
    func run(from beginning: Double = beginning) async throws {
        await positioner.start()
        try await reach("waitingForFix")
        let positions = positioner.positions
        let walk = LocalizerStage.walk(from: beginning, for: 2.5)
        for reading in walk { source.send(reading) }
        _ = try await Bounded.first(1, of: positions)
        try await reach("positioning")
        try await waitForReadings(upTo: try XCTUnwrap(walk.last).instant)
    }

    /// Returns once the session has handled a reading of that instant or a later one.
    func waitForReadings(upTo instant: Instant) async throws {
        try await Bounded.poll(for: "the reading at \(instant.seconds) s") { [positioner] in
            guard let latest = await positioner.latestReading else { return false }
            return latest >= instant
        }
    }
}

extension FloorPlanLocalizer {
    /// The instant of the latest reading that the session has handled.
    fileprivate var latestReading: Instant? { runtime.waits.latest }
}
