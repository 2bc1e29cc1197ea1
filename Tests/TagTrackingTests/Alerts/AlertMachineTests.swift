import IndoorVocabulary
import TagTracking
import XCTest

final class AlertMachineTests: XCTestCase {
    private let leaves = #"[{"name": "A", "when": "leaves", "room": "Ward", "tags": "Cart"}]"#
    private let enters = #"[{"name": "A", "when": "enters", "room": "Ward", "tags": "*"}]"#
    private let silent = #"[{"name": "A", "when": "silent", "silence": 30, "tags": "Cart"}]"#

    // MARK: Areas

    func testATagThatLeavesRaisesAnAlertUntilItReturns() throws {
        var stage = try AlertStage(leaves)
        stage.stay(5, during: 0..<20)
        stage.stay(15, during: 20..<40)
        stage.stay(5, during: 40..<60)
        XCTAssertEqual(stage.log, ["30 raised A Cart", "50 cleared A Cart"])
        XCTAssertEqual(stage.events.map(\.since), [20, 40].map(AlertStage.instant))
        XCTAssertEqual(stage.events.map(\.area), ["Ward", "Ward"])
        XCTAssertEqual(stage.events[0].position?.x, 15)
        XCTAssertEqual(stage.events[1].alert, stage.events[0].id)
        XCTAssertNotEqual(stage.events[1].id, stage.events[0].id)
    }

    func testATrainedRoomWithoutAFloorPlanIsAnArea() throws {
        let venue = TagRoom.venue(["Attic", "Kitchen"])
        let text = #"[{"name": "A", "when": "leaves", "room": "Kitchen", "tags": "Cart"}]"#
        let rules = try AlertRules(json: Array(text.utf8), venue: venue, register: AlertStage.register)
        var machine = AlertMachine(rules: rules, register: AlertStage.register, epoch: 1)
        var states: [String] = []
        for second in 0..<60 {
            let instant = AlertStage.instant(Double(second))
            let label = second < 20 ? "Kitchen" : second < 40 ? nil : "Kitchen"
            let output = FleetOutput(
                tag: AlertStage.cart, epoch: 1, sequence: UInt64(second + 1), instant: instant,
                content: .room(TagRoom(instant: instant, label: label, rooms: [], none: 0)))
            states += machine.handle(.outputs([output]), at: instant).map { "\(second) \($0.state.rawValue)" }
        }
        XCTAssertEqual(states, ["30 raised", "50 cleared"])
    }

    func testATagThatWasNeverInsideLeavesNothing() throws {
        var stage = try AlertStage(leaves)
        stage.stay(15, during: 0..<60)
        // A look into the ward that is shorter than the dwell time.
        stage.stay(5, during: 60..<68)
        stage.stay(15, during: 68..<120)
        XCTAssertEqual(stage.log, [])
    }

    func testATagBesideAWallRaisesNoAlert() throws {
        for text in [leaves, enters] {
            var stage = try AlertStage(text)
            stage.stay(text == leaves ? 5 : 15, during: 0..<20)
            for second in stride(from: 20, to: 200, by: 10) {
                stage.stay(9.9, during: second..<second + 5)
                stage.stay(10.1, during: second + 5..<second + 10)
            }
            XCTAssertEqual(stage.log, [], text)
        }
    }

