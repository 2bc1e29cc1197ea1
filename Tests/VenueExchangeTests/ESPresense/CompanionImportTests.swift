import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest
@testable import VenueExchange

/// Configurations of ESPresense-companion.
final class CompanionImportTests: XCTestCase {
    private func imported(_ yaml: String, isStrict: Bool = false) throws -> CompanionImport {
        try CompanionImporter(name: "House", isStrict: isStrict).read(Array(yaml.utf8), named: "config.yaml")
    }

    private func house() throws -> CompanionImport {
        try CompanionImporter(name: "House", isStrict: true).read(FixtureFolder("espresense").path + "/house.yaml")
    }

    private func map(_ name: String, of venue: Venue) throws -> VenueMap {
        try XCTUnwrap(venue.maps.first { $0.name == name }, name)
    }

    /// The problems of a strict import, which a lenient one must survive with remarks.
    private func flaws(_ yaml: String) throws -> [String] {
        let lenient = try imported(yaml)
        XCTAssertFalse(lenient.report.remarks.isEmpty)
        do {
            _ = try imported(yaml, isStrict: true)
            return []
        } catch let error as CompanionError { return error.problems.map(\.description) }
    }

    private func problem(_ yaml: String) -> String {
        do {
            _ = try imported(yaml)
            return "none"
        } catch { return "\(error)" }
    }

    // MARK: The house

    func testFloorsBecomeMapsWithOneFrameAndTheirLevels() throws {
        let venue = try house().venue
        XCTAssertEqual(venue.maps.map(\.name), ["Ground floor", "Upper Floor", "Cellar"])
        XCTAssertEqual(venue.maps.map(\.level), [0, 1, -1])
        XCTAssertEqual(venue.maps.map(\.elevation), [0, 2.8, -2.4])
        for map in venue.maps { XCTAssertEqual([map.width, map.height], [12, 8], map.name) }
    }

    func testRoomsAndNodesHaveTheirPlacesWithYDown() throws {
        let venue = try house().venue
        XCTAssertEqual(venue.rooms.map(\.name), ["Kitchen", "Living room", "Hall", "Bedroom", "Bath", "Workshop"])
        // In the file, y points up from the lower left corner. The kitchen there has y from 0 to 4.
        XCTAssertEqual(
            venue.rooms[0].area,
            .polygon([MapPoint(x: 0, y: 8), MapPoint(x: 5, y: 8), MapPoint(x: 5, y: 4), MapPoint(x: 0, y: 4)]))
        XCTAssertEqual(
            venue.receivers.map(\.id), ["Kitchen", "living", "Hall", "Master Bedroom", "Bath", "Cellar Door"])
        XCTAssertEqual(venue.receivers[0].point, MapPoint(x: 0.5, y: 7.5))
        XCTAssertEqual(venue.receivers[1].aliases, ["Living Room"])
        // Heights in the file have one origin; in a packet, they are above the floor.
        XCTAssertEqual(venue.receivers.map(\.z), [1.1, 0.4, 2.2, 0.8, 2, 1.2])
        let maps = Dictionary(uniqueKeysWithValues: venue.maps.map { ($0.id, $0.name) })
        XCTAssertEqual(
            venue.receivers.map { maps[$0.mapID] },
            ["Ground floor", "Ground floor", "Ground floor", "Upper Floor", "Upper Floor", "Cellar"])
    }

    func testTheOriginOfTheFrameHasTheCoordinateAndYThePointOfTheRotation() throws {
        let venue = try house().venue
        let transform = try XCTUnwrap(venue.maps[0].geoTransform())
        let origin = Coordinate(latitude: 50.1109, longitude: 8.6821)
        XCTAssertLessThan(transform.coordinate(at: MapPoint(x: 0, y: 8)).distance(to: origin), 0.01)
        // With 90 degrees, y points to the east, and x to the south: ESPresense-companion computes 8 m of y and 12 m of
        // x as 8 / (R cos latitude) and -12 / R radians.
        let corner = transform.coordinate(at: MapPoint(x: 12, y: 0))
        let radius = 6_378_137.0
        XCTAssertEqual(corner.latitude, origin.latitude - 12 / radius * 180 / .pi, accuracy: 1e-6)
        XCTAssertEqual(corner.longitude, origin.longitude + 8 / radius / 0.64127 * 180 / .pi, accuracy: 1e-6)
    }

