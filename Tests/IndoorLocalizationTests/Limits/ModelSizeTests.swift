import IndoorLocalization
import XCTest

final class ModelSizeTests: XCTestCase {
    private func maps(_ count: Int, width: Double = 20, height: Double = 20, walls: [[MapPoint]] = []) -> [VenueMap] {
        (0..<count).map {
            VenueMap(
                id: MapID(rawValue: $0), name: "\($0)", level: $0, width: width, height: height, walls: walls)
        }
    }

    private func beacons(_ count: Int, maps: Int = 1, width: Double = 20, height: Double = 20) -> [VenueBeacon] {
        var random = SeededGenerator(seed: 4)
        return (0..<count).map {
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16($0)),
                mapID: MapID(rawValue: $0 % maps),
                point: MapPoint(x: random.uniform() * width, y: random.uniform() * height), measuredPower: -59)
        }
    }

    private func wall(_ index: Int) -> [MapPoint] {
        let (x, y) = (Double(index % 100) * 8, Double(index / 100) * 4)
        return [MapPoint(x: x, y: y), index % 2 == 0 ? MapPoint(x: x + 6, y: y) : MapPoint(x: x, y: y + 4)]
    }

    /// The largest venue that the limits are made for.
    func testAnAirportIsAccepted() {
        let venue = Venue(
            id: 1, name: "Airport", maps: maps(10, width: 800, height: 400, walls: (0..<10_000).map(wall)),
            beacons: beacons(20_000, maps: 10, width: 800, height: 400))
        XCTAssertNil(ModelSize.problem(of: venue).map(\.message))
    }

    func testTooManyElementsAreReported() {
        let radioMap = RadioMap(
            beacons: [],
            fingerprints: (0..<30).map { _ in
                RadioMap.Fingerprint(
                    mapID: 0, point: MapPoint(x: 1, y: 1), duration: 1,
                    readings: [RadioMap.Reading(beacon: 0, rssi: -70, count: 1)])
            }, pathLossExponent: 2)
        var limits = InputLimits()
        limits.maps = 20
        limits.beacons = 20
        let cases: [(Venue, String)] = [
            (Venue(id: 1, name: "", maps: maps(21)), "has 21 maps, more than the 20"),
            (Venue(id: 1, name: "", maps: maps(1), beacons: beacons(21)), "has 21 beacons, more than the 20"),
        ]
        for (venue, start) in cases {
            let problem = ModelSize.problem(of: venue, limits: limits)
            XCTAssertTrue(problem?.message.hasPrefix(start) ?? false, "\(start): \(problem?.message ?? "none")")
        }
        limits = InputLimits()
        limits.radioMapReadings = 29
        let surveyed = Venue(id: 1, name: "", maps: maps(1), radioMap: radioMap)
        XCTAssertEqual(ModelSize.problem(of: surveyed, limits: limits)?.path, "$.radioMap")
        XCTAssertNil(ModelSize.problem(of: surveyed))
    }

    func testEachNumberOfElementsAndPairsIsLimited() {
        let radioMap = RadioMap(
            beacons: [],
            fingerprints: (0..<5).map { _ in
                RadioMap.Fingerprint(
                    mapID: 0, point: MapPoint(x: 1, y: 1), duration: 1,
                    readings: [RadioMap.Reading(beacon: 0, rssi: -70, count: 1)])
            }, pathLossExponent: 2)
        let venue = Venue(id: 1, name: "", maps: maps(3), beacons: beacons(4, maps: 3), radioMap: radioMap)
        let cases: [(limit: WritableKeyPath<InputLimits, Int>, count: Int, what: String)] = [
            (\.maps, 3, "maps"), (\.beacons, 4, "beacons"), (\.fingerprints, 5, "fingerprints"),
            (\.radioMapReadings, 5, "readings"), (\.beaconMaps, 12, "pairs of a map and a beacon"),
            (\.fingerprintMaps, 15, "pairs of a map and a fingerprint"),
        ]
        for (limit, count, what) in cases {
            var limits = InputLimits()
            limits[keyPath: limit] = count
            XCTAssertNil(ModelSize.problem(of: venue, limits: limits).map(\.message), what)
            limits[keyPath: limit] = count - 1
            let message = ModelSize.problem(of: venue, limits: limits)?.message ?? "none"
            XCTAssertTrue(message.hasPrefix("has \(count) \(what), more than the \(count - 1) that"), message)
        }
    }

    func testTheProblemOfALargeModelNamesItsMap() throws {
        let cross = [MapPoint(x: 0, y: 0), MapPoint(x: 800, y: 400)]
        let area = [MapPoint(x: 0, y: 0), MapPoint(x: 1_000, y: 0), MapPoint(x: 1_000, y: 1_000)]
        var walkable = maps(1, width: 1_000, height: 1_000)
        walkable[0].walkable = Array(repeating: area, count: 3_000)
        let paths = PathGraph(
            nodes: [
                PathGraph.Node(id: 1, mapID: 0, point: MapPoint(x: 0, y: 0)),
                PathGraph.Node(id: 2, mapID: 0, point: MapPoint(x: 1_000, y: 1_000)),
            ], edges: Array(repeating: PathGraph.Edge(from: 1, to: 2), count: 10_000))
        let cases: [(venue: Venue, path: String, reason: String)] = [
            (Venue(id: 1, name: "", maps: maps(40, width: 1_000, height: 1_000)), "$.maps[32]", "map cells"),
            (
                Venue(id: 1, name: "", maps: maps(1, walls: Array(repeating: cross, count: 2_000))), "$.maps[0]",
                "walls"
            ),
            (Venue(id: 1, name: "", maps: walkable), "$.maps[0]", "walkable areas"),
            (
                Venue(id: 1, name: "", maps: maps(1, width: 1_000, height: 1_000), paths: paths), "$.maps[0]",
                "comparisons with cells; simplify the survey, paths"
            ),
            (
                Venue(
                    id: 1, name: "", maps: maps(10, width: 800, height: 400),
                    beacons: beacons(20_000, maps: 10, width: 800, height: 400),
                    radioMap: RadioMap(beacons: [], fingerprints: [], pathLossExponent: 0.1)), "$.maps[5]", "beacons"
            ),
        ]
        for (venue, path, reason) in cases {
            let problem = try XCTUnwrap(ModelSize.problem(of: venue), reason)
            XCTAssertEqual(problem.path, path, reason)
            XCTAssertTrue(problem.message.contains(reason), problem.message)
        }
    }

    /// The survey's numbers say how far each reading tells: one reading over a whole map is a million steps.
    func testASurveyThatNeedsTooManyComparisonsIsReported() {
        var radioMap = RadioMap(
            beacons: [],
            fingerprints: (0..<20_000).map { _ in
                RadioMap.Fingerprint(mapID: 0, point: MapPoint(x: 100, y: 100), duration: 1, readings: [])
            }, pathLossExponent: 2)
        let maps = maps(1, width: 800, height: 800)
        XCTAssertNil(ModelSize.problem(of: Venue(id: 1, name: "", maps: maps, radioMap: radioMap)).map(\.message))
        radioMap.fit.supportWidth = 1_000
        let problem = ModelSize.problem(of: Venue(id: 1, name: "", maps: maps, radioMap: radioMap))
        XCTAssertTrue(problem?.message.contains("simplify the survey") ?? false, problem?.message ?? "none")
    }

    func testASessionEndsWithAnErrorInsteadOfMakingTheModel() {
        var replay = SessionReplay(venues: [Venue(id: 1, name: "Maze", maps: maps(1_001), beacons: beacons(1))])
        _ = replay.start()
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 0)
        for second in 0..<5 {
            _ = replay.handle(.sighting(Sighting(instant: Instant(seconds: Double(second)), beacon: beacon, rssi: -60)))
        }
        guard case .error(let error) = replay.state else { return XCTFail("\(replay.state)") }
        XCTAssertEqual(error.code, .critical)
        XCTAssertEqual(
            error.message,
            "venue 1 is too large: $.maps has 1001 maps, more than the 1000 that one venue may have; divide it into several"
        )
    }
}