    func testATagThatEntersRaisesAnAlertAfterTheDwellTime() throws {
        var stage = try AlertStage(#"[{"name": "A", "when": "enters", "fence": "Yard", "tags": "*", "after": 3}]"#)
        stage.stay(15, during: 0..<5)
        stage.stay(25, during: 5..<20)
        stage.stay(15, during: 20..<30)
        stage.stay(25, AlertStage.lift, during: 30..<40)
        XCTAssertEqual(stage.log, ["8 raised A Cart", "23 cleared A Cart", "33 raised A Trolley 1"])
    }

    func testATagThatIsFirstSeenInsideEnters() throws {
        var stage = try AlertStage(enters)
        stage.stay(5, during: 0..<20)
        XCTAssertEqual(stage.log, ["10 raised A Cart"])
    }

    func testAMapIsAnArea() throws {
        var stage = try AlertStage(
            #"[{"name": "A", "when": "enters", "map": "Upper", "tags": "Trolley *", "after": 0}]"#)
        stage.stay(5, map: 2, during: 0..<5)
        stage.stay(5, map: 1, AlertStage.lift, during: 0..<5)
        stage.stay(5, map: 2, AlertStage.lift, during: 5..<8)
        XCTAssertEqual(stage.log, ["5 raised A Trolley 1"])
    }

    func testATagThatBecomesAwayHasLeftAllAreas() throws {
        var stage = try AlertStage(leaves)
        stage.stay(5, during: 0..<20)
        stage.wait(during: 20..<80)
        XCTAssertEqual(stage.log, [], "a tag that isn't heard stays where it was")
        stage.handle(.listening(true), at: 79)
        stage.handle(.outputs([stage.output(.away, at: 80)]), at: 80)
        stage.wait(during: 80..<95)
        stage.handle(.outputs([stage.output(.present, at: 100)]), at: 100)
        stage.stay(5, during: 100..<115)
        XCTAssertEqual(stage.log, ["90 raised A Cart", "110 cleared A Cart"])
    }

    func testATagLeavesNoAreaWhileNoMessageArrives() throws {
        var stage = try AlertStage(leaves)
        stage.handle(.listening(true), at: 0)
        stage.stay(5, during: 0..<20)
        // The tag becomes away before the loss of the connection is noticed, or after it.
        for (away, loss) in [(80, 85), (200, 150)] {
            stage.wait(during: away - 60..<min(away, loss))
            if away == 200 { stage.stay(15, during: loss - 1..<loss) }
            for second in min(away, loss)...max(away, loss) {
                if second == away { stage.handle(.outputs([stage.output(.away, at: Double(away))]), at: Double(away)) }
                if second == loss { stage.handle(.listening(false), at: Double(loss)) }
                stage.handle(.tick, at: Double(second))
            }
            stage.wait(during: max(away, loss)..<away + 40)
            XCTAssertEqual(stage.log, [])
            stage.handle(.listening(true), at: Double(away) + 40)
            stage.wait(during: away + 40..<away + 50)
            XCTAssertEqual(stage.log, [], "its dwell time begins again")
            if away == 80 { stage.stay(5, during: away + 50..<away + 60) }
        }
        stage.handle(.tick, at: 250)
        XCTAssertEqual(stage.log, ["250 raised A Cart"])
    }

    func testAClockThatIsSetForwardRaisesNoAlert() throws {
        let text = String(leaves.dropLast()) + #", {"name": "B", "when": "silent", "silence": 30, "tags": "Cart"}]"#
        var stage = try AlertStage(text)
        stage.handle(.listening(true), at: 0)
        stage.stay(5, during: 0..<20)
        stage.handle(.heard([AlertStage.cart: AlertStage.instant(20)]), at: 20)
        stage.stay(15, during: 20..<25)
        stage.machine.move(by: .seconds(7_200))
        stage.stay(15, during: 7_225..<7_230)
        XCTAssertEqual(stage.log, [])
        stage.stay(15, during: 7_230..<7_251)
        XCTAssertEqual(stage.log, ["7230 raised A Cart", "7250 raised B Cart"])
        XCTAssertEqual(stage.events.map(\.since), [AlertStage.instant(7_220), AlertStage.instant(7_220)])
        // Those that last are as old as before.
        stage.machine.move(by: .seconds(1_000))
        XCTAssertEqual(stage.machine.activeAlerts.map(\.since), [AlertStage.instant(8_220), AlertStage.instant(8_220)])
    }

    func testAnAlertOfAStateOfTheFutureEnds() throws {
        var first = try AlertStage(silent)
        first.handle(.listening(true), at: 10_000)
        first.wait(during: 10_000..<10_031)
        XCTAssertEqual(first.log, ["10030 raised A Cart"])
        var second = try AlertStage(silent, epoch: 2)
        XCTAssertEqual(try second.machine.restore(first.machine.snapshot(), at: AlertStage.instant(0)), [])
        second.handle(.heard([AlertStage.cart: AlertStage.instant(1)]), at: 1)
        XCTAssertEqual(second.log, ["1 cleared A Cart"])
    }

    func testOnePositionOutsideBeforeASilenceRaisesNoAlert() throws {
        var stage = try AlertStage(leaves)
        stage.stay(5, during: 0..<20)
        stage.stay(15, during: 20..<21)
        stage.wait(during: 21..<60)
        stage.stay(5, during: 60..<80)
        XCTAssertEqual(stage.log, [])
    }

    func testReplayedOutputsHaveNoEffect() throws {
        var stage = try AlertStage(
            #"[{"name": "A", "when": "leaves", "room": "Ward", "tags": "Cart", "after": 0}]"#)
        let old = stage.output(AlertStage.position(15, at: 0), at: 0)
        stage.stay(5, during: 1..<5)
        for second in 5..<8 { stage.handle(.outputs([old]), at: Double(second)) }
        XCTAssertEqual(stage.log, [])
        stage.stay(15, during: 8..<10)
        XCTAssertEqual(stage.log, ["8 raised A Cart"])
    }

    func testAnAlertIsRepeatedOnlyIfTheRuleAsks() throws {
        var stage = try AlertStage(
            #"[{"name": "A", "when": "enters", "room": "Ward", "tags": "*", "after": 0, "repeat": 15}]"#)
        stage.stay(5, during: 0..<40)
        XCTAssertEqual(stage.log, ["0 raised A Cart", "15 repeated A Cart", "30 repeated A Cart"])
        XCTAssertEqual(Set(stage.events.map(\.alert)).count, 1)
        XCTAssertEqual(Set(stage.events.map(\.id)).count, 3)
    }

    // MARK: Silence

    func testATagThatIsNotHeardRaisesAnAlertUntilItIsHeard() throws {
        var stage = try AlertStage(silent)
        stage.handle(.listening(true), at: 0)
        stage.handle(.heard([AlertStage.cart: AlertStage.instant(10)]), at: 10)
        stage.wait(during: 10..<60)
        stage.handle(.heard([AlertStage.cart: AlertStage.instant(10)]), at: 60)
        stage.handle(.heard([AlertStage.cart: AlertStage.instant(61)]), at: 61)
        XCTAssertEqual(stage.log, ["40 raised A Cart", "61 cleared A Cart"])
        XCTAssertEqual(stage.events[0].since, AlertStage.instant(10))
    }

    func testATagOfTheRegisterThatWasNeverHeardIsSilent() throws {
        var stage = try AlertStage(silent)
        stage.wait(during: 0..<100)
        XCTAssertEqual(stage.log, [], "no message arrives at all")
        stage.handle(.listening(true), at: 100)
        stage.wait(during: 100..<140)
        XCTAssertEqual(stage.log, ["130 raised A Cart"])
    }

    func testALostConnectionMakesNoTagSilent() throws {
        var stage = try AlertStage(silent)
        stage.handle(.listening(true), at: 0)
        stage.handle(.heard([AlertStage.cart: AlertStage.instant(10)]), at: 10)
        stage.handle(.listening(false), at: 12)
        stage.wait(during: 12..<300)
        stage.handle(.listening(true), at: 300)
        stage.wait(during: 300..<340)
        XCTAssertEqual(stage.log, ["330 raised A Cart"])
    }

    // MARK: Batteries

    func testALowBatteryRaisesAnAlertUntilItIsChanged() throws {
        var stage = try AlertStage(#"[{"name": "A", "when": "batteryLow", "percent": 20, "volts": 2.5, "tags": "*"}]"#)
        for (second, battery) in [
            (0, TagBattery(percent: 21)), (1, TagBattery(percent: 19)), (2, TagBattery(percent: 18)),
            // The level varies with the temperature.
            (3, TagBattery(percent: 22)), (4, TagBattery(percent: 100)),
            (5, TagBattery(percent: 90, millivolts: 2_499)),
            (6, TagBattery(percent: 90, millivolts: 2_550)), (7, TagBattery(percent: 90, millivolts: 2_600)),
        ] {
            stage.handle(.batteries([AlertStage.cart: battery]), at: Double(second))
        }
        stage.handle(.batteries([AlertStage.lift: TagBattery(millivolts: 2_600)]), at: 8)
        XCTAssertEqual(
            stage.log, ["1 raised A Cart", "4 cleared A Cart", "5 raised A Cart", "7 cleared A Cart"])
        XCTAssertEqual(stage.events[0].battery, TagBattery(percent: 19))
    }

    func testAFullBatteryEndsAnAlertAlsoOfAHighLimit() throws {
        var stage = try AlertStage(#"[{"name": "A", "when": "batteryLow", "percent": 98, "tags": "*"}]"#)
        for (second, percent) in [97, 99, 100].enumerated() {
            stage.handle(.batteries([AlertStage.cart: TagBattery(percent: UInt8(percent))]), at: Double(second))
        }
        XCTAssertEqual(stage.log, ["0 raised A Cart", "2 cleared A Cart"])
    }

    func testARuleOrARegisterThatBeginsToSelectATagSeesItsLevel() throws {
        let rules = try AlertStage.rules(#"[{"name": "B", "when": "batteryLow", "percent": 20, "tags": "*"}]"#)
        let lift = TagRegister([.init(key: AlertStage.lift, name: "Trolley 1")])
        var stage = try AlertStage(leaves, register: AlertStage.register)
        stage.handle(
            .batteries([AlertStage.cart: TagBattery(percent: 5), AlertStage.lift: TagBattery(percent: 6)]), at: 0)
        stage.handle(.use(rules, lift), at: 1)
        XCTAssertEqual(stage.log, ["1 raised B Trolley 1"])
        XCTAssertEqual(stage.events.first?.battery, TagBattery(percent: 6))
        stage.handle(.use(rules, AlertStage.register), at: 2)
        XCTAssertEqual(stage.log, ["1 raised B Trolley 1", "2 raised B Cart"])
        // A tag that leaves the fleet takes its level along.
        stage.handle(.removed([AlertStage.cart]), at: 3)
        stage.handle(.use(rules, AlertStage.register), at: 4)
        XCTAssertEqual(stage.log.dropFirst(2), ["3 cleared B Cart tagRemoved"])
    }

    // MARK: Determinism

    private let many = (0..<60).map { TagKey.name("tag \($0)") }

    func testTagsThatAreSilentAtOnceRaiseAlertsInTheOrderOfTheirKeys() throws {
        let text = #"[{"name": "A", "when": "silent", "silence": 30, "tags": "*"}]"#
        let register = TagRegister(many.map { .init(key: $0) })
        var stage = try AlertStage(text, register: register)
        stage.handle(.listening(true), at: 0)
        stage.handle(.tick, at: 30)
        XCTAssertEqual(stage.events.map(\.tag), many.sorted())
        XCTAssertEqual(stage.events.map(\.id), (1...60).map { "1-\($0)" })
        // Those that the register selects again in another order have the same order.
        var other = try AlertStage(text, register: TagRegister([.init(key: many[40])]))
        other.handle(.use(other.machine.rules, register), at: 0)
        other.handle(.listening(true), at: 0)
        other.handle(.tick, at: 30)
        XCTAssertEqual(other.events.map(\.tag), many.sorted())
    }

    func testARuleThatIsAddedRaisesAlertsInTheOrderOfTheirKeys() throws {
        let register = TagRegister(many.map { .init(key: $0) })
        let rules = try AlertStage.rules(
            #"[{"name": "B", "when": "batteryLow", "percent": 20, "tags": "*"}]"#, register: register)
        var stage = try AlertStage(enters, register: register)
        for tag in many { stage.handle(.batteries([tag: TagBattery(percent: 5)]), at: 0) }
        stage.handle(.use(rules, register), at: 1)
        XCTAssertEqual(stage.events.map(\.tag), many.sorted())
    }

    func testASnapshotDoesNotDependOnTheOrderOfItsTags() throws {
        func snapshot(_ tags: [TagKey]) throws -> [UInt8] {
            var stage = try AlertStage(
                #"[{"name": "A", "when": "leaves", "room": "Ward", "tags": "*", "after": 0}]"#,
                register: TagRegister(many.map { .init(key: $0) }))
            for tag in tags { stage.stay(5, tag, during: 0..<1) }
            return stage.machine.snapshot()
        }
        XCTAssertEqual(try snapshot(many), try snapshot(many.reversed()))
    }

    // MARK: Changes and restarts

    func testATagThatLeavesTheRegisterEndsItsAlert() throws {
        var stage = try AlertStage(enters)
        stage.stay(5, during: 0..<12)
        stage.stay(5, AlertStage.lift, during: 12..<24)
        let register = TagRegister([.init(key: AlertStage.lift, name: "Trolley 1")])
        stage.handle(.removed([AlertStage.cart]), at: 24)
        stage.handle(.use(stage.machine.rules, register), at: 24)
        XCTAssertEqual(
            stage.log, ["10 raised A Cart", "22 raised A Trolley 1", "24 cleared A Cart tagRemoved"])
        XCTAssertEqual(stage.machine.activeAlerts.map(\.tag), [AlertStage.lift])
    }

    func testOtherRulesKeepTheAlertsOfThoseThatStay() throws {
        var stage = try AlertStage(enters)
        stage.stay(5, during: 0..<12)
        let more = #"[{"name": "B", "when": "enters", "map": "Ground", "tags": "*"}, \#(enters.dropFirst())"#
        stage.handle(.use(try AlertStage.rules(more), AlertStage.register), at: 12)
        stage.stay(5, during: 12..<30)
        let other = enters.replacing("Ward", with: "Hall")
        stage.handle(.use(try AlertStage.rules(other), AlertStage.register), at: 30)
        XCTAssertEqual(
            stage.log,
            ["10 raised A Cart", "22 raised B Cart", "30 cleared B Cart ruleRemoved", "30 cleared A Cart ruleRemoved"],
            "\(stage.log)")
    }

    func testAnAlertLastsOverARestartAndIsNotRaisedAgain() throws {
        var first = try AlertStage(leaves)
        first.stay(5, during: 0..<20)
        first.stay(15, during: 20..<40)
        XCTAssertEqual(first.log, ["30 raised A Cart"])
        let snapshot = first.machine.snapshot()

        var second = try AlertStage(leaves, epoch: 2)
        XCTAssertEqual(try second.machine.restore(snapshot, at: AlertStage.instant(100)), [])
        second.machine.begin(with: [first.output(AlertStage.position(15, at: 40), at: 40)])
        XCTAssertEqual(second.machine.activeAlerts.map(\.id), [first.events[0].id])
        second.stay(15, during: 100..<130)
        second.stay(5, during: 130..<150)
        XCTAssertEqual(second.log, ["140 cleared A Cart"])
        XCTAssertEqual(second.events[0].alert, first.events[0].id)
    }

    func testATagThatLeavesWhileTheProgramIsDownRaisesAnAlert() throws {
        var first = try AlertStage(leaves)
        first.stay(5, during: 0..<20)
        var second = try AlertStage(leaves, epoch: 2)
        second.machine.begin(with: [first.output(AlertStage.position(5, at: 20), at: 20)])
        second.stay(15, during: 500..<520)
        XCTAssertEqual(second.log, ["510 raised A Cart"])
    }

    func testAnAlertWhoseRuleHasGoneEndsAtTheStart() throws {
        var first = try AlertStage(enters)
        first.stay(5, during: 0..<20)
        let other = try AlertStage(leaves, epoch: 2)
        var machine = other.machine
        let events = try machine.restore(first.machine.snapshot(), at: AlertStage.instant(30))
        XCTAssertEqual(events.map(\.state), [.cleared])
        XCTAssertEqual(events.map(\.reason), [.ruleRemoved])
        XCTAssertEqual(events.map(\.alert), [first.events[0].id])
    }

    func testADamagedSnapshotChangesNothing() throws {
        var stage = try AlertStage(enters)
        stage.stay(5, during: 0..<20)
        let bytes = stage.machine.snapshot()
        let fresh = try AlertStage(enters, epoch: 2).machine
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x41
            var machine = fresh
            XCTAssertThrowsError(try machine.restore(damaged, at: AlertStage.instant(30)))
            XCTAssertTrue(machine.activeAlerts.isEmpty)
        }
    }

    func testEachVoltageIsTheSameAfterItsJSON() throws {
        var event = AlertEvent(
            id: "1-1", alert: "1-1", state: .raised, rule: "A", condition: .batteryLow, tag: AlertStage.cart,
            instant: AlertStage.start, since: AlertStage.start)
        for millivolts in UInt16(1_600)...3_700 {
            event.battery = TagBattery(millivolts: millivolts)
            XCTAssertEqual(try AlertEvent(json: event.jsonBytes).battery?.millivolts, millivolts)
        }
    }

    func testAnEventIsTheSameAfterItsJSON() throws {
        var stage = try AlertStage(#"[{"name": "A", "when": "enters", "room": "Ward", "tags": "*", "after": 0}]"#)
        stage.handle(.batteries([AlertStage.cart: TagBattery(percent: 80, millivolts: 2_900)]), at: 0)
        stage.stay(5, during: 0..<1)
        let event = try XCTUnwrap(stage.events.first)
        XCTAssertEqual(try AlertEvent(json: event.jsonBytes), event)
        XCTAssertEqual(
            event.json,
            #"{"type":"alert","id":"1-1","alert":"1-1","state":"raised","rule":"A","when":"enters","area":"Ward","#
                + #""tag":"C3:00:00:12:AB:01","name":"Cart","time":"2026-11-22T09:00:00.000Z","#
                + #""since":"2026-11-22T09:00:00.000Z","position":{"time":"2026-11-22T09:00:00.000Z","venueId":7,"#
                + #""mapId":1,"x":5.000,"y":5.000,"radius":1.000},"battery":{"percent":80,"volts":2.900}}"#)
    }
}