    func testDevicesAndTheBrokerAreRead() throws {
        let house = try house()
        XCTAssertEqual(house.broker, "mqtt://house@broker.example")
        XCTAssertEqual(
            house.devices.map(\.key),
            [
                "iBeacon:5f2a0c9e-1b3d-4e6f-8a90-112233445566-1-7", "phone:anna", "a4c1381f00aa", "Cat Collar",
            ])
        XCTAssertEqual(house.devices.map(\.name), ["Keys", "Anna's phone", nil, "Cat Collar"])
        XCTAssertEqual(house.devices.map(\.alias), [nil, nil, nil, "cat_collar"])
    }

    func testWhatAPacketCannotContainIsNamed() throws {
        let remarks = try house().report.remarks.map { "\($0.outcome) \($0.featureType) \($0.id)" }
        XCTAssertEqual(
            remarks,
            [
                "leftOut node Car", "leftOut device *", "leftOut device tile:*",
                "leftOut device iBeacon:e5ca1ade-f007-ba11-0000-000000000000-*", "changed node Hall",
            ])
    }

    // MARK: Frames

    func testAPlanOfWhichYPointsDownIsNotFlipped() throws {
        let yaml = """
            map: {flip_y: false}
            gps: {latitude: 50, longitude: 8}
            floors:
              - name: A
                bounds: [[1, 2, 0], [11, 8, 3]]
                rooms: [{name: R, points: [[1, 2], [4, 2], [4, 5]]}]
            nodes: [{name: N, point: [2, 3, 1], floors: [a]}]
            """
        let result = try imported(yaml)
        XCTAssertEqual(result.venue.receivers.first?.point, MapPoint(x: 1, y: 1))
        XCTAssertNil(result.venue.maps[0].georeference, "the frame is a mirror image of the Earth")
        XCTAssertEqual(result.report.remarks.map(\.id), ["gps"])
        let turned = try imported(
            "map: {flip_x: true, flip_y: no}\n" + yaml.split(separator: "\n").dropFirst().joined(separator: "\n"))
        XCTAssertEqual(turned.venue.receivers.first?.point, MapPoint(x: 9, y: 1))
        let transform = try XCTUnwrap(turned.venue.maps[0].geoTransform())
        // The origin of the file is 1 m to the right and 2 m above the upper right corner of the plan.
        XCTAssertLessThan(
            transform.coordinate(at: MapPoint(x: 11, y: -2)).distance(to: Coordinate(latitude: 50, longitude: 8)), 0.01)
    }

    func testFloorsOfOneHeightAreSideBySideOrOneAboveTheOther() throws {
        func levels(_ bounds: [String]) throws -> [Int] {
            let floors = bounds.enumerated().map { "  - {name: F\($0), bounds: \($1)}" }
            return try imported("floors:\n" + floors.joined(separator: "\n")).venue.maps.map(\.level)
        }
        XCTAssertEqual(
            try levels(["[[0, 0, 0], [9, 9, 3]]", "[[9, 0, 0], [20, 9, 3]]", "[[0, 0, 3], [9, 9, 6]]"]), [0, 0, 1])
        XCTAssertEqual(try levels(["[[0, 0], [9, 9]]", "[[0, 0], [9, 9]]"]), [0, 1])
        XCTAssertEqual(
            try levels(["[[0, 0, 3], [9, 9, 6]]", "[[0, 0, -3], [9, 9, 0]]", "[[0, 0, 0], [9, 9, 3]]"]), [1, -1, 0])
    }

    // MARK: The next edition

