import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// The import of the library, a file with the elements of Simple Indoor Tagging.
final class OSMImportTests: XCTestCase {
    /// The library's corner, as in `make-library.py`.
    private static let plane = LocalTangentPlane(origin: Coordinate(latitude: 52, longitude: 8))

    private func library(language: String? = nil) throws -> IMDFImport {
        try OSMImporter(language: language).read(FixtureFolder("osm").path + "/library.osm")
    }

    private func plan(_ level: Int, of venue: Venue) throws -> ImportedPlan {
        try ImportedPlan(XCTUnwrap(venue.maps.first { $0.level == level }), plane: Self.plane)
    }

    private func place(_ x: Double, _ y: Double, _ level: Int, of venue: Venue) throws -> RoutePoint {
        let plan = try plan(level, of: venue)
        return RoutePoint(mapID: plan.map.id, point: plan.point(x, y))
    }

    // MARK: Maps and rooms

    func testLevelsBecomeAlignedMapsOfTheBuilding() throws {
        let venue = try library().venue
        XCTAssertEqual(venue.name, "Library of Examples")
        XCTAssertEqual(venue.maps.map(\.level), [0, 1])
        XCTAssertEqual(venue.maps.map(\.name), ["Level 0", "Upper floor"])
        XCTAssertEqual(venue.maps[0].georeference, venue.maps[1].georeference)
        // The building has 30 × 20 m, and the margin is 5 m.
        XCTAssertEqual(venue.maps[0].width, 40, accuracy: 0.2)
        XCTAssertEqual(venue.maps[0].height, 30, accuracy: 0.2)
        let corner = try plan(0, of: venue).point(0, 20)
        XCTAssertEqual(corner.x, 5, accuracy: 0.1)
        XCTAssertEqual(corner.y, 5, accuracy: 0.1)
    }

    func testSpacesBecomeRoomsOnEachOfTheirLevels() throws {
        let venue = try library().venue
        func names(_ level: Int) throws -> [String] {
            let id = try plan(level, of: venue).map.id
            return venue.rooms.filter { $0.mapID == id }.map(\.name).sorted()
        }
        XCTAssertEqual(
            try names(0),
            ["0.2", "Archive", "Elevator", "Hall", "Reading room", "Shelves", "Stairs", "Storage", "toilets"])
        XCTAssertEqual(
            try names(1), ["Children's library & games", "Elevator", "Gallery", "Hall", "Stairs", "toilets"])
    }

    func testNamesAreInTheRequestedLanguage() throws {
        let venue = try library(language: "de").venue
        XCTAssertEqual(venue.name, "Bücherei der Beispiele")
        XCTAssertTrue(venue.rooms.contains { $0.name == "Kinderbücherei" })
        XCTAssertTrue(venue.rooms.contains { $0.name == "Hall" }, "another language is used")
    }

