import IndoorLocalization
import XCTest

/// A fence as a session sees it: crossings, hold-off, jitter at the edge.
final class FenceTests: XCTestCase {
    private let inside = MapPoint(x: 5, y: 5)
    private let outside = MapPoint(x: 50, y: 5)
    /// Metres right of the centre of a circle with a radius of 10 m.
    private func place(_ metres: Double) -> MapPoint { MapPoint(x: 5 + metres, y: 5) }

    private func machine(
        timeout: Duration = .zero, exitDelay: Duration? = nil, margin: Double = 0, dwell: Duration = .zero
    ) -> AreaMachine {
        AreaMachine(
            watched: [
                AreaMachine.Watched(
                    id: 1, mapID: 1, area: .circle(center: inside, radius: 10), holdOff: timeout,
                    exitDwell: exitDelay, exitMargin: margin)
            ], dwell: dwell)
    }

    private func go(_ machine: inout AreaMachine, _ point: MapPoint, _ seconds: Double) -> [AreaMachine.Change] {
        machine.observe(point, on: 1, at: Instant(seconds: seconds))
    }

    func testASessionReportsEachCrossingOnce() {
        var machine = machine()
        var told: [AreaMachine.Change] = []
        for (second, x) in [-40.0, -20, -9, 0, 9, 20, 40, 20, 9, 0, -9, -20, -40].enumerated() {
            told += go(&machine, place(x), Double(second))
        }
        XCTAssertEqual(told, [.enter(1), .exit(1), .enter(1), .exit(1)])
    }

    func testWithoutATimeoutEachReturnIsReported() {
        var machine = machine()
        for turn in 0..<5 {
            // Even within one instant.
            XCTAssertEqual(go(&machine, inside, 3), [.enter(1)], "turn \(turn)")
            XCTAssertEqual(go(&machine, outside, 3), [.exit(1)], "turn \(turn)")
        }
    }

    func testAReturnIsReportedOnlyAfterTheTimeout() {
        for (back, expected) in [(20.0, []), (69.999, []), (70, [.enter(1)]), (500, [.enter(1)])]
            as [(Double, [AreaMachine.Change])]
        {
            var machine = machine(timeout: .seconds(60))
            XCTAssertEqual(go(&machine, inside, 0), [.enter(1)], "a first entry is always told")
            XCTAssertEqual(go(&machine, outside, 10), [.exit(1)])
            XCTAssertEqual(go(&machine, inside, back), expected, "back at \(back) s")
            let exit: [AreaMachine.Change] = expected.isEmpty ? [] : [.exit(1)]
            XCTAssertEqual(go(&machine, outside, back + 1), exit, "the exit of an entry that was told")
        }
    }

    func testEachFenceHasItsOwnTimeout() {
        var machine = AreaMachine(
            watched: [1.0, 60].enumerated().map { id, timeout in
                AreaMachine.Watched(
                    id: id, mapID: 1, area: .circle(center: inside, radius: 10), holdOff: .seconds(timeout))
            }, dwell: .zero)
        _ = go(&machine, inside, 0)
        XCTAssertEqual(go(&machine, outside, 1), [.exit(0), .exit(1)])
        XCTAssertEqual(go(&machine, inside, 5), [.enter(0)])
    }

    func testJitterAtTheEdgeThatIsShorterThanTheDwellIsSilent() {
        var machine = machine(dwell: .seconds(2))
        for second in [0.0, 2] { _ = go(&machine, place(9.8), second) }
        for half in 5..<100 {
            XCTAssertEqual(go(&machine, place(half % 3 == 0 ? 9.8 : 10.2), Double(half) / 2), [], "\(half)")
        }
    }

    func testAFenceWithAMarginIsLeftOnlyBeyondTheMargin() {
        var machine = machine(margin: 1)
        XCTAssertEqual(go(&machine, place(10.5), 0), [], "the margin does not make a fence larger to come in")
        XCTAssertEqual(go(&machine, place(9.9), 1), [.enter(1)])
        for second in 2..<60 {
            XCTAssertEqual(go(&machine, place(second % 2 == 0 ? 10.99 : 9.5), Double(second)), [], "\(second) s")
        }
        XCTAssertEqual(go(&machine, place(11.01), 60), [.exit(1)])
        XCTAssertEqual(go(&machine, place(10.5), 61), [])
    }

    func testAMarginEndsAtTheMap() {
        var machine = machine(margin: 1)
        XCTAssertEqual(go(&machine, inside, 0), [.enter(1)])
        XCTAssertEqual(machine.observe(inside, on: 2, at: Instant(seconds: 1)), [.exit(1)])
    }

    func testAnExitDelayReplacesTheDwellForExits() {
        var machine = machine(exitDelay: .seconds(10), dwell: .seconds(2))
        XCTAssertEqual(go(&machine, inside, 0), [])
        XCTAssertEqual(go(&machine, inside, 2), [.enter(1)])
        XCTAssertEqual(go(&machine, outside, 3), [])
        XCTAssertEqual(go(&machine, outside, 12.999), [])
        XCTAssertEqual(go(&machine, outside, 13), [.exit(1)])
    }