    /// A plan of 10 by 8 m.
    private let plan = """
        gps: {latitude: 50, longitude: 8}
        floors:
          - name: A
            bounds: [[0, 0, 0], [10, 8, 3]]
        nodes:
          - {name: Hall, point: [2, 3, 1], floors: [a]}
          - {name: Attic, point: [4, 3], floors: [a]}
        """

    /// Imports an edition with the additions to the packet of an earlier one.
    private func next(_ yaml: String, keeping old: Venue) throws -> (venue: Venue, overrides: IMDFOverrides) {
        let house = try imported(yaml)
        var next = IMDFImport(venue: house.venue, report: house.report)
        let overrides = try next.keepOverrides(of: old)
        return (next.venue, overrides)
    }

    func testPowersAndNamesOfReceiversAndPathsAreKept() throws {
        var old = try imported(plan).venue
        old.receivers[0].measuredPower = -63
        old.receivers[0].pathLossExponent = 2.4
        old.receivers[0].aliases = ["aabbccddeeff"]
        old.receivers[1].z = 2
        old.receivers[1].identity.minor = 7
        old.paths = PathGraph(
            nodes: (1...3).map { PathGraph.Node(id: $0, mapID: old.maps[0].id, point: MapPoint(x: Double($0), y: 4)) },
            edges: [.init(from: 1, to: 2), .init(from: 2, to: 3, tags: ["inaccessible"])])
        let next = try next(plan, keeping: old)
        XCTAssertEqual(next.venue, old)
        XCTAssertEqual(next.overrides.kept, ["the powers, heights and other names of 2 receivers", "2 paths"])
        XCTAssertEqual(next.overrides.lost, [])
    }

    func testTheFileSaysWhereItsReceiversAreAndWhichThereAre() throws {
        var old = try imported(plan).venue
        old.receivers[0].measuredPower = -63
        old.receivers[0].aliases = ["Porch"]
        let moved = plan.replacing("Hall, point: [2, 3, 1]", with: "Hall, point: [5, 3, 1]")
        let next = try next(moved.replacing("Attic", with: "Porch"), keeping: old)
        XCTAssertEqual(next.venue.receivers.map(\.id), ["Hall", "Porch"])
        XCTAssertEqual(next.venue.receivers[0].point, MapPoint(x: 5, y: 5))
        XCTAssertEqual(next.venue.receivers[0].measuredPower, -63)
        XCTAssertEqual(next.venue.receivers[0].aliases, [], "Porch is another receiver now")
        XCTAssertEqual(next.overrides.lost, ["receiver Attic, which the archive does not have"])
    }

    func testDrawnWallsMoveWithThePlan() throws {
        var old = try imported(plan).venue
        old.maps[0].walls = [[MapPoint(x: 2, y: 0), MapPoint(x: 2, y: 5)]]
        old.maps[0].walkable = [[MapPoint(x: 0, y: 0), MapPoint(x: 9, y: 0), MapPoint(x: 9, y: 7)]]
        // A veranda 3 m to the left of the house and 2 m above it on the plan.
        let next = try next(plan.replacing("[[0, 0, 0], [10, 8, 3]]", with: "[[-3, 0, 0], [10, 10, 3]]"), keeping: old)
        let map = next.venue.maps[0]
        XCTAssertEqual([map.width, map.height], [13, 10])
        XCTAssertEqual([map.walls.count, map.walkable.count], [1, 1])
        let moved = (map.walls + map.walkable).flatMap { $0 }
        let before = (old.maps[0].walls + old.maps[0].walkable).flatMap { $0 }
        XCTAssertEqual(moved.count, before.count)
        for (point, place) in zip(moved, before) {
            XCTAssertEqual(point.distance(to: place + MapPoint(x: 3, y: 2)), 0, accuracy: 0.01)
        }
        XCTAssertEqual(next.overrides.kept, ["1 wall"])
        XCTAssertEqual(next.overrides.lost, [])
    }