    func testNumbersDependOnTheElementOnly() throws {
        var file = OSMFileUnderTest()
        file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "area", "level": "0", "name": "A"])
        let first = try file.imported().venue
        file.area([(10, 0), (20, 0), (20, 10), (10, 10)], ["indoor": "area", "level": "0;1", "name": "B"])
        let second = try file.imported().venue
        XCTAssertEqual(first.rooms.map(\.id), [try XCTUnwrap(second.rooms.first { $0.name == "A" }).id])
        XCTAssertEqual(first.maps.map(\.id), [try XCTUnwrap(second.maps.first).id])
    }

    // MARK: Walls and doors

    func testDoorsOpenTheWallsOfTheirLevelOnly() throws {
        let venue = try library().venue
        let (ground, upper) = (try plan(0, of: venue), try plan(1, of: venue))
        XCTAssertFalse(ground.blocks((6, 11), (6, 13)), "the door of the reading room")
        XCTAssertTrue(ground.blocks((8, 11), (8, 13)), "the wall beside it")
        XCTAssertTrue(upper.blocks((6, 11), (6, 13)), "the room above has its door at another place")
        XCTAssertFalse(upper.blocks((11, 11), (11, 13)))
        XCTAssertFalse(ground.blocks((23, 7), (23, 9)), "the door of the archive has no level")
        XCTAssertTrue(upper.blocks((23, 7), (23, 9)), "the archive is on the ground floor only")
        XCTAssertFalse(ground.blocks((-1, 10), (1, 10)), "the entrance")
        XCTAssertTrue(upper.blocks((-1, 10), (1, 10)), "the hall's window above it")
        // The entrance is 2 m wide.
        XCTAssertFalse(ground.blocks((-1, 10.9), (1, 10.9)))
        XCTAssertTrue(ground.blocks((-1, 11.2), (1, 11.2)))
    }

    func testAreasHaveNoWallsTowardsOtherSpaces() throws {
        let venue = try library().venue
        let ground = try plan(0, of: venue)
        XCTAssertFalse(ground.blocks((10, 7), (10, 9)), "from the shelves to the hall")
        XCTAssertTrue(ground.blocks((10, -1), (10, 1)), "the outer wall")
        XCTAssertTrue(ground.blocks((7, 4), (9, 4)), "the column in the hole of the shelves")
        XCTAssertTrue(ground.blocks((3, 4), (5, 4)), "the wall that is a line")
    }

    // MARK: Paths

    func testARouteLeadsAcrossFloorsByStairsOrElevator() throws {
        let venue = try library().venue
        var planner = RoutePlanner(venue: venue)
        let (entrance, games) = (try place(0.5, 10, 0, of: venue), try place(3, 17, 1, of: venue))
        let route = try planner.route(from: entrance, to: games)
        XCTAssertFalse(route.start.crossesWall || route.goal.crossesWall)
        XCTAssertEqual(Set(route.legs.map(\.kind)), [.walk, .stairs])
        let accessible = try planner.route(from: entrance, to: games, .accessible)
        XCTAssertEqual(Set(accessible.legs.map(\.kind)), [.walk, .elevator])
        XCTAssertFalse(accessible.goal.crossesWall)
    }

    func testStairsThatAreALineConnectTheSpacesAtTheirEnds() throws {
        let imported = try library()
        let edges = try XCTUnwrap(imported.venue.paths).edges.filter { $0.kind == .stairs }
        XCTAssertEqual(edges.count, 2, "the stairwell, and the line from the shelves to the gallery")
        XCTAssertTrue(edges.allSatisfy { !$0.isOneWay })
        XCTAssertTrue(imported.report.remarks.contains { $0.id == "way/15@0-1" && $0.featureType == "relationship" })
    }

    func testNoPathCrossesAWall() throws {
        let venue = try library().venue
        let graph = try XCTUnwrap(venue.paths)
        let nodes = Dictionary(uniqueKeysWithValues: graph.nodes.map { ($0.id, $0) })
        let walls = Dictionary(uniqueKeysWithValues: venue.maps.map { ($0.id, WallIndex(walls: $0.walls)) })
        for edge in graph.edges {
            let (from, to) = (try XCTUnwrap(nodes[edge.from]), try XCTUnwrap(nodes[edge.to]))
            guard from.mapID == to.mapID else { continue }
            XCTAssertFalse(
                try XCTUnwrap(walls[from.mapID]).blocks(
                    fromX: Float(from.point.x), y: Float(from.point.y), toX: Float(to.point.x), y: Float(to.point.y)),
                "\(from) to \(to)")
        }
        XCTAssertGreaterThan(graph.edges.count, 20)
    }

    func testASpaceWithoutADoorIsReported() throws {
        let reasons = try library().report.remarks.filter { $0.reason.hasPrefix("no path of the path graph leads") }
        XCTAssertEqual(reasons.map(\.id), ["way/9@0"], "the storage has no door")
        XCTAssertTrue(reasons.allSatisfy { $0.reason.contains("add a node with a door to its outline") })
    }

    func testAnEscalatorHasTheDirectionOfItsTags() throws {
        for (conveying, incline, goesUp) in [
            ("forward", "up", true), ("backward", "up", false), ("forward", "down", false), ("backward", "-30%", true),
        ] {
            var file = OSMFileUnderTest()
            for level in ["0", "1"] {
                let x = level == "0" ? 0.0 : 10
                file.area(
                    [(x, 0), (x + 10, 0), (x + 10, 10), (x, 10)], ["indoor": "area", "level": level, "name": level])
                file.area([(x, 10), (x + 10, 10), (x + 10, 20), (x, 20)], ["indoor": "area", "level": level])
            }
            // From one area to the other; the way begins at its lower end unless it leads downwards.
            let ends = incline == "up" ? [(5.0, 5.0), (15.0, 5.0)] : [(15.0, 5.0), (5.0, 5.0)]
            file.way(ends, ["highway": "steps", "level": "0;1", "conveying": conveying, "incline": incline])
            let venue = try file.imported().venue
            let edge = try XCTUnwrap(venue.paths?.edges.first { $0.kind == .escalator }, "\(conveying) \(incline)")
            XCTAssertTrue(edge.isOneWay)
            let from = try XCTUnwrap(venue.paths?.nodes.first { $0.id == edge.from })
            XCTAssertEqual(from.mapID, venue.maps[goesUp ? 0 : 1].id, "\(conveying) \(incline)")
        }
    }

    func testAnElevatorThatIsANodeConnectsTheSpacesAroundIt() throws {
        var file = OSMFileUnderTest()
        for y in [0.0, 10] {
            file.area([(0, y), (10, y), (10, y + 10), (0, y + 10)], ["indoor": "area", "level": "-1-1"])
        }
        file.node(5, 5.5, ["highway": "elevator", "level": "-1-1"])
        let edges = try XCTUnwrap(file.imported().venue.paths).edges
        XCTAssertEqual(edges.filter { $0.kind == .elevator }.count, 2)
    }

    // MARK: Points and beacons

    func testNodesWithALevelBecomePointsOfInterest() throws {
        let venue = try library().venue
        XCTAssertEqual(
            venue.pointsOfInterest.map(\.name).sorted(), ["What is where", "photocopier", "photocopier"])
        let board = try XCTUnwrap(venue.pointsOfInterest.first { $0.name == "What is where" })
        let expected = try plan(0, of: venue).point(2, 11)
        XCTAssertEqual(board.point.distance(to: expected), 0, accuracy: 0.01)
        guard case .object(let fields)? = board.payload, case .object(let tags)? = fields["properties"] else {
            return XCTFail("a point has the tags of its node as payload")
        }
        XCTAssertEqual(tags["information"], .string("board"))
    }

    func testPointsAndBeaconsOutsideOfTheSpacesAreReported() throws {
        var file = OSMFileUnderTest()
        file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "area", "level": "0"])
        let beacon = [
            "indoormark": "beacon", "beacon:uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e", "beacon:major": "1",
            "beacon:minor": "2",
        ]
        file.node(5_000, 5, ["shop": "bakery", "level": "0"])
        file.node(5, 5, ["shop": "bakery", "level": "3"])
        file.node(5_000, 6, beacon.merging(["level": "0"]) { $1 })
        file.node(5, 6, beacon.merging(["level": "3"]) { $1 })
        let imported = try file.imported()
        XCTAssertEqual(imported.venue.pointsOfInterest, [])
        XCTAssertEqual(imported.venue.beacons, [])
        XCTAssertEqual(
            imported.report.remarks.filter { $0.reason.hasPrefix("no space is on its level or around it") }.map(\.id),
            ["node/5", "node/6", "node/7", "node/8"])
    }

    func testBeaconsHaveTheirPlaceIdentityAndPower() throws {
        let imported = try library()
        let venue = imported.venue
        XCTAssertEqual(venue.beacons.map(\.identity.minor), [1, 2, 3, 4, 5])
        let beacon = try XCTUnwrap(venue.beacons.first { $0.identity.minor == 4 })
        let upper = try plan(1, of: venue)
        XCTAssertEqual(beacon.mapID, upper.map.id)
        XCTAssertEqual(beacon.point.distance(to: upper.point(11, 18)), 0, accuracy: 0.01)
        XCTAssertEqual(beacon.identity.description, "F7826DA6-4FA2-4E98-8024-BC5B71E0893E/52/4")
        XCTAssertEqual(beacon.z, 2.5)
        XCTAssertEqual(beacon.measuredPower, -59)
        XCTAssertEqual(
            imported.report.remarks.filter { $0.reason.contains("a beacon of the type nfc") }.map(\.outcome),
            [.leftOut])
    }

    func testTheNextEditionReplacesTheBeaconsOfTheFileAndKeepsTheOthers() throws {
        var old = try library().venue
        old.beacons[0].point = MapPoint(x: 1, y: 1)
        var added = old.beacons[0]
        added.identity.minor = 99
        old.beacons.append(added)
        var next = try library()
        let overrides = try next.keepOverrides(of: old)
        XCTAssertEqual(overrides.kept, ["1 beacon"])
        XCTAssertEqual(next.venue.beacons.map(\.identity.minor), [1, 2, 3, 4, 5, 99])
        XCTAssertNotEqual(next.venue.beacons[0].point, MapPoint(x: 1, y: 1))
    }

    func testABeaconOfTheFileKeepsThePowerThatWasMeasured() throws {
        var file = OSMFileUnderTest()
        file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "area", "level": "0"])
        file.node(
            5, 6,
            [
                "indoormark": "beacon", "beacon:uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e", "beacon:major": "1",
                "beacon:minor": "2", "level": "0",
            ])
        var next = try file.imported()
        XCTAssertEqual(next.venue.beacons.map(\.measuredPower), [nil])
        var old = next.venue
        old.beacons[0].measuredPower = -64
        old.beacons[0].pathLossExponent = 2.2
        old.beacons[0].z = 2.5
        let overrides = try next.keepOverrides(of: old)
        XCTAssertEqual(next.venue.beacons, old.beacons)
        XCTAssertEqual(overrides.kept, ["the powers, heights and addresses of 1 beacon"])
    }

    // MARK: Levels

    func testAllNotationsOfLevelsAreRead() throws {
        for (text, levels) in [
            ("0", [0]), ("-1", [-1]), ("0;2", [0, 2]), ("-2--1", [-2, -1]), ("-1-1", [-1, 0, 1]), ("0; 1", [0, 1]),
            ("1-2;5", [1, 2, 5]), ("0-1.5", [0, 1]), ("0;0.5", [0]),
        ] {
            var file = OSMFileUnderTest()
            file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "area", "level": text])
            XCTAssertEqual(try file.imported().venue.maps.map(\.level), levels, text)
        }
    }

    func testASpaceBetweenTwoLevelsIsReported() throws {
        var file = OSMFileUnderTest()
        file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "area", "level": "0"])
        file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "area", "level": "0.5"])
        let imported = try file.imported()
        XCTAssertEqual(imported.venue.rooms.count, 1)
        XCTAssertTrue(
            imported.report.remarks.contains {
                $0.id == "way/2" && $0.outcome == .leftOut && $0.reason.contains("lies between two others")
            })
    }
}

