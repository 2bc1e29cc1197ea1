import IndoorLocalization
import XCTest

final class FloorMachineTests: XCTestCase {
    private func machine(settledOn map: MapID? = nil) -> FloorMachine {
        var machine = FloorMachine(settings: FloorSettings())
        if let map { machine.observe([map: 1], at: .zero) }
        return machine
    }

    private func observe(_ machine: inout FloorMachine, _ probabilities: [MapID: Double], _ seconds: Double) {
        machine.observe(probabilities, at: Instant(seconds: seconds))
    }

    func testAnImprobableFloorIsNotSelectedAtOnce() {
        var machine = machine()
        observe(&machine, [1: 0.79, 2: 0.21], 5)
        XCTAssertNil(machine.map)
        XCTAssertEqual(machine.state, .searching(since: Instant(seconds: 5)))
    }

    func testAProbableFloorIsSelectedAtOnce() {
        var machine = machine()
        observe(&machine, [1: 0.8, 2: 0.2], 5)
        XCTAssertEqual(machine.state, .settled(map: 1, rival: nil))
    }

    func testTheMostProbableFloorIsSelectedAfterTheTimeout() {
        var machine = machine()
        observe(&machine, [1: 0.6, 2: 0.4], 5)
        observe(&machine, [1: 0.4, 2: 0.6], 6.999)
        XCTAssertNil(machine.map)
        observe(&machine, [1: 0.45, 2: 0.55], 7)
        XCTAssertEqual(machine.map, 2)
    }

    func testTheTimeoutBeginsWithTheFirstEvidence() {
        var machine = machine()
        observe(&machine, [:], 0)
        observe(&machine, [:], 10)
        observe(&machine, [1: 0.6, 2: 0.4], 20)
        XCTAssertEqual(machine.state, .searching(since: Instant(seconds: 20)))
    }

    func testTheLowestNumberWinsAmongEquallyProbableFloors() {
        var machine = machine()
        for second in [0.0, 2] { observe(&machine, [3: 0.25, 2: 0.25, 7: 0.25, 5: 0.25], second) }
        XCTAssertEqual(machine.map, 2)
    }

    func testARivalReplacesTheFloorAfterTheSwitchTime() {
        var machine = machine(settledOn: 1)
        observe(&machine, [1: 0.3, 2: 0.7], 10)
        XCTAssertEqual(
            machine.state, .settled(map: 1, rival: FloorMachine.Rival(map: 2, since: Instant(seconds: 10))))
        observe(&machine, [1: 0.3, 2: 0.7], 11.499)
        XCTAssertEqual(machine.map, 1)
        observe(&machine, [1: 0.3, 2: 0.7], 11.5)
        XCTAssertEqual(machine.state, .settled(map: 2, rival: nil))
    }

    func testAnImprobableRivalNeverReplacesTheFloor() {
        var machine = machine(settledOn: 1)
        for second in 0..<100 { observe(&machine, [1: 0.31, 2: 0.69], Double(second)) }
        XCTAssertEqual(machine.map, 1)
    }

    func testARivalThatFallsBackRestartsTheSwitchTime() {
        var machine = machine(settledOn: 1)
        observe(&machine, [1: 0.2, 2: 0.8], 10)
        observe(&machine, [1: 0.5, 2: 0.5], 11)
        observe(&machine, [1: 0.2, 2: 0.8], 11.4)
        observe(&machine, [1: 0.2, 2: 0.8], 12.8)
        XCTAssertEqual(machine.map, 1)
        observe(&machine, [1: 0.2, 2: 0.8], 12.9)
        XCTAssertEqual(machine.map, 2)
    }

    func testAnotherRivalRestartsTheSwitchTime() {
        var machine = machine(settledOn: 1)
        observe(&machine, [2: 0.8], 10)
        observe(&machine, [3: 0.8], 11)
        observe(&machine, [3: 0.8], 12.4)
        XCTAssertEqual(machine.map, 1)
        observe(&machine, [3: 0.8], 12.5)
        XCTAssertEqual(machine.map, 3)
    }

    func testWithoutEvidenceNothingChanges() {
        var machine = machine(settledOn: 1)
        observe(&machine, [2: 0.8], 10)
        let state = machine.state
        observe(&machine, [:], 20)
        XCTAssertEqual(machine.state, state)
    }

    func testAlternatingEvidenceDoesNotMakeTheFloorFlicker() {
        var machine = machine(settledOn: 1)
        for second in 0..<600 {
            observe(&machine, second % 2 == 0 ? [1: 0.1, 2: 0.9] : [1: 0.9, 2: 0.1], Double(second))
            XCTAssertEqual(machine.map, 1, "\(second) s")
        }
    }

    func testTheFloorChangesAfterTheDeviceHasGoneUp() {
        var machine = machine(settledOn: 1)
        var changes: [Double] = []
        for tick in 0..<40 {
            let second = Double(tick) / 2
            let before = machine.map
            observe(&machine, second < 5 ? [1: 0.9, 2: 0.1] : [1: 0.2, 2: 0.8], second)
            if machine.map != before { changes.append(second) }
        }
        XCTAssertEqual(changes, [6.5], "once, 1.5 s after the evidence has turned")
    }
}