    func testAHouseWithoutCoordinatesKeepsThoseOfItsPacket() throws {
        let plan = self.plan.replacing("gps: {latitude: 50, longitude: 8}\n", with: "")
        var old = try imported(plan).venue
        XCTAssertNil(old.maps[0].georeference)
        old.coordinate = Coordinate(latitude: 50, longitude: 8)
        old.radius = 9
        old.maps[0].georeference = .center(Coordinate(latitude: 50, longitude: 8), bearing: 20)
        old.maps[0].imagePath = "plan.png"
        let next = try next(plan, keeping: old)
        XCTAssertEqual(next.venue, old)
        XCTAssertEqual(next.overrides.kept, ["1 plan image", "1 georeference", "the place of the venue"])
        // Nothing tells where a point of the old plan is on the larger one.
        let larger = plan.replacing("[[0, 0, 0], [10, 8, 3]]", with: "[[-3, 0, 0], [10, 10, 3]]")
        XCTAssertThrowsError(try self.next(larger, keeping: old)) { error in
            XCTAssertEqual(error as? IMDFOverridesError, .noPlace(old.maps[0].id))
            XCTAssertTrue("\(error)".contains("or that of the archive"), "\(error)")
        }
    }

    func testPathsOfARemovedFloorAreReported() throws {
        let larger = plan.replacing("nodes:", with: "  - {name: B, bounds: [[0, 0, 3], [10, 8, 6]]}\nnodes:")
        var old = try imported(larger).venue
        old.paths = PathGraph(
            nodes: zip(1...3, [0, 0, 1]).map { id, floor in
                PathGraph.Node(id: id, mapID: old.maps[floor].id, point: MapPoint(x: Double(id), y: 4))
            }, edges: [.init(from: 1, to: 2), .init(from: 2, to: 3, kind: .stairs)])
        let next = try next(plan, keeping: old)
        XCTAssertEqual(next.venue.paths?.nodes.map(\.id), [1, 2])
        XCTAssertEqual(next.venue.paths?.edges, [.init(from: 1, to: 2)])
        XCTAssertEqual(next.overrides.lost, ["1 path on maps that the archive no longer has"])
    }

    // MARK: Flaws

    func testRoomsBeyondTheBoundsEnlargeThePlan() throws {
        let yaml = """
            floors:
              - id: eg
                bounds: [[0, 0, 0], [11.9, 5.25, 2.5]]
                rooms:
                  - name: Wohnen
                    points: [[0, 0], [4, 0], [4, 7.5], [0, 7.5]]
            nodes:
              - {name: Wohnen, point: [12.5, 1, 1], floors: [eg]}
            """
        let venue = try imported(yaml).venue
        XCTAssertEqual([venue.maps[0].width, venue.maps[0].height], [12.5, 7.5])
        XCTAssertEqual(
            try flaws(yaml),
            [
                "line 6, column 17: room Wohnen: it reaches beyond the bounds of its floor: the plan is enlarged",
                "line 8, column 27: node Wohnen: it is outside the bounds of its floor: the plan is enlarged",
            ])
    }

    func testAHeightAboveItsFloorIsUsedAsSuch() throws {
        let yaml = """
            floors: [{id: second, bounds: [[0, 0, 3], [12, 12, 6]]}]
            nodes:
              - {name: East, point: [1, 1, 1.7], floors: [second]}
              - {name: Flat, point: [2, 2], floors: [second]}
              - {name: Deep, point: [3, 3, -0.5], floors: [second]}
            """
        XCTAssertEqual(try imported(yaml).venue.receivers.map(\.z), [1.7, nil, -3.5])
        XCTAssertEqual(
            try flaws(yaml),
            [
                "line 3, column 25: node East: its height 1.7 is not within 3.0 to 6.0 of its floor: it is taken as the "
                    + "height above the floor",
                "line 4, column 25: node Flat: its point has no height; give metres as [x, y, z]",
            ])
    }