/// A small file of OpenStreetMap, drawn in metres: x to the east, y to the north.
struct OSMFileUnderTest {
    /// Where x and y are 0.
    static let plane = LocalTangentPlane(origin: Coordinate(latitude: 48.1, longitude: 11.5))

    private var nodes: [String] = []
    private var ways: [String] = []
    private var ids: [MapPoint: Int] = [:]

    /// The text of the file. Each element is one line; the first one is line 2.
    var text: String { (["<osm version=\"0.6\">"] + nodes + ways + ["</osm>", ""]).joined(separator: "\n") }

    private static func tags(_ tags: [String: String]) -> String {
        tags.sorted { $0.key < $1.key }.map { "<tag k=\"\($0.key)\" v=\"\($0.value)\"/>" }.joined()
    }

    /// Adds a node, and returns its id. Ways through its place share it.
    @discardableResult mutating func node(_ x: Double, _ y: Double, _ tags: [String: String] = [:]) -> Int {
        let point = MapPoint(x: x, y: y)
        if let id = ids[point], tags.isEmpty { return id }
        let place = Self.plane.coordinate(east: x, north: y)
        let id = nodes.count + 1
        if ids[point] == nil { ids[point] = id }
        nodes.append(
            "<node id=\"\(id)\" lat=\"\(place.latitude)\" lon=\"\(place.longitude)\">\(Self.tags(tags))</node>")
        return id
    }

