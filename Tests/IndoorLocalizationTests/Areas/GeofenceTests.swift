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

/// What a geofence encloses, on Earth and on plans.
final class GeofenceShapeTests: XCTestCase {
    /// An L around (52, 13): 0.001° is 111 m to the north and 68 m to the east.
    private let corners = [
        (52.0, 13.0), (52.002, 13.0), (52.002, 13.001), (52.001, 13.001), (52.001, 13.002), (52.0, 13.002),
    ].map { Coordinate(latitude: $0.0, longitude: $0.1) }

    private func contains(_ corners: [Coordinate], _ latitude: Double, _ longitude: Double) -> Bool? {
        Geofence(id: "L", shape: .polygon(corners))
            .contains(Coordinate(latitude: latitude, longitude: longitude))
    }

    func testAPolygonOnEarthContainsTheSamePointsClockwiseAndCounterClockwise() {
        for (latitude, longitude, expected) in [
            (52.0005, 13.0005, true), (52.0015, 13.0005, true), (52.0005, 13.0015, true), (52.0015, 13.0015, false),
            (51.9995, 13.0005, false), (52.0005, 13.0025, false), (-52.0005, -166.9995, false), (0, 0, false),
        ] {
            XCTAssertEqual(contains(corners, latitude, longitude), expected, "\(latitude), \(longitude)")
            XCTAssertEqual(contains(corners.reversed(), latitude, longitude), expected, "\(latitude), \(longitude)")
        }
    }

    func testAPolygonMayCrossTheDateLine() {
        let square = [(-0.001, 179.999), (0.001, 179.999), (0.001, -179.999), (-0.001, -179.999)]
            .map { Coordinate(latitude: $0.0, longitude: $0.1) }
        XCTAssertEqual(contains(square, 0, 180), true)
        XCTAssertEqual(contains(square, 0, -179.9995), true)
        XCTAssertEqual(contains(square, 0, 179.998), false)
        XCTAssertEqual(contains(square, 0, 0), false)
    }

    func testACircleOnEarthEndsAtItsRadius() {
        let fence = Geofence(id: "c", shape: .circle(center: Coordinate(latitude: 52, longitude: 13), radius: 100))
        // A degree of latitude is 111,267 m at 52°.
        for (metres, expected) in [(99.9, true), (100.1, false), (5_000_000, false)] {
            let place = Coordinate(latitude: 52 - metres / 111_267, longitude: 13)
            XCTAssertEqual(fence.contains(place), expected, "\(metres) m")
        }
        XCTAssertEqual(fence.contains(Coordinate(latitude: .nan, longitude: 13)), false)
    }

    /// A plan of 40 by 30 m whose top points to the east.
    private let map = VenueMap(
        id: 10, name: "ground", level: 0, width: 40, height: 30,
        georeference: .center(Coordinate(latitude: 52, longitude: 13), bearing: 90))

    func testAPlanAndTheEarthAgreeOnWhatIsInside() throws {
        let transform = try XCTUnwrap(map.geoTransform())
        let polygon = [(5.0, 5.0), (30, 8), (22, 25)].map { MapPoint(x: $0.0, y: $0.1) }
        let fences = [
            Geofence(id: "p", shape: .polygon(polygon.map(transform.coordinate(at:)))),
            Geofence(id: "c", shape: .circle(center: transform.coordinate(at: polygon[0]), radius: 7)),
        ]
        var random = RandomAreas(seed: 4)
        print("seed 4")
        for fence in fences {
            var inside = 0
            for _ in 0..<500 {
                let point = random.point(within: 40)
                let isInside = fence.contains(point, on: map, of: 1)
                XCTAssertEqual(fence.contains(transform.coordinate(at: point)), isInside, "\(fence.id): \(point)")
                inside += isInside ? 1 : 0
            }
            XCTAssertGreaterThan(inside, 20)
        }
    }

