import IndoorLocalization
import XCTest

/// Tests of the events of rooms, and their order.
final class RoomMachineTests: XCTestCase {
    /// Tells the room that the first beacon's RSSI stands for; nil with fewer than three beacons.
    private struct ScriptedClassifier: Classifier {
        var rooms: [Double: String] = [-60: "den", -70: "bath"]

        func classify(_ scan: RoomScan) -> RoomEstimate? {
            guard scan.rssi.count >= 3, let rssi = scan.rssi[TrainedHouse.beacon(0)] else { return nil }
            return RoomEstimate(
                instant: scan.instant,
                candidates: [.init(room: rooms[rssi], probability: 0.75), .init(room: "den", probability: 0.25)])
        }
    }

    private func ranging(_ rssi: Double, at seconds: Double, of id: String = "home", beacons: Int = 3) -> RegionRanging
    {
        let instant = Instant(seconds: seconds)
        return RegionRanging(
            instant: instant, regionID: id,
            ranges: (0..<beacons).map {
                RangeEstimate(
                    beacon: TrainedHouse.beacon($0), instant: instant, rssi: rssi, rssiDeviation: 1, distance: nil)
            })
    }

    private func started(_ settings: RoomSettings = RoomSettings(changeRule: .immediate)) -> RoomMachine {
        var machine = RoomMachine(settings: settings)
        machine.insert(ScriptedClassifier(), for: "home")
        machine.start()
        return machine
    }

    private func text(_ events: [RoomEvent]) -> [String] { events.map { "\($0.kind) \($0.regionID) \($0.room)" } }

    private func exit(_ id: String, at seconds: Double) -> RegionEvent {
        RegionEvent(instant: Instant(seconds: seconds), regionID: id, kind: .exit)
    }

    func testNothingIsEmittedBeforeTheStartOrWithoutAClassifier() {
        var machine = RoomMachine(settings: RoomSettings())
        machine.insert(ScriptedClassifier(), for: "home")
        XCTAssertEqual(machine.handle(ranging(-60, at: 1)), [], "off")
        XCTAssertEqual(machine.rooms, [:])
        machine.start()
        XCTAssertEqual(machine.handle(ranging(-60, at: 2, of: "shop")), [], "no classifier")
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 3))), ["enter home den", "current home den"])
        machine.insert(nil, for: "home")
        XCTAssertEqual(machine.handle(ranging(-60, at: 4)), [], "taken away")
    }

    func testNothingIsEmittedWithoutTraining() {
        var machine = started()
        machine.insert(AdaptiveClassifier(RoomTrainingSet()), for: "home")
        XCTAssertEqual(machine.handle(ranging(-60, at: 1)), [])
    }

    func testAChangeOfRoomIsExitThenEnterThenCurrent() {
        var machine = started()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 1))), ["enter home den", "current home den"])
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 2))), ["current home den"])
        let events = machine.handle(ranging(-70, at: 3))
        XCTAssertEqual(text(events), ["exit home den", "enter home bath", "current home bath"])
        XCTAssertEqual(events.map(\.probability), [0.25, 0.75, 0.75])
        XCTAssertEqual(events.map(\.instant.seconds), [3, 3, 3])
        XCTAssertEqual(machine.rooms, ["home": "bath"])
    }

    func testTwoBeaconsGiveNoEvent() {
        var machine = started()
        XCTAssertEqual(machine.handle(ranging(-60, at: 1, beacons: 2)), [])
        XCTAssertEqual(machine.handle(ranging(-60, at: 2)).count, 2)
        XCTAssertEqual(machine.handle(ranging(-70, at: 3, beacons: 2)), [], "no current one either")
        XCTAssertEqual(machine.rooms, ["home": "den"])
    }

    func testNoneOfTheRoomsIsAnExitWithoutAnEntry() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        XCTAssertEqual(text(machine.handle(ranging(-90, at: 2))), ["exit home den"])
        XCTAssertEqual(machine.handle(ranging(-90, at: 3)), [])
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 4))), ["enter home den", "current home den"])
    }

    func testTwoRegionsAtOnceKeepSeparateRooms() {
        var machine = started()
        machine.insert(ScriptedClassifier(rooms: [-60: "shelf"]), for: "shop")
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 1))), ["enter home den", "current home den"])
        XCTAssertEqual(
            text(machine.handle(ranging(-60, at: 1, of: "shop"))), ["enter shop shelf", "current shop shelf"])
        XCTAssertEqual(
            text(machine.handle(ranging(-70, at: 2)).prefix(2).map { $0 }), ["exit home den", "enter home bath"])
        XCTAssertEqual(machine.rooms, ["home": "bath", "shop": "shelf"])
        _ = machine.handle(exit("home", at: 3))
        XCTAssertEqual(machine.rooms, ["shop": "shelf"])
    }

    func testLeavingTheRegionLeavesTheRoom() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        let events = machine.handle(exit("home", at: 40))
        XCTAssertEqual(text(events), ["exit home den"])
        XCTAssertEqual(events[0].instant.seconds, 40)
        XCTAssertEqual(machine.handle(exit("home", at: 41)), [], "it was left")
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 50))), ["enter home den", "current home den"])
    }

    func testAForgottenRoomIsEnteredAgainWithoutAnExit() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        machine.forget()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 2))), ["enter home den", "current home den"])
    }

    func testARestartEntersTheRoomAgainAndAStopEmitsNothing() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        machine.stop()
        XCTAssertEqual(machine.handle(ranging(-70, at: 2)), [])
        XCTAssertEqual(machine.handle(exit("home", at: 3)), [])
        machine.start()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 4))), ["enter home den", "current home den"])
        machine.start()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 5))), ["enter home den", "current home den"])
    }

    func testTheMachineAppliesTheChangeRule() {
        var machine = started(RoomSettings(changeRule: .inARow, changeCount: 3))
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 1))), ["enter home den", "current home den"])
        XCTAssertEqual(text(machine.handle(ranging(-70, at: 2))), ["current home den"])
        XCTAssertEqual(text(machine.handle(ranging(-70, at: 3))), ["current home den"])
        XCTAssertEqual(
            text(machine.handle(ranging(-70, at: 4))), ["exit home den", "enter home bath", "current home bath"])
        XCTAssertEqual(machine.estimate(in: "home")?.room, "bath")
    }
}
