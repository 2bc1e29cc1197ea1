import IndoorLocalization
import XCTest

final class AreaMachineTests: XCTestCase {
    private let inside = MapPoint(x: 5, y: 5)
    private let outside = MapPoint(x: 50, y: 5)

    private func machine(dwell: Duration = .seconds(2), holdOff: Duration = .zero) -> AreaMachine {
        AreaMachine(
            watched: [7, 8].map {
                AreaMachine.Watched(
                    id: $0, mapID: 1, area: .circle(center: inside, radius: $0 == 7 ? 2 : 20), holdOff: holdOff)
            }, dwell: dwell)
    }

    private func go(_ machine: inout AreaMachine, _ point: MapPoint, _ seconds: Double, map: MapID = 1)
        -> [AreaMachine.Change]
    {
        machine.observe(point, on: map, at: Instant(seconds: seconds))
    }

    func testAnAreaIsEnteredAfterTheDwell() {
        var machine = machine()
        XCTAssertEqual(go(&machine, inside, 0), [])
        XCTAssertEqual(go(&machine, inside, 1.999), [])
        XCTAssertEqual(go(&machine, inside, 2), [.enter(7), .enter(8)])
        XCTAssertEqual(go(&machine, inside, 3), [])
    }

    func testAnAreaIsLeftAfterTheDwell() {
        var machine = machine()
        for second in [0.0, 2] { _ = go(&machine, inside, second) }
        XCTAssertEqual(go(&machine, outside, 3), [])
        XCTAssertEqual(go(&machine, outside, 5), [.exit(7), .exit(8)])
    }

    func testADwellRunsInMonitoredTimeAndAHoldOffInElapsedTime() {
        var machine = machine(holdOff: .seconds(10))
        func go(_ point: MapPoint, _ seconds: Double, watched: Double) -> [AreaMachine.Change] {
            machine.observe(
                point, on: 1, at: Instant(seconds: seconds), watched: Instant(seconds: watched))
        }
        XCTAssertEqual(go(inside, 0, watched: 0), [])
        XCTAssertEqual(go(inside, 90, watched: 1), [])
        XCTAssertEqual(go(inside, 91, watched: 2), [.enter(7), .enter(8)])
        XCTAssertEqual(go(outside, 92, watched: 3), [])
        XCTAssertEqual(go(outside, 93, watched: 5), [.exit(7), .exit(8)])
        XCTAssertEqual(go(inside, 100, watched: 6), [])
        XCTAssertEqual(go(inside, 104, watched: 8), [.enter(7), .enter(8)], "11 s behind the exit")
    }

    func testAStepBackRestartsTheDwell() {
        var machine = machine()
        _ = go(&machine, inside, 0)
        _ = go(&machine, outside, 1)
        XCTAssertEqual(go(&machine, inside, 2), [])
        XCTAssertEqual(go(&machine, inside, 3.9), [])
        XCTAssertEqual(go(&machine, inside, 4), [.enter(7), .enter(8)])
    }

    func testWithoutADwellEachChangeIsReportedAtOnce() {
        var machine = machine(dwell: .zero)
        XCTAssertEqual(go(&machine, inside, 0), [.enter(7), .enter(8)])
        XCTAssertEqual(go(&machine, MapPoint(x: 15, y: 5), 0), [.exit(7)])
        XCTAssertEqual(go(&machine, outside, 0), [.exit(8)])
    }

    func testExitsComeBeforeEntries() {
        var machine = AreaMachine(
            watched: [
                AreaMachine.Watched(id: 1, mapID: 1, area: .circle(center: outside, radius: 1)),
                AreaMachine.Watched(id: 2, mapID: 1, area: .circle(center: inside, radius: 1)),
            ], dwell: .zero)
        XCTAssertEqual(go(&machine, inside, 0), [.enter(2)])
        XCTAssertEqual(go(&machine, outside, 1), [.exit(2), .enter(1)])
    }

    func testTheSamePointOnAnotherMapIsOutside() {
        var machine = machine(dwell: .zero)
        _ = go(&machine, inside, 0)
        XCTAssertEqual(go(&machine, inside, 1, map: 2), [.exit(7), .exit(8)])
    }

    func testWithinTheHoldOffEntryAndExitAreSilent() {
        var machine = machine(dwell: .zero, holdOff: .seconds(10))
        _ = go(&machine, inside, 0)
        XCTAssertEqual(go(&machine, outside, 5), [.exit(7), .exit(8)])
        XCTAssertEqual(go(&machine, inside, 14.999), [])
        XCTAssertEqual(go(&machine, outside, 14.9995), [])
        XCTAssertEqual(go(&machine, inside, 15), [.enter(7), .enter(8)])
    }

    func testSilentExitsDoNotProlongTheHoldOff() {
        var machine = machine(dwell: .zero, holdOff: .seconds(10))
        _ = go(&machine, inside, 0)
        _ = go(&machine, outside, 0)
        for second in stride(from: 1.0, to: 10, by: 1) {
            XCTAssertEqual(go(&machine, inside, second), [], "\(second) s")
            XCTAssertEqual(go(&machine, outside, second), [], "\(second) s")
        }
        XCTAssertEqual(go(&machine, inside, 10), [.enter(7), .enter(8)])
    }

    func testLeaveAllLeavesEveryAreaAtOnce() {
        var machine = machine()
        for second in [0.0, 2] { _ = go(&machine, inside, second) }
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 2.1)), [.exit(7), .exit(8)])
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 2.2)), [])
    }

    func testLeaveAllLeavesOnlyEnteredAreasAndForgetsPendingDwells() {
        var machine = machine()
        _ = go(&machine, inside, 0)
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 1)), [])
        XCTAssertEqual(go(&machine, inside, 2), [], "the dwell begins anew")
        XCTAssertEqual(go(&machine, inside, 4), [.enter(7), .enter(8)])
    }

    func testLeaveAllEmitsNoExitsOfSilentEntries() {
        var machine = machine(dwell: .zero, holdOff: .seconds(10))
        _ = go(&machine, inside, 0)
        _ = go(&machine, outside, 1)
        _ = go(&machine, inside, 2)
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 3)), [])
    }
}
