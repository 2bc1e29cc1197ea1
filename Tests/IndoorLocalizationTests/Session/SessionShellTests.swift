import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import IndoorPositioning

/// What every shell does for its machine.
final class SessionShellTests: XCTestCase {
    // MARK: - Computations outside the actor

    func testReadingsAreHandledWhileAComputationRuns() async throws {
        let stage = Stage()
        await stage.shell.begin(with: .perform([.startScanning, .prepare(1)]))
        try await stage.source.waitUntilScanning()
        stage.source.send(SessionStage.motion(at: 5))
        _ = try await Bounded.elements(of: stage.events, until: "the reading") { $0 == "reading 5" }
        stage.gate.update { $0 = [1] }
        _ = try await Bounded.elements(of: stage.events, until: "the result") { $0 == "prepared 1" }
    }

    func testTheResultOfAComputationThatWasReplacedOrCancelledIsDiscarded() async throws {
        let stage = Stage()
        for (number, directives) in [(1, []), (2, []), (3, [.cancelFetch])] as [(Int, [ScriptedMachine.Directive])] {
            await stage.shell.begin(with: .perform(directives + [.prepare(number)]))
            try await Bounded.wait(for: "computation \(number)") { try await stage.begun.wait { $0.contains(number) } }
        }
        // The first two end at once, as they are cancelled.
        try await Bounded.wait(for: "their ends") { try await stage.ended.wait { $0.isSuperset(of: [1, 2]) } }
        stage.gate.update { $0 = [3] }
        let seen = try await Bounded.elements(of: stage.events, until: "the last result") { $0 == "prepared 3" }
        XCTAssertEqual(seen.filter { $0.hasPrefix("prepared") }, ["prepared 3"])
    }

    func testARecordingWaitsForTheResultOfAComputation() async throws {
        let stage = Stage(ScriptedSource(pace: .recorded))
        stage.gate.update { $0 = [1] }
        await stage.shell.begin(with: .perform([.prepare(1), .tell("after")]))
        let seen = try await Bounded.first(3, of: stage.events)
        XCTAssertEqual(seen, ["perform", "prepared 1", "after"])
    }

    // MARK: - Ends

    /// Otherwise a machine that wants tick after tick at the same instant would keep its session from ending.
    func testTheShellWakesTheMachineAtMostThreeTimesAtTheEndOfTheSource() async throws {
        let stage = Stage(ScriptedSource(pace: .recorded))
        await stage.shell.begin(with: .perform([.startScanning, .wake]))
        try await stage.source.waitUntilScanning()
        stage.source.finish()
        let seen = try await Bounded.elements(of: stage.events, until: "the end") { $0 == "ended source" }
        XCTAssertEqual(seen, ["perform", "tick", "tick", "tick", "ended source"])
    }

    func testTheShellPassesTheErrorOfAFailedSourceToTheMachineAtOnce() async throws {
        let stage = Stage(ScriptedSource(pace: .recorded))
        await stage.shell.begin(with: .perform([.startScanning, .wake]))
        try await stage.source.waitUntilScanning()
        stage.source.fail(SessionStage.network)
        let seen = try await Bounded.elements(of: stage.events, until: "the end") { $0.hasPrefix("ended") }
        XCTAssertEqual(seen, ["perform", "ended source \(SessionStage.network)"])
    }

    func testTheShellFollowsUpdatesOfTheVenueSourceDuringASession() async throws {
        let stage = Stage()
        stage.update.yield(.failure(SessionStage.network))
        await stage.shell.handle(.perform([]))
        await stage.shell.begin(with: .perform([.startScanning]))
        _ = try await Bounded.elements(of: stage.events, until: "the update") { $0 == "updated" }
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        stage.update.onTermination = { _ in end.yield() }
        await stage.shell.handle(.stop)
        _ = try await Bounded.first(1, of: ended)
    }
}

/// A shell around a machine that does what events say.
private struct Stage {
    let source: ScriptedSource
    /// The computations that may end.
    let gate: WatchedState<Set<Int>>
    /// The computations that have begun, and that have ended.
    let begun, ended: WatchedState<Set<Int>>
    let shell: ScriptedShell
    /// The names of the events that the machine has handled, and of what it told.
    let events: AsyncStream<String>
    let update: AsyncStream<VenueUpdate>.Continuation

    init(_ source: ScriptedSource = ScriptedSource()) {
        self.source = source
        (gate, begun, ended) = (WatchedState([]), WatchedState([]), WatchedState([]))
        let (updates, update) = AsyncStream.makeStream(of: VenueUpdate.self)
        self.update = update
        let told = AsyncStream.makeStream(of: String.self)
        events = told.stream
        let machine = ScriptedMachine(gate: gate, begun: begun, ended: ended)
        shell = ScriptedShell(machine, source, UpdatedVenues(updates: updates), told.continuation)
    }
}

private struct UpdatedVenues: VenueSource {
    let updates: AsyncStream<VenueUpdate>

    func catalogue() async throws -> [VenueSummary] { [] }
    func packet(for id: VenueID, progress: @escaping @Sendable (Double) -> Void) async throws -> Venue {
        SessionStage.office
    }
}

