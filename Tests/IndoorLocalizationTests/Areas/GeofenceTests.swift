import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Fences that the application draws while a session is on.
final class GeofenceTests: XCTestCase {
    private func fence(
        _ id: String, at x: Double = 5, radius: Double = 3, map: MapID? = nil, timeout: Duration? = nil
    ) -> Geofence {
        Geofence(
            id: id, shape: .area(.circle(center: MapPoint(x: x, y: 5), radius: radius)), mapID: map, timeout: timeout)
    }

    /// The office without areas of its own, entered at second 10, with positions each half second.
    private func session(_ georeference: Georeference? = nil, dwell: Duration = .zero) -> Machine {
        var venue = SessionStage.office
        (venue.rooms, venue.fences) = ([], [])
        for index in venue.maps.indices { venue.maps[index].georeference = georeference }
        var settings = LocalizationSettings()
        settings.areaDwell = dwell
        var machine = SessionStage.machine(settings)
        for event in [
            .start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 10)), .packet(1, venue),
            .reading(SessionStage.fix(10, 20, 20, at: 10)), .tick,
        ] as [Machine.Event] {
            _ = machine.handle(event, at: 10)
        }
        return machine
    }

    /// Has the device be at a place from that second on for 3 s; returns what it entered and left, by identifier.
    private func go(_ machine: inout Machine, to x: Double, map: MapID = 10, at seconds: Double) -> [String] {
        var directives = machine.handle(.reading(SessionStage.fix(map, x, 5, at: seconds)), at: seconds)
        directives += machine.handle(.reading(SessionStage.heard(1, at: seconds)), at: seconds)
        directives += machine.pass(to: seconds + 3)
        return directives.compactMap(\.event).map { ($0.isEntry ? "+" : "-") + ($0.geofence?.id ?? "?") }
    }

    private func watch(_ machine: inout Machine, _ change: GeofenceChange, at seconds: Double) {
        XCTAssertTrue(machine.handle(.monitor(change), at: seconds).isEmpty)
    }

    func testAGeofenceIsEnteredAndLeftOnceEach() {
        var machine = session()
        watch(&machine, .start([fence("desk")]), at: 10.2)
        var told: [String] = []
        for (turn, x) in [20.0, 5, 6, 4, 20, 30, 20].enumerated() {
            told += go(&machine, to: x, at: 11 + 4 * Double(turn))
        }
        XCTAssertEqual(told, ["+desk", "-desk"])
    }

    func testAGeofenceReplacesOneWithTheSameIdentifier() {
        var machine = session()
        watch(&machine, .start([fence("desk"), fence("door", at: 30)]), at: 10.2)
        XCTAssertEqual(go(&machine, to: 5, at: 11), ["+desk"])
        watch(&machine, .start([fence("desk", at: 20)]), at: 14.2)
        XCTAssertEqual(machine.monitoredGeofences.map(\.id), ["desk", "door"])
        XCTAssertEqual(go(&machine, to: 5, at: 15), ["-desk"], "the device is not in the one that took its place")
        XCTAssertEqual(go(&machine, to: 20, at: 19), ["+desk"])
        var larger = fence("desk", at: 20, radius: 6)
        larger.payload = .string("new")
        watch(&machine, .start([larger]), at: 22.2)
        XCTAssertEqual(go(&machine, to: 24, at: 23), [], "still inside")
        _ = machine.handle(.reading(SessionStage.fix(10, 38, 5, at: 27)), at: 27)
        XCTAssertEqual(machine.pass(to: 29).compactMap(\.event?.geofence?.payload), [.string("new")])
    }

    func testStoppingAnUnknownGeofenceHasNoEffect() {
        var machine = session()
        watch(&machine, .start([fence("desk")]), at: 10.2)
        watch(&machine, .stop(["door"]), at: 10.4)
        XCTAssertEqual(go(&machine, to: 5, at: 11), ["+desk"])
        watch(&machine, .stop(["door"]), at: 14.4)
        XCTAssertEqual(go(&machine, to: 20, at: 15), ["-desk"])
    }

    func testAStoppedGeofenceReportsNoExit() {
        for change in [GeofenceChange.stop(["desk"]), .stopAll] {
            var machine = session()
            watch(&machine, .start([fence("desk"), fence("door", at: 30)]), at: 10.2)
            XCTAssertEqual(go(&machine, to: 5, at: 11), ["+desk"])
            watch(&machine, change, at: 14.2)
            XCTAssertEqual(go(&machine, to: 20, at: 15), [])
            watch(&machine, .start([fence("desk")]), at: 18.2)
            XCTAssertEqual(go(&machine, to: 5, at: 19), ["+desk"], "started anew, it is entered anew")
            watch(&machine, .stop(["desk"]), at: 22.2)
            XCTAssertEqual(machine.handle(.stop, at: 22.4).compactMap(\.event), [], "nor at the end of the session")
        }
    }

    func testWithoutAFloorAGeofenceIsOnEveryFloor() {
        for (map, expected) in [(nil, [[], []]), (10, [["-desk"], ["+desk"]])] as [(MapID?, [[String]])] {
            var machine = session()
            watch(&machine, .start([fence("desk", map: map)]), at: 10.2)
            XCTAssertEqual(go(&machine, to: 5, at: 11), ["+desk"])
            var told = [[String]]()
            for (turn, floor) in [MapID(11), 10].enumerated() {
                told.append(go(&machine, to: 5, map: floor, at: 15 + 20 * Double(turn)))
                for second in 1...4 {
                    told[turn] += go(&machine, to: 5, map: floor, at: 15 + 20 * Double(turn) + 4 * Double(second))
                }
            }
            XCTAssertEqual(told, expected, "on \(map?.description ?? "every floor")")
        }
    }

    func testAGeofenceOnEarthIsEnteredOnThePlan() throws {
        let georeference = Georeference.center(Coordinate(latitude: 52, longitude: 13), bearing: 30)
        var machine = session(georeference)
        let transform = try GeoTransform(georeference, width: 40, height: 30)
        let corners = [(2.0, 2.0), (8, 2), (8, 8), (2, 8)].map { transform.coordinate(at: MapPoint(x: $0.0, y: $0.1)) }
        watch(
            &machine,
            .start([
                Geofence(id: "clockwise", shape: .polygon(corners)),
                Geofence(id: "counter", shape: .polygon(corners.reversed())),
            ]), at: 10.2)
        XCTAssertEqual(go(&machine, to: 5, at: 11), ["+clockwise", "+counter"])
        XCTAssertEqual(go(&machine, to: 9, at: 15), ["-clockwise", "-counter"])
    }

    func testGeofencesFollowTheRulesOfFences() {
        var machine = session(dwell: .seconds(2))
        var slow = fence("slow")
        (slow.exitDelay, slow.exitMargin) = (.seconds(6), 2)
        watch(&machine, .start([fence("shy", timeout: .seconds(60)), slow]), at: 10.2)
        XCTAssertEqual(go(&machine, to: 5, at: 11), ["+shy", "+slow"])
        XCTAssertEqual(go(&machine, to: 9, at: 15), ["-shy"], "within the margin of the other")
        XCTAssertEqual(go(&machine, to: 20, at: 19), [], "within its delay")
        XCTAssertEqual(go(&machine, to: 20, at: 23), ["-slow"])
        XCTAssertEqual(go(&machine, to: 5, at: 27), ["+slow"], "the other holds off")
    }

    func testGeofencesRemainActiveInTheNextSession() {
        var machine = session()
        watch(&machine, .start([fence("desk")]), at: 10.2)
        XCTAssertEqual(go(&machine, to: 5, at: 11), ["+desk"])
        let left = machine.handle(.stop, at: 14.2).compactMap(\.event)
        XCTAssertEqual(left.map(\.geofence?.id), ["desk"], "the end of a session leaves all")
        XCTAssertEqual(left.map(\.isEntry), [false])
        for event in [
            .start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 20)),
            .packet(1, SessionStage.office),
        ] as [Machine.Event] {
            _ = machine.handle(event, at: 20)
        }
        var told: [String?] = []
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 20)), at: 20)
        told += machine.pass(to: 23).compactMap(\.event).map(\.geofence?.id)
        XCTAssertEqual(told, [nil, nil, "desk"], "a room, a fence of the venue, and it")
    }

    func testAReplayRejectsAGeofenceThatEnclosesNothing() {
        var replay = SessionReplay(venues: [SessionStage.office])
        XCTAssertThrowsError(try replay.startMonitoring([fence("desk"), fence("none", radius: 0)])) { error in
            XCTAssertEqual(error as? GeofenceError, .outOfRange(id: "none", field: "the radius"))
        }
    }

    func testGeofencesMayBeStartedBeforeTheSession() {
        var machine = SessionStage.machine()
        watch(&machine, .start([fence("desk"), fence("door", at: 30)]), at: 0)
        watch(&machine, .stop(["door"]), at: 0)
        XCTAssertEqual(machine.state, .idle)
        XCTAssertEqual(machine.monitoredGeofences.map(\.id), ["desk"])
    }

    func testAFloorPlanLocalizerMonitorsGeofences() {
        var stage = FloorPlanLocalizerMachineStage()
        XCTAssertTrue(stage.handle(.monitor(.start([fence("desk")])), at: 0).isEmpty)
        stage.run()
        _ = stage.handle(.monitor(.start([fence("door", at: 20, radius: 20)])), at: 10.2)
        func told(_ directives: [FloorPlanLocalizerMachineStage.Machine.Directive]) -> [String] {
            directives.compactMap { directive in
                guard case .emitEvent(let event) = directive else { return nil }
                return event.geofence.map { (event.isEntry ? "+" : "-") + $0.id }
            }
        }
        _ = stage.handle(.reading(.fix(FloorPlanLocalizerMachineStage.fix(5, 5)), delay: .zero), at: 10.7)
        XCTAssertEqual(told(stage.hear(at: 10.8) + stage.pass(to: 13.5)), ["+desk", "+door"])
        XCTAssertEqual(told(stage.handle(.stop, at: 13.6)), ["-desk", "-door"])
    }

    /// What it costs is in `indoorloc bench`; here, that no area far off is asked.
    func testTenThousandGeofencesReportTheEventsOfOne() {
        var machine = session()
        watch(
            &machine,
            .start((0..<10_000).map { fence("\($0)", at: 100 + 10 * Double($0)) } + [fence("desk")]), at: 10.2)
        XCTAssertEqual(go(&machine, to: 5, at: 11), ["+desk"])
        XCTAssertEqual(go(&machine, to: 1_100, at: 15), ["-desk", "+100"])
        XCTAssertEqual(go(&machine, to: 5, at: 19), ["-100", "+desk"])
    }
}