    func testAGeofenceIsOnItsOwnFloors() {
        var fence = Geofence(id: "a", shape: .area(.circle(center: MapPoint(x: 5, y: 5), radius: 3)))
        let point = MapPoint(x: 5, y: 6)
        XCTAssertTrue(fence.contains(point, on: map, of: 1), "nil is every floor")
        for (venue, mapID, level, expected) in [
            (1, 10, 0, true), (2, 10, 0, false), (1, 11, 0, false), (1, 10, 1, false),
        ] as [(VenueID, MapID, Int, Bool)] {
            (fence.venueID, fence.mapID, fence.level) = (venue, mapID, level)
            XCTAssertEqual(fence.contains(point, on: map, of: 1), expected, "\(venue), \(mapID), \(level)")
        }
        XCTAssertNil(fence.contains(Coordinate(latitude: 52, longitude: 13)), "metres are nowhere on Earth")
    }

    func testAFenceOnEarthIsOnNoPlanWithoutAGeoreference() {
        let plain = VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30)
        let fence = Geofence(id: "c", shape: .circle(center: Coordinate(latitude: 52, longitude: 13), radius: 1e6))
        XCTAssertTrue(fence.contains(MapPoint(x: 5, y: 5), on: map, of: 1))
        XCTAssertFalse(fence.contains(MapPoint(x: 5, y: 5), on: plain, of: 1))
    }

    func testAPointOfInterestIsAFenceWithACoordinateAndAPayload() throws {
        let place = PointOfInterest(
            id: 4, name: "café", mapID: 10, point: MapPoint(x: 20, y: 15), payload: .string("cake"))
        let fence = Geofence(around: place, of: 1, radius: 3)
        XCTAssertEqual(fence.name, "café")
        XCTAssertEqual(fence.payload, .string("cake"))
        XCTAssertEqual(fence.mapID, 10, "a point of interest has a floor")
        XCTAssertTrue(fence.contains(MapPoint(x: 22, y: 15), on: map, of: 1))
        XCTAssertFalse(fence.contains(MapPoint(x: 24, y: 15), on: map, of: 1))
        let venue = Venue(id: 1, name: "office", maps: [map], pointsOfInterest: [place])
        let coordinate = try XCTUnwrap(venue.coordinate(of: place))
        XCTAssertEqual(coordinate.latitude, 52, accuracy: 1e-9)
        XCTAssertEqual(coordinate.longitude, 13, accuracy: 1e-9)
    }

    func testAnInvalidGeofenceHasAProblem() {
        let (place, point) = (Coordinate(latitude: 52, longitude: 13), MapPoint(x: 1, y: 1))
        let bad = Coordinate(latitude: 91, longitude: 13)
        for (shape, problem) in [
            (.polygon([place, place]), .tooFewCorners(id: "f", count: 2)),
            (.area(.polygon([point, point])), .tooFewCorners(id: "f", count: 2)),
            (.polygon([place, place, bad]), .outOfRange(id: "f", field: "a corner")),
            (.area(.polygon([point, point, MapPoint(x: .nan, y: 1)])), .outOfRange(id: "f", field: "a corner")),
            (.circle(center: bad, radius: 1), .outOfRange(id: "f", field: "the centre")),
            (.circle(center: place, radius: 0), .outOfRange(id: "f", field: "the radius")),
            (.area(.circle(center: point, radius: .infinity)), .outOfRange(id: "f", field: "the radius")),
            (.area(.circle(center: MapPoint(x: .nan, y: 1), radius: 1)), .outOfRange(id: "f", field: "the centre")),
            (.area(.circle(center: point, radius: 1)), nil), (.circle(center: place, radius: 1), nil),
        ] as [(Geofence.Shape, GeofenceError?)] {
            XCTAssertEqual(Geofence(id: "f", shape: shape).problem, problem)
        }
        let circle = Geofence.Shape.area(.circle(center: point, radius: 1))
        XCTAssertEqual(Geofence(id: "", shape: circle).problem, .noID)
        XCTAssertEqual(
            Geofence(id: "f", shape: circle, timeout: .seconds(-1)).problem, .outOfRange(id: "f", field: "timeout"))
        XCTAssertEqual(
            Geofence(id: "f", shape: circle, exitDelay: .seconds(-1)).problem,
            .outOfRange(id: "f", field: "exitDelay"))
        XCTAssertEqual(
            Geofence(id: "f", shape: circle, exitMargin: .nan).problem, .outOfRange(id: "f", field: "exitMargin"))
        XCTAssertTrue(GeofenceError.tooFewCorners(id: "door", count: 2).description.contains("\"door\""))
    }
}
