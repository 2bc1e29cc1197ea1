import IndoorLocalization
import XCTest

/// Sessions in which no beacon is ever heard.
final class BeaconlessSessionTests: XCTestCase {
    /// A house of two floors without beacons; the upper plan begins 10 m further right.
    private static let house = Venue(
        id: 5, name: "house", coordinate: Coordinate(latitude: 52, longitude: 13), radius: 100,
        maps: [
            VenueMap(
                id: 10, name: "ground", level: 0, width: 60, height: 60, elevation: 0,
                georeference: .center(Coordinate(latitude: 52, longitude: 13), bearing: 40)),
            VenueMap(id: 11, name: "upper", level: 1, width: 60, height: 60, elevation: 4),
        ],
        beacons: [],
        paths: PathGraph(
            nodes: [
                PathGraph.Node(id: 1, mapID: 10, point: MapPoint(x: 30, y: 20)),
                PathGraph.Node(id: 2, mapID: 11, point: MapPoint(x: 20, y: 20)),
            ],
            edges: [PathGraph.Edge(from: 1, to: 2, kind: .stairs)]))

    private var settings: LocalizationSettings {
        var settings = LocalizationSettings()
        settings.forcedVenue = 5
        settings.positioning.particleCount = 400
        return settings
    }

    private func fix(_ map: MapID = 10, at seconds: Double = 0, isSoft: Bool = false) -> SensorReading {
        .fix(
            Fix(
                instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: 30, y: 30), radius: 1,
                isSoft: isSoft))
    }

    /// Steps of 0.7 m towards the plan's top, two a second.
    private func steps(_ range: Range<Int>) -> [SensorReading] {
        range.map { .step(Step(instant: Instant(seconds: Double($0) / 2), length: 0.7, heading: 0)) }
    }

    /// Samples of a device that rests.
    private func rest(_ range: Range<Int>) -> [SensorReading] {
        range.map {
            .motion(
                MotionSample(
                    instant: Instant(seconds: Double($0)), acceleration: Vector3(x: 0, y: 0, z: 9.81),
                    attitude: Quaternion(w: 1, x: 0, y: 0, z: 0)))
        }
    }

    private func outputs(_ readings: [SensorReading], _ settings: LocalizationSettings, tellsMotion: Bool = false)
        -> [SessionReplay.Output]
    {
        var replay = SessionReplay(venues: [Self.house], settings: settings, tellsMotion: tellsMotion)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        return outputs + replay.finish()
    }

    private func positions(_ outputs: [SessionReplay.Output]) -> [Position] {
        outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    private func states(_ outputs: [SessionReplay.Output]) -> [String] {
        outputs.compactMap { if case .state(let state) = $0.content { state.name } else { nil } }
    }

    func testAFixInTheForcedVenueStartsPositions() throws {
        let told = outputs([fix()] + steps(1..<5), settings)
        XCTAssertEqual(
            states(told),
            ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning", "idle"])
        let first = try XCTUnwrap(positions(told).first)
        XCTAssertEqual(first.mapID, 10)
        XCTAssertLessThan(first.point.distance(to: MapPoint(x: 30, y: 30)), 1)
    }

    func testAFixWithoutAForcedVenueStartsNoPositions() {
        var settings = settings
        settings.forcedVenue = nil
        XCTAssertEqual(positions(outputs([fix()] + steps(1..<20), settings)), [])
    }

    func testStepsMoveThePositionFromTheFixAndTheRadiusGrows() throws {
        let told = positions(outputs([fix()] + steps(1..<41), settings))
        let last = try XCTUnwrap(told.last)
        XCTAssertEqual(last.y, 30 - 28, accuracy: 8, "28 m towards the top; a tenth of the guesses are held otherwise")
        XCTAssertLessThan(last.y, 12)
        let radii = [told[0], told[told.count / 2], last].map(\.radius)
        XCTAssertEqual(radii, radii.sorted())
        XCTAssertGreaterThan(last.radius, 3)
    }

    func testThereIsNoCourseBeforeTheFirstStep() throws {
        let told = positions(outputs([fix()] + rest(1..<10), settings))
        XCTAssertFalse(told.isEmpty)
        XCTAssertEqual(told.compactMap(\.course), [])
        let walked = positions(outputs([fix()] + steps(1..<20), settings))
        let course = try XCTUnwrap(walked.last?.course)
        XCTAssertLessThan(min(course, 360 - course), 15, "towards the plan's top")
    }

    func testMotionKeepsTheVenueWithoutBeacons() {
        let told = outputs([fix()] + rest(1..<120), settings)
        XCTAssertEqual(states(told).filter { $0 == "searchVenue" }.count, 1)
        XCTAssertEqual(positions(told).last?.instant.seconds ?? 0, 119, accuracy: 0.6)
    }

    func testTheVenueIsLostWhenMotionReadingsEnd() throws {
        let told = outputs(
            [fix()] + rest(1..<20) + [.pressure(PressureSample(instant: Instant(seconds: 80), hectopascals: 1000))],
            settings)
        XCTAssertEqual(states(told).suffix(2), ["searchVenue", "idle"], "30 s after the last reading of motion")
        XCTAssertEqual(try XCTUnwrap(positions(told).last).instant.seconds, 49, accuracy: 1)
    }

    func testTheVenueIsLostAfterTheReckoningLimit() {
        var settings = settings
        settings.motion.reckoningLimit = .seconds(60)
        let told = outputs([fix()] + rest(1..<200), settings)
        XCTAssertEqual(
            positions(told).last?.instant.seconds ?? 0, 90, accuracy: 1, "the limit, and the time-out after it")
    }

    func testANewFixRestartsTheReckoningLimit() {
        var settings = settings
        settings.motion.reckoningLimit = .seconds(60)
        let readings = (rest(1..<200) + [fix(at: 50)]).sorted { $0.instant < $1.instant }
        let told = outputs([fix()] + readings, settings)
        XCTAssertEqual(positions(told).last?.instant.seconds ?? 0, 140, accuracy: 1)
    }

    func testASoftFixDoesNotKeepTheVenue() throws {
        let told = outputs([fix(isSoft: true)] + rest(1..<120), settings)
        XCTAssertEqual(try XCTUnwrap(positions(told).last).instant.seconds, 30, accuracy: 1)
        XCTAssertEqual(states(told).suffix(2), ["searchVenue", "idle"])
    }

    func testTheBarometerChangesTheFloorAndTheStairsGiveThePlace() throws {
        var barometer = CarriedBarometer()
        // 14 steps lead from (30, 30) to the stairs at (30, 20).
        var readings = barometer.readings(10)
        let walk = (2..<16).map {
            SensorReading.step(Step(instant: Instant(seconds: Double($0) * 0.6), length: 0.7, heading: 0))
        }
        readings += barometer.readings(12, rate: 4.0 / 12) + barometer.readings(12)
        readings = (readings + walk + rest(1..<34)).sorted { $0.instant < $1.instant }
        let told = positions(outputs([fix()] + readings, settings))
        let last = try XCTUnwrap(told.last)
        XCTAssertEqual(last.mapID, 11)
        XCTAssertLessThan(
            last.point.distance(to: MapPoint(x: 20, y: 20)), 3, "the stairs' upper end on that plan: \(last)")
        let change = try XCTUnwrap(told.first { $0.mapID == 11 })
        XCTAssertLessThan(change.instant.seconds, 22 + 8, "not long after the climb's end")
    }

    func testTheFloorStaysWithoutABarometer() {
        let told = positions(outputs([fix(11)] + rest(1..<600), settings))
        XCTAssertEqual(Set(told.map(\.mapID)), [11])
        XCTAssertGreaterThan(told.last?.floorCertainty ?? 0, 0.9)
    }

    func testTheWeatherDoesNotChangeTheFloor() {
        var barometer = CarriedBarometer()
        let readings = (barometer.readings(900, weather: -0.5 / 3600) + rest(1..<900)).sorted {
            $0.instant < $1.instant
        }
        XCTAssertEqual(Set(positions(outputs([fix()] + readings, settings)).map(\.mapID)), [10])
    }

    func testMotionIsEmittedOnlyToSubscribers() {
        let readings = [fix()] + steps(1..<20)
        XCTAssertFalse(outputs(readings, settings).contains { if case .motion = $0.content { true } else { false } })
        let told = outputs(readings, settings, tellsMotion: true)
        let motion = told.compactMap { if case .motion(let estimate) = $0.content { estimate } else { nil } }
        XCTAssertEqual(motion.last?.kind, .walking)
        XCTAssertEqual(motion.last?.statistics.steps, 19)
        XCTAssertEqual(positions(told), positions(outputs(readings, settings)), "telling changes nothing")
    }

    func testInAVenueFloorsAndHeadingsAreThoseOfThePlan() throws {
        let told = outputs([fix()] + rest(1..<5), settings, tellsMotion: true)
        let motion = told.compactMap { if case .motion(let estimate) = $0.content { estimate } else { nil } }
        let heading = try XCTUnwrap(motion.last?.heading)
        XCTAssertEqual(heading.course, 0, accuracy: 0.1)
        XCTAssertEqual(try XCTUnwrap(heading.trueNorth), 40, accuracy: 0.1, "the plan's bearing")
        let upstairs = outputs([fix(11)] + rest(1..<5), settings, tellsMotion: true)
        let floors = upstairs.compactMap { if case .motion(let estimate) = $0.content { estimate.floor } else { nil } }
        XCTAssertEqual(floors.last, 1)
    }

    func testADeviceWithoutAttitudeWalksByItsOwnCompass() throws {
        // Heading 40° from north is the plan's top.
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField], heading: 40)
        let told = positions(outputs([fix()] + device.samples(30, steps: 1.8), settings))
        let last = try XCTUnwrap(told.last)
        XCTAssertLessThan(last.y, 15, "some 35 m towards the top: \(last)")
        XCTAssertEqual(last.x, 30, accuracy: 6)
    }
}