    func testItemsThatCannotBeUsedAreLeftOutWithTheirPlace() throws {
        let yaml = """
            floors:
              - name: Ground
                bounds: [[0, 0, 0], [10, 10, 3]]
                rooms:
                  - points: [[0, 0], [1, 0], [1, 1]]
                  - name: Line
                    points: [[0, 0], [1, 0]]
                  - name: Bow
                    points: [[0, 0], [2, 2], [2, 0], [0, 2]]
                  - name: Good
                    points: [[0, 0], [2, 0], [2, 2], [0, 2]]
              - name: Ground
            nodes:
              - name: Comma
                point: [1,5, 2,5, 0,5]
                floors: [ground]
              - name: Text
                point: [a, 2, 1]
                floors: [ground]
              - name: None
                floors: [ground]
              - {name: Lost, point: [1, 1, 1], floors: [attic]}
              - {name: LOST, point: [1, 1, 1], floors: [ground]}
              - Nothing
            """
        let result = try imported(yaml)
        XCTAssertEqual(result.venue.rooms.map(\.name), ["Good"])
        XCTAssertEqual(result.venue.receivers.map(\.id), ["Lost"])
        XCTAssertEqual(
            try flaws(yaml),
            [
                "line 5, column 9: room ground/1: it has no name",
                "line 7, column 17: room Line: the polygon has fewer than 3 distinct corners; correct its points",
                "line 9, column 17: room Bow: the polygon crosses or touches itself: the edges from corner 0 and from "
                    + "corner 2 meet; correct its points",
                "line 12, column 5: floor ground: its id is already used by another floor",
                "line 15, column 12: node Comma: its point is [1, 5, 2, 5, 0]; give metres as [x, y, z], with a point "
                    + "before decimals",
                "line 18, column 12: node Text: its point is [a, 2, 1]; give metres as [x, y, z], with a point before "
                    + "decimals",
                "line 20, column 5: node None: its point is missing; give metres as [x, y, z]",
                "line 22, column 25: node Lost: its floor attic is unknown; give the id of a floor",
                "line 23, column 5: node LOST: its name is already used by another node",
                "line 24, column 5: item nodes: it is \"Nothing\"; give a mapping, such as name: Kitchen",
            ])
    }

    // MARK: Files that can't be used

    func testAFileThatIsNotYAMLIsRefusedWithLineAndColumn() {
        XCTAssertTrue(
            problem("floors:\n  - name: A\n   bounds: [[0, 0], [1, 1]]\n").contains(
                "line 3, column 4: it is not valid YAML"),
            problem("floors:\n  - name: A\n   bounds: [[0, 0], [1, 1]]\n"))
        XCTAssertTrue(problem("floors:\n\t- name: A\n").contains("line 2, column 1: it is not valid YAML"))
        XCTAssertTrue(problem("floors: *nowhere\n").contains("line 1, column 9: no anchor &nowhere"))
        XCTAssertTrue(problem("").contains("the file is empty"))
        XCTAssertTrue(problem("- 1\n").contains("the file is a list"))
        XCTAssertTrue(problem("a: 1\n").contains("neither floors nor nodes"))
        XCTAssertTrue(problem("nodes: [{name: A, point: [0, 0, 0]}]\n").contains("it has no floor"))
        XCTAssertTrue(problem("floors: [{name: A}]\n---\nfloors: []\n").contains("more than one document"))
        let latin = Array("floors:\n - name: K".utf8) + [0xFC, 0x63]
        XCTAssertThrowsError(try CompanionImporter(name: "H").read(latin, named: "c.yaml")) { error in
            XCTAssertTrue("\(error)".contains("line 2, column 11: it is not valid text"), "\(error)")
        }
    }

    func testAnchorsAreReadAndABombIsRefused() throws {
        let yaml = """
            floors:
              - name: A
                bounds: &bounds [[0, 0, 0], [4, 4, 3]]
              - name: B
                bounds: *bounds
            """
        XCTAssertEqual(try imported(yaml).venue.maps.map(\.width), [4, 4])
        var bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        for level in 1..<12 {
            bomb +=
                "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
                + "]\n"
        }
        XCTAssertTrue(problem(bomb).contains("line 6, column"), problem(bomb))
        let deep = "floors: " + String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        XCTAssertTrue(problem(deep).contains("more than 32 lists and mappings are nested"), problem(deep))
    }
}