private struct ScriptedMachine: SessionMachine {
    enum Event: Sendable {
        case perform([Directive])
        case stop
        case tick
        case reading(SensorReading)
        case prepared(Int)
        case ended(String)
        case answered
        case updated
    }

    enum Directive: Hashable, Sendable {
        case startScanning
        /// Compute once the number is in the gate.
        case prepare(Int)
        case cancelFetch
        /// From now on, a tick is wanted at the present instant.
        case wake
        case tell(String)
    }

    static var tick: Event { .tick }
    static func delivered(_ reading: DecodedReading, delay: Duration) -> Event { .reading(reading.reading) }
    static func ended(_ sender: SessionTimeline.Sender, _ error: (any Error)?) -> Event {
        .ended((["\(sender)"] + [error].compactMap { $0.map { "\($0)" } }).joined(separator: " "))
    }
    static func answered(_ answer: VenueAnswer) -> Event { .answered }
    static func updated(_ update: VenueUpdate) -> Event { .updated }

    let gate, begun, ended: WatchedState<Set<Int>>
    var isOver = true
    var nextWake: Instant?

    mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        switch event {
        case .perform(let directives):
            if !directives.isEmpty { isOver = false }
            if directives.contains(.wake) { nextWake = now }
            return [.tell("perform")] + directives
        case .stop:
            isOver = true
            return [.tell("stop")]
        case .tick: return [.tell("tick")]
        case .reading(let reading): return [.tell("reading \(Int(reading.instant.seconds))")]
        case .prepared(let number): return [.tell("prepared \(number)")]
        case .ended(let what): return [.tell("ended \(what)")]
        case .answered: return [.tell("answered")]
        case .updated: return [.tell("updated")]
        }
    }

    mutating func shift(by duration: Duration) { nextWake = nextWake?.advanced(by: duration) }

    func work(for directive: Directive) -> SessionWork<Event>? {
        switch directive {
        case .startScanning: .startScanning
        case .cancelFetch: .cancelFetch
        case .prepare(let number):
            .prepare { [gate, begun, ended] in
                begun.update { _ = $0.insert(number) }
                try? await gate.wait { $0.contains(number) }
                ended.update { _ = $0.insert(number) }
                return .prepared(number)
            }
        case .wake, .tell: nil
        }
    }
}

private actor ScriptedShell: SessionShell {
    var runtime: SessionRuntime<ScriptedMachine>
    private let told: AsyncStream<String>.Continuation

    init(
        _ machine: ScriptedMachine, _ source: ScriptedSource, _ venues: UpdatedVenues,
        _ told: AsyncStream<String>.Continuation
    ) {
        self.told = told
        runtime = SessionRuntime(machine, source: source, venues: venues, clock: ManualClock())
    }

    func emit(_ output: SessionDriver<ScriptedMachine>.Step) {
        if case .tell(let text) = output.directive { told.yield(text) }
    }

    func emit(_ error: LocalizationError) { told.yield("error") }
}

/// The preparation of a belief apart from the session that waits for it.
final class BeliefPreparationTests: XCTestCase {
    private typealias Stage = SessionStage

    private let log = WatchedBelief()

    /// A machine whose shell prepares beliefs, waiting for the office's packet.
    private func machine(_ settings: LocalizationSettings = LocalizationSettings()) -> Machine {
        var machine = Machine(settings: settings, seed: 1, preparesApart: true) { [log] _ in FixBelief(log: log) }
        for event in [Machine.Event.start, .catalogue(Stage.summaries), .reading(Stage.heard(1, at: 10))] {
            _ = machine.handle(event, at: 10)
        }
        return machine
    }

    /// The work that is the only directive.
    private func work(_ directives: [Machine.Directive], line: UInt = #line) throws -> BeliefPreparation {
        guard directives.count == 1, case .prepareBelief(let work) = directives[0] else {
            XCTFail("\(directives)", line: line)
            throw LocalizationError(code: .generic, message: "no work")
        }
        return work
    }

    func testAPacketStartsThePreparationAndItsResultEntersTheVenue() throws {
        var machine = machine()
        let state = machine.state
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        XCTAssertEqual(machine.state, state)
        XCTAssertEqual(
            work,
            BeliefPreparation(
                venue: Stage.office, settings: PositioningSettings(), readings: [Stage.heard(1, at: 10)]))
        let result = work.run(machine.makeBelief)
        XCTAssertEqual(
            machine.handle(.prepared(work, result), at: 12), [.publish(.findFloor(Stage.office))])
        XCTAssertEqual(machine.state, .findFloor(Stage.office))
    }