final class FloorLinksTests: XCTestCase {
    private static func venue(_ georeference: (Georeference?, Georeference?), hasStairs: Bool) -> Venue {
        let maps = [
            VenueMap(id: 1, name: "a", level: 0, width: 20, height: 20, georeference: georeference.0),
            VenueMap(id: 2, name: "b", level: 1, width: 40, height: 40, georeference: georeference.1),
        ]
        let paths = PathGraph(
            nodes: [
                PathGraph.Node(id: 1, mapID: 1, point: MapPoint(x: 5, y: 5)),
                PathGraph.Node(id: 2, mapID: 2, point: MapPoint(x: 8, y: 9)),
                PathGraph.Node(id: 3, mapID: 1, point: MapPoint(x: 15, y: 5)),
            ],
            edges: [PathGraph.Edge(from: 1, to: 2, kind: .elevator), PathGraph.Edge(from: 1, to: 3)])
        return Venue(id: 1, name: "v", maps: maps, beacons: [], paths: hasStairs ? paths : nil)
    }

    func testPlansWithoutCommonPointsLieAboveEachOther() {
        let links = FloorLinks(venue: Self.venue((nil, nil), hasStairs: false))
        XCTAssertEqual(links.place(of: MapPoint(x: 3, y: 4), from: 0, to: 1), MapPoint(x: 3, y: 4))
        XCTAssertEqual(links.links, [])
    }

    func testAnElevatorLiesAtTheSamePlaceOnBothPlans() {
        let links = FloorLinks(venue: Self.venue((nil, nil), hasStairs: true))
        XCTAssertEqual(links.place(of: MapPoint(x: 6, y: 7), from: 0, to: 1), MapPoint(x: 9, y: 11))
        XCTAssertEqual(links.place(of: MapPoint(x: 9, y: 11), from: 1, to: 0), MapPoint(x: 6, y: 7))
        XCTAssertEqual(links.links.count, 2, "a way on one floor is no link")
    }

    func testGeoreferencedPlansAreAlignedByCoordinates() {
        let there = Coordinate(latitude: 50, longitude: 8)
        let links = FloorLinks(
            venue: Self.venue((.center(there, bearing: 0), .center(there, bearing: 180)), hasStairs: true))
        let place = links.place(of: MapPoint(x: 10, y: 5), from: 0, to: 1)
        XCTAssertEqual(place.x, 20, accuracy: 0.01)
        XCTAssertEqual(place.y, 25, accuracy: 0.01, "5 m north of both middles, where the upper plan looks south")
    }
}