    /// A session in the office with this fence, that was led to a first position at second 10, outside of it.
    private func session(
        _ fence: Fence, _ settings: LocalizationSettings = LocalizationSettings()
    ) -> Machine {
        var venue = SessionStage.office
        venue.rooms = []
        venue.fences = [fence]
        var machine = SessionStage.machine(settings)
        for event in [
            .start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 10)), .packet(1, venue),
            .reading(SessionStage.fix(10, 20, 20, at: 10)), .tick,
        ] as [Machine.Event] {
            _ = machine.handle(event, at: 10)
        }
        return machine
    }

    func testAnEventHasItsFenceThePayloadAndTheTime() {
        let fence = Fence(
            id: 3, name: "desk", mapID: 10, area: .circle(center: inside, radius: 3),
            payload: .object(["offer": .string("coffee")]))
        var machine = session(fence)
        _ = machine.pass(to: 10.9)
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10.9)), at: 10.9)
        let entered = machine.pass(to: 15).compactMap(\.event)
        _ = machine.handle(.reading(SessionStage.fix(10, 20, 20, at: 15.2)), at: 15.2)
        let left = machine.pass(to: 20).compactMap(\.event)
        // Positions come every half second; the dwell of 2 s is counted from the first one on the other side.
        XCTAssertEqual(
            entered, [LocalizationEvent(instant: Instant(seconds: 13), venueID: 1, kind: .enterFence(fence))])
        XCTAssertEqual(
            left, [LocalizationEvent(instant: Instant(seconds: 17.5), venueID: 1, kind: .exitFence(fence))])
        XCTAssertEqual((entered + left).map(\.isEntry), [true, false])
        XCTAssertEqual((entered + left).map(\.fence), [fence, fence])
        XCTAssertEqual((entered + left).map(\.room), [nil, nil])
    }

    func testAFenceWithoutATimeoutUsesThatOfTheSession() {
        var settings = LocalizationSettings()
        settings.areaDwell = .zero
        settings.fenceTimeout = .seconds(10)
        for (timeout, expected) in [
            (nil, [true, false]), (.zero, [true, false, true]), (.seconds(60), [true, false]),
            (.seconds(2), [true, false, true]),
        ] as [(Duration?, [Bool])] {
            var machine = session(
                Fence(id: 3, name: "desk", mapID: 10, area: .circle(center: inside, radius: 3), timeout: timeout),
                settings)
            var told: [Bool] = []
            for (second, place) in [(11.0, 5.0), (13, 20), (16, 5)] {
                told += machine.pass(to: second).compactMap(\.event?.isEntry)
                _ = machine.handle(.reading(SessionStage.fix(10, place, place, at: second)), at: second)
            }
            told += machine.pass(to: 20).compactMap(\.event?.isEntry)
            XCTAssertEqual(told, expected, "\(String(describing: timeout))")
        }
    }

    func testAFenceIsLeftWhenTheVenueIsLost() {
        var machine = session(Fence(id: 3, name: "desk", mapID: 10, area: .circle(center: inside, radius: 3)))
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 11)), at: 11)
        XCTAssertEqual(machine.pass(to: 39.9).compactMap(\.event?.isEntry), [true])
        XCTAssertEqual(machine.pass(to: 41).compactMap(\.event?.isEntry), [false])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testTheRadiusOfAPositionDoesNotAffectFences() {
        for (x, expected) in [(7.9, [true]), (8.1, [])] as [(Double, [Bool])] {
            var machine = session(Fence(id: 3, name: "desk", mapID: 10, area: .circle(center: inside, radius: 3)))
            let fix = Fix(instant: Instant(seconds: 11), mapID: 10, point: MapPoint(x: x, y: 5), radius: 25)
            _ = machine.handle(.reading(.fix(fix)), at: 11)
            XCTAssertEqual(machine.pass(to: 15).compactMap(\.event?.isEntry), expected, "at \(x) m")
        }
    }

    func testTheDistanceToAnAreaIsZeroInside() {
        let square = Area.polygon([(0.0, 0.0), (4, 0), (4, 4), (0, 4)].map { MapPoint(x: $0.0, y: $0.1) })
        for (x, y, distance) in [(2.0, 2.0, 0.0), (6, 2, 2), (2, -1, 1), (7, 8, 5), (-3, -4, 5)] {
            XCTAssertEqual(square.distance(to: MapPoint(x: x, y: y)), distance, accuracy: 1e-12, "\(x), \(y)")
        }
        let circle = Area.circle(center: MapPoint(x: 0, y: 0), radius: 2)
        XCTAssertEqual(circle.distance(to: MapPoint(x: 3, y: 4)), 3, accuracy: 1e-12)
        XCTAssertEqual(circle.distance(to: MapPoint(x: 1, y: 0)), 0)
        XCTAssertEqual(Area.polygon([MapPoint(x: 1, y: 1)]).distance(to: MapPoint(x: 1, y: 3)), 2, accuracy: 1e-12)
        XCTAssertEqual(Area.polygon([]).distance(to: MapPoint(x: 1, y: 3)), .infinity)
    }
}