    func testReadingsDuringThePreparationReachTheBeliefInOrder() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        let readings = [Stage.heard(1, 2, at: 11.2), Stage.fix(10, at: 11.4), Stage.heard(1, 3, at: 11.6)]
        for reading in readings { _ = machine.handle(.reading(reading), at: reading.instant) }
        XCTAssertEqual(log.readings, [])
        _ = machine.handle(.prepared(work, work.run(machine.makeBelief)), at: 12)
        XCTAssertEqual(log.readings, [Stage.heard(1, at: 10)] + readings)
    }

    func testAFixSubmittedDuringThePreparationKeepsItsPlaceAmongTheReadings() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        _ = machine.handle(.reading(Stage.heard(1, 2, at: 11.2)), at: 11.2)
        guard case .fix(let fix) = Stage.fix(10, at: 11.4) else { return XCTFail("no fix") }
        _ = machine.handle(.fix(fix), at: 11.4)
        XCTAssertEqual(machine.fixOutcome, .kept)
        _ = machine.handle(.reading(Stage.heard(1, 3, at: 11.6)), at: 11.6)
        _ = machine.handle(.prepared(work, work.run(machine.makeBelief)), at: 12)
        XCTAssertEqual(
            log.readings,
            [Stage.heard(1, at: 10), Stage.heard(1, 2, at: 11.2), .fix(fix), Stage.heard(1, 3, at: 11.6)])
    }

    func testSettingsThatDoNotConcernTheEngineLeaveThePreparationValid() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        var settings = LocalizationSettings()
        settings.positionInterval = .milliseconds(200)
        _ = machine.handle(.settings(SettingsStack(localization: settings)), at: 11)
        _ = machine.handle(.prepared(work, work.run(machine.makeBelief)), at: 12)
        XCTAssertEqual(machine.state, .findFloor(Stage.office))
    }

    func testChangedSettingsDuringThePreparationRestartIt() throws {
        var machine = machine()
        let first = try work(machine.handle(.packet(1, Stage.office), at: 11))
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 500
        _ = machine.handle(.settings(SettingsStack(localization: settings)), at: 11)
        let second = try work(machine.handle(.prepared(first, first.run(machine.makeBelief)), at: 12))
        XCTAssertEqual(second.settings.particleCount, 500)
        _ = machine.handle(.prepared(second, second.run(machine.makeBelief)), at: 13)
        XCTAssertEqual(machine.state, .findFloor(Stage.office))
    }

    func testAResultThatNoSessionWaitsForIsIgnored() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        let result = work.run(machine.makeBelief)
        var stopped = machine
        _ = stopped.handle(.stop, at: 12)
        XCTAssertEqual(stopped.handle(.prepared(work, result), at: 13), [])
        XCTAssertEqual(stopped.state, .idle)
        let other = BeliefPreparation(venue: Stage.shop, settings: PositioningSettings())
        XCTAssertEqual(machine.handle(.prepared(other, other.run(machine.makeBelief)), at: 13), [])
        _ = machine.handle(.prepared(work, result), at: 14)
        XCTAssertEqual(machine.handle(.prepared(work, result), at: 15), [], "a second time")
    }

    func testAFailedPreparationEndsTheSession() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        let error = LocalizationError(code: .critical, message: "too large", kind: .badResponse)
        _ = machine.handle(.prepared(work, .failure(error)), at: 12)
        XCTAssertEqual(machine.state, .error(error))
    }

    func testTheVenueIsLostDuringThePreparationAsDuringADownload() throws {
        var machine = machine()
        _ = try work(machine.handle(.packet(1, Stage.office), at: 11))
        _ = machine.pass(to: 600)
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testThePreparationComputesTheTablesOfTheFirstGlobalUpdate() throws {
        let venue = PositioningStage.twoFloors
        let engine = PositioningEngine(venue: venue, seed: 1)
        let rates = engine.field.maps.map(\.totalRates)
        XCTAssertEqual(rates.map(\.isMade), [false, false])
        engine.prepareTables(for: [], on: PositioningStage.gallery)
        XCTAssertEqual(rates.map(\.isMade), [false, true], "the map that the device is on")
        let heard = Sighting(instant: .zero, beacon: PositioningStage.identity(0), rssi: -60)
        engine.prepareTables(for: [.sighting(heard)], on: nil)
        XCTAssertEqual(rates.map(\.isMade), [true, true], "maps where the beacon can be heard")
    }

    func testThePreparationOfAFloorPlanIsThatOfItsMap() throws {
        var machine = FloorPlanLocalizerMachine<FixBelief>(
            plan: FloorPlanLocalizerMachineStage.plan, settings: LocalizationSettings(), seed: 1, preparesApart: true
        ) { [log] _, _ in FixBelief(log: log) }
        for event in [FloorPlanLocalizerMachine<FixBelief>.Event.prepare(.init()), .catalogue(Stage.summaries)] {
            _ = machine.handle(event, at: .zero)
        }
        let directives = machine.handle(.packet(Stage.office), at: .zero)
        let work = BeliefPreparation(venue: Stage.office, settings: PositioningSettings(), mapID: 10)
        XCTAssertEqual(directives, [.prepareBelief(work)])
        XCTAssertEqual(machine.state, .loading)
        XCTAssertEqual(machine.handle(.prepared(work, work.run(machine.makeBelief)), at: .zero), [.publish(.ready)])
        XCTAssertEqual(machine.handle(.prepared(work, work.run(machine.makeBelief)), at: .zero), [], "a second time")
    }
}