    @discardableResult mutating func way(_ points: [(Double, Double)], _ tags: [String: String]) -> Int {
        let references = points.map { "<nd ref=\"\(node($0.0, $0.1))\"/>" }.joined()
        let id = ways.count + 1
        ways.append("<way id=\"\(id)\">\(references)\(Self.tags(tags))</way>")
        return id
    }

    @discardableResult mutating func area(_ points: [(Double, Double)], _ tags: [String: String]) -> Int {
        way(points + points.prefix(1), tags)
    }

    /// Adds an element as text.
    mutating func add(_ text: String) { ways.append(text) }

    /// Imports the file.
    func imported(language: String? = nil) throws -> IMDFImport { try Self.imported(text, language: language) }

    /// Imports a file with this text.
    static func imported(_ text: String, language: String? = nil, isStrict: Bool = false) throws -> IMDFImport {
        let path = FileManager.default.temporaryDirectory.path + "/osm-\(UUID().uuidString).osm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(filePath: path))
        return try OSMImporter(language: language, isStrict: isStrict).read(path)
    }

    /// The problems of a strict import of a text, as the tool prints them; empty if there are none.
    static func problems(_ text: String) throws -> [String] {
        do {
            _ = try imported(text, isStrict: true)
            return []
        } catch let error as OSMError {
            return error.problems.map(\.description)
        }
    }

    func problems() throws -> [String] { try Self.problems(text) }
}
