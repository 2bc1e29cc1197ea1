import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import LocalizationSession

/// Places given from outside, before and during a session.
final class FixSubmissionTests: XCTestCase {
    private typealias Stage = PositioningStage

    private static func fix(_ place: MapPoint, radius: Double, isSoft: Bool = false) -> Fix {
        Fix(instant: .zero, mapID: Stage.hall, point: place, radius: radius, isSoft: isSoft)
    }

    /// The readings agree with the fix; the belief was elsewhere.
    func testTheEstimateConvergesMonotonicallyToAHardFix() throws {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let place = MapPoint(x: 3 + 14 * generator.uniform(), y: 3 + 14 * generator.uniform())
            let elsewhere = MapPoint(x: place.x < 10 ? 17 : 3, y: 20 - place.y)
            var receiver = HallReceiver(at: place, seed: seed)
            receiver.observe(.fix(Self.fix(elsewhere, radius: 0.5)))
            let radius = 3.0
            var distance = try XCTUnwrap(receiver.estimate).point.distance(to: place)
            XCTAssertGreaterThan(distance, radius, "seed \(seed)")
            receiver.observe(.fix(Self.fix(place, radius: radius)))
            for second in 1...10 where distance > radius {
                receiver.listen()
                let next = try XCTUnwrap(receiver.estimate).point.distance(to: place)
                XCTAssertLessThan(next, distance, "seed \(seed), second \(second)")
                distance = next
            }
            XCTAssertLessThanOrEqual(distance, radius, "seed \(seed)")
        }
    }

    /// There are no readings: the estimate stays within the radius, and its own radius grows.
    func testWithoutOtherEvidenceTheEstimateStaysAtTheFix() throws {
        for seed in UInt64(1)...10 {
            var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: seed)
            receiver.listen(seconds: 3)
            let place = MapPoint(x: 12, y: 9)
            receiver.observe(.fix(Self.fix(place, radius: 2)))
            let first = try XCTUnwrap(receiver.estimate)
            for step in 1...8 {
                receiver.pass(by: 0.25)
                let estimate = try XCTUnwrap(receiver.estimate)
                XCTAssertLessThan(estimate.point.distance(to: place), 2, "seed \(seed), step \(step)")
            }
            XCTAssertGreaterThan(try XCTUnwrap(receiver.estimate).radius, first.radius, "seed \(seed)")
        }
    }

    func testTheEstimateMovesToADistantHardFix() throws {
        for seed in UInt64(1)...10 {
            var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: seed)
            receiver.listen(seconds: 5)
            let place = MapPoint(x: 17, y: 16)
            receiver.observe(.fix(Self.fix(place, radius: 1)))
            let estimate = try XCTUnwrap(receiver.estimate)
            XCTAssertLessThan(estimate.point.distance(to: place), 1, "seed \(seed)")
            let reception = try XCTUnwrap(receiver.engine.fixReception)
            XCTAssertLessThan(try XCTUnwrap(reception.agreement), 0.01, "seed \(seed)")
            XCTAssertEqual(reception.belief, 1, accuracy: 1e-6)
        }
    }

    /// The test of the beacons compares the belief with the readings of some seconds: those from before a fix must not
    /// lead it back.
    func testTheEstimateStaysAtADistantHardFixThatTheNextReadingsConfirm() throws {
        let start = MapPoint(x: 4, y: 4)
        let beacon = try XCTUnwrap(
            Stage.beaconPoints.indices.max {
                Stage.beaconPoints[$0].distance(to: start) < Stage.beaconPoints[$1].distance(to: start)
            })
        let point = Stage.beaconPoints[beacon]
        for seed in UInt64(1)...6 {
            // A global update comes every two seconds, so at different times after the fix.
            for seconds in 5...6 {
                var receiver = HallReceiver(at: start, seed: seed) { $0.testedBeacons = .all }
                receiver.listen(seconds: seconds)
                receiver.place = point
                receiver.observe(.fix(Self.fix(point, radius: 1)))
                for half in 1...8 {
                    for tick in 1...5 {
                        let instant = Instant(seconds: receiver.seconds + Double(tick) / 10)
                        let rssi = Stage.rssi(from: point, to: point)
                        receiver.observe(
                            .sighting(Sighting(instant: instant, beacon: Stage.identity(beacon), rssi: rssi)))
                    }
                    receiver.pass(by: 0.5)
                    XCTAssertLessThan(receiver.error, 3, "seed \(seed), \(seconds) s before, \(half) after")
                }
            }
        }
    }

    /// A soft fix of 2 m: a mistake of ten lies anywhere on the 400 m² of the hall, the others within it.
    func testASoftFixIsCombinedWithTheOtherEvidence() throws {
        for seed in UInt64(1)...10 {
            var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: seed)
            receiver.listen(seconds: 8)
            let before = try XCTUnwrap(receiver.estimate)
            receiver.observe(.fix(Self.fix(MapPoint(x: 17, y: 16), radius: 1, isSoft: true)))
            let refused = try XCTUnwrap(receiver.engine.fixReception)
            XCTAssertLessThan(refused.belief, 0.1, "seed \(seed): contrary to all that was heard")
            let after = try XCTUnwrap(receiver.estimate)
            XCTAssertLessThan(after.point.distance(to: before.point), 0.5, "seed \(seed)")
            receiver.observe(.fix(Self.fix(before.point, radius: 2, isSoft: true)))
            let taken = try XCTUnwrap(receiver.engine.fixReception)
            XCTAssertGreaterThan(taken.belief, 0.9, "seed \(seed): where it is believed anyway")
        }
    }

    func testASoftFixBeforeAnyEvidenceIsTheStartingPoint() throws {
        var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: 1)
        receiver.observe(.fix(Self.fix(MapPoint(x: 4, y: 5), radius: 1, isSoft: true)))
        let estimate = try XCTUnwrap(receiver.estimate)
        XCTAssertLessThan(estimate.point.distance(to: MapPoint(x: 4, y: 5)), 0.3)
        XCTAssertNil(try XCTUnwrap(receiver.engine.fixReception).agreement)
    }

    func testAnInvalidFixIsNotReceived() {
        var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: 1)
        receiver.listen()
        receiver.observe(.fix(Self.fix(MapPoint(x: 4, y: 5), radius: 1)))
        XCTAssertNotNil(receiver.engine.fixReception)
        receiver.observe(.fix(Self.fix(MapPoint(x: .nan, y: 5), radius: 1)))
        XCTAssertNil(receiver.engine.fixReception)
    }

    func testAFixBeforeTheStartIsTheStartingPoint() throws {
        var machine = SessionStage.machine()
        let place = MapPoint(x: 7, y: 8)
        XCTAssertEqual(machine.handle(.fix(Fix(instant: .zero, mapID: 10, point: place, radius: 1)), at: 1), [])
        XCTAssertEqual(machine.fixOutcome, .kept)
        _ = machine.handle(.start, at: 2)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 2)
        XCTAssertEqual(machine.state, .searchVenue, "a beacon tells the venue")
        _ = machine.handle(.reading(SessionStage.heard(1, at: 3)), at: 3)
        _ = machine.handle(.packet(1, SessionStage.office), at: 3)
        XCTAssertEqual(Self.positions(machine.pass(to: 3)).first?.point, place)
    }

    func testAFixInAForcedVenueNeedsNoBeacon() throws {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        for isEarly in [true, false] {
            var machine = SessionStage.machine(settings)
            let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 7, y: 8), radius: 1)
            if isEarly { _ = machine.handle(.fix(fix), at: 1) }
            _ = machine.handle(.start, at: 2)
            _ = machine.handle(.catalogue(SessionStage.summaries), at: 2)
            if !isEarly { _ = machine.handle(.fix(fix), at: 2) }
            XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 0))
            _ = machine.handle(.packet(1, SessionStage.office), at: 3)
            XCTAssertEqual(Self.positions(machine.pass(to: 3)).first?.point, fix.point)
        }
    }

    /// Returns what a session tells that begins with a fix in the forced venue, and receives its first reading after eight
    /// seconds: the timeline then moves. A fix during the preparation comes before another move.
    private static func sessionWithFix(
        moved duration: Duration, preparesApart: Bool
    ) -> (positions: [Position], events: [LocalizationEvent]) {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        settings.positioning.particleCount = 400
        settings.positionFilter = PositionFilter(distance: 1_000, time: .seconds(2))
        var machine = LocalizationMachine<PositioningEngine>(settings: settings, seed: 1, preparesApart: preparesApart)
        {
            PositioningEngine(venue: $0, seed: 1)
        }
        let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 5, y: 5), radius: 0.5)
        var (told, now) = (machine.handle(.fix(fix), at: .zero), Instant.zero)
        for event: LocalizationMachine<PositioningEngine>.Event in [
            .start, .catalogue(SessionStage.summaries), .packet(1, SessionStage.office),
        ] {
            told += machine.handle(event, at: now)
        }
        func move() {
            machine.shift(by: duration)
            now = now.advanced(by: duration)
        }
        for case .prepareBelief(let work) in told {
            told += machine.handle(.fix(fix), at: now.advanced(by: .milliseconds(100)))
            move()
            told += machine.handle(.prepared(work, work.run(machine.makeBelief)), at: now.advanced(by: .seconds(1)))
        }
        for _ in 1...2 {
            now = now.advanced(by: .seconds(8))
            while let wake = machine.nextWake, wake <= now { told += machine.handle(.tick, at: wake) }
            move()
        }
        // The instants of a session whose timeline didn't move.
        func origin(_ instant: Instant) -> Instant {
            guard duration > .zero else { return instant }
            let moves = Int(instant.seconds / duration.seconds)
            return instant.advanced(by: .zero - duration * moves)
        }
        let positions = told.compactMap { directive -> Position? in
            guard case .emit(var position) = directive else { return nil }
            position.instant = origin(position.instant)
            return position
        }
        let events = told.compactMap { directive -> LocalizationEvent? in
            guard case .emitEvent(var event) = directive else { return nil }
            event.instant = origin(event.instant)
            return event
        }
        return (positions, events)
    }

    func testASessionThatBeganWithAFixMovesToTheTimelineOfTheFirstReading() {
        for preparesApart in [false, true] {
            let expected = Self.sessionWithFix(moved: .zero, preparesApart: preparesApart)
            XCTAssertGreaterThan(expected.positions.count, 6)
            XCTAssertEqual(expected.events.count, 2, "the kitchen and the door")
            let moved = Self.sessionWithFix(moved: .seconds(500_000), preparesApart: preparesApart)
            XCTAssertEqual(moved.positions, expected.positions)
            XCTAssertEqual(moved.events, expected.events)
        }
    }

    func testALocalizerReturnsTheOutcomeOfAFix() async throws {
        let stage = LocalizerStage()
        let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 30, y: 20), radius: 1)
        let early = await stage.localizer.submit(fix)
        XCTAssertEqual(early, .kept)
        try await stage.run()
        let late = await stage.localizer.submit(fix)
        guard case .taken(let reception) = late else { return XCTFail("\(late)") }
        XCTAssertTrue((0...1).contains(reception.belief))
        XCTAssertTrue((0...1).contains(try XCTUnwrap(reception.agreement)))
        var foreign = fix
        foreign.mapID = 99
        let outcome = await stage.localizer.submit(foreign)
        XCTAssertEqual(outcome, .ignored(.unknownMap(99)))
    }

    func testALocalizerIgnoresAnInvalidFixAndReturnsTheReason() async throws {
        let good = MapPoint(x: 30, y: 20)
        let stage = LocalizerStage()
        func submit(_ point: MapPoint, _ radius: Double) async -> FixOutcome {
            await stage.localizer.submit(Fix(instant: .zero, mapID: 10, point: point, radius: radius))
        }
        for isEarly in [true, false] {
            if !isEarly { try await stage.run() }
            for radius in [0, -1, .infinity, 1e7] {
                let outcome = await submit(good, radius)
                XCTAssertEqual(outcome, .ignored(.invalidRadius(radius)))
            }
            for point in [MapPoint(x: .nan, y: 1), MapPoint(x: 1, y: -.infinity)] {
                let outcome = await submit(point, 1)
                guard case .ignored(.invalidPlace) = outcome else { return XCTFail("\(outcome)") }
            }
        }
        let far = await submit(MapPoint(x: -500, y: 20), 1)
        XCTAssertEqual(far, .ignored(.offPlan(10, distance: 500)))
        let vague = await submit(MapPoint(x: -500, y: 20), 451)
        guard case .taken = vague else { return XCTFail("\(vague)") }
    }

    func testAFixFarOffThePlanDoesNotMoveTheBelief() throws {
        var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: 1)
        receiver.listen()
        let before = try XCTUnwrap(receiver.estimate)
        receiver.observe(.fix(Self.fix(MapPoint(x: 500, y: 4), radius: 1)))
        XCTAssertNil(receiver.engine.fixReception)
        XCTAssertEqual(receiver.estimate, before)
    }

    private static func positions(_ directives: [Machine.Directive]) -> [Position] {
        directives.compactMap { if case .emit(let position) = $0 { position } else { nil } }
    }
}
