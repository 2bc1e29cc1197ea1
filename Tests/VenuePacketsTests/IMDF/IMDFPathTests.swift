import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// The path graph that is made of walls, openings and shafts.
final class IMDFPathTests: XCTestCase {
    private typealias Archive = ArchiveUnderTest

    private func museum() throws -> IMDFImport { try IMDFImporter().read(FixtureFolder("imdf/museum").path) }

    private func plan(_ name: String, of venue: Venue) throws -> ImportedPlan {
        try ImportedPlan(
            XCTUnwrap(venue.maps.first { $0.name == name }, name),
            plane: LocalTangentPlane(origin: Coordinate(latitude: 45.0712, longitude: 7.6852)), turnDegrees: 20)
    }

    private func place(_ x: Double, _ y: Double, _ name: String, of venue: Venue) throws -> RoutePoint {
        let plan = try plan(name, of: venue)
        return RoutePoint(mapID: plan.map.id, point: plan.point(x, y))
    }

    func testPathsReachEveryRoomOfTheMuseumFromItsDoor() throws {
        let venue = try museum().venue
        var planner = RoutePlanner(venue: venue)
        let door = try place(0.3, 12, "Ground floor", of: venue)
        for (x, y, floor) in [
            (6.0, 4.0, "Ground floor"), (18, 4, "Ground floor"), (36, 4, "Ground floor"), (18, 20, "Ground floor"),
            (12, 20, "Ground floor"), (3, 20, "Ground floor"), (23, 20, "Ground floor"), (27.5, 17.5, "Ground floor"),
            (35, 20, "Ground floor"), (7, 20, "Upper floor"), (21, 20, "Upper floor"), (10, 4, "Upper floor"),
        ] {
            let route = try planner.route(from: door, to: place(x, y, floor, of: venue))
            XCTAssertFalse(route.goal.crossesWall, "\(floor) \(x), \(y)")
            XCTAssertGreaterThan(route.length, 1, "\(floor) \(x), \(y)")
        }
        let office = try planner.route(from: door, to: place(28, 4, "Ground floor", of: venue))
        XCTAssertTrue(office.goal.crossesWall, "nobody gets into the office")
    }

    func testNoPathCrossesAWall() throws {
        let venue = try museum().venue
        let graph = try XCTUnwrap(venue.paths)
        let nodes = Dictionary(uniqueKeysWithValues: graph.nodes.map { ($0.id, $0) })
        let walls = Dictionary(uniqueKeysWithValues: venue.maps.map { ($0.id, WallIndex(walls: $0.walls)) })
        for edge in graph.edges {
            let (from, to) = (try XCTUnwrap(nodes[edge.from]), try XCTUnwrap(nodes[edge.to]))
            guard from.mapID == to.mapID else { continue }
            let index = try XCTUnwrap(walls[from.mapID])
            XCTAssertFalse(
                index.blocks(
                    fromX: Float(from.point.x), y: Float(from.point.y), toX: Float(to.point.x), y: Float(to.point.y)),
                "\(from) to \(to)")
        }
        XCTAssertGreaterThan(graph.edges.count, 50)
    }

    func testAPathIsOnlySlightlyLongerThanTheShortestOne() throws {
        let venue = try museum().venue
        var planner = RoutePlanner(venue: venue)
        // From the shop's door one sees the exhibition's: 8 m across and 2.4 m along.
        let straight = try planner.route(
            from: place(5.6, 8, "Ground floor", of: venue), to: place(8, 16, "Ground floor", of: venue))
        XCTAssertLessThan(straight.length, 1.25 * (64 + 5.76).squareRoot())
        // From the main door to the emergency exit the core must be passed: 40 m and a little.
        let long = try planner.route(
            from: place(0.2, 12, "Ground floor", of: venue), to: place(39.8, 12.5, "Ground floor", of: venue))
        XCTAssertLessThan(long.length, 1.25 * 40)
    }

    func testStairsAndElevatorsConnectFloors() throws {
        let venue = try museum().venue
        let (cafe, gallery) = (
            try place(18, 4, "Ground floor", of: venue), try place(21, 20, "Upper floor", of: venue)
        )
        var planner = RoutePlanner(venue: venue)
        let kinds = Set(try planner.route(from: cafe, to: gallery, .accessible).legs.map(\.kind))
        XCTAssertEqual(kinds, [.walk, .elevator])
        let edges = try XCTUnwrap(venue.paths).edges
        XCTAssertEqual(edges.filter { $0.kind == .elevator }.count, 1, "the relationship is not doubled by the shaft")
        XCTAssertEqual(edges.filter { $0.kind == .stairs }.count, 1)
        XCTAssertTrue(
            edges.allSatisfy { $0.kind == .walk || ($0.weight ?? 0) > 0 }, "a change of floors costs something")
    }

    func testAColumnIsWalkedAround() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 0, 30, 10))
        archive.unit("c", "column", Archive.box(14, 3, 16, 7))
        archive.opening("a", (0, 4), (0, 6))
        archive.opening("b", (30, 4), (30, 6))
        let venue = try importing(archive).venue
        let plan = try ImportedPlan(XCTUnwrap(venue.maps.first))
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(
            from: RoutePoint(mapID: plan.map.id, point: plan.point(0.1, 5)),
            to: RoutePoint(mapID: plan.map.id, point: plan.point(29.9, 5)))
        XCTAssertGreaterThan(route.length, 29.8)
        XCTAssertLessThan(route.length, 31.5)
    }

    func testADoorInAThickWallConnectsBothSides() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 10.5, 30, 20))
        archive.unit("r", "room", Archive.box(0, 0, 30, 10))
        archive.opening("o", (4, 10), (5, 10))
        let venue = try importing(archive).venue
        let plan = try ImportedPlan(XCTUnwrap(venue.maps.first))
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(
            from: RoutePoint(mapID: plan.map.id, point: plan.point(15, 5)),
            to: RoutePoint(mapID: plan.map.id, point: plan.point(15, 15)))
        XCTAssertLessThan(route.length, 35)
        XCTAssertFalse(route.start.crossesWall || route.goal.crossesWall)
    }

    func testAnEscalatorHasTheDirectionOfItsRelationship() throws {
        var archive = Archive()
        let square = "[\(Archive.ring(Archive.box(0, 0, 30, 30)))]"
        archive.add("level", "m", "Polygon", square, #""ordinal": 1, "building_ids": []"#)
        archive.unit("e", "escalator", Archive.box(0, 0, 5, 5))
        archive.add(
            "unit", "f", "Polygon", "[\(Archive.ring(Archive.box(0, 0, 5, 5)))]",
            #""category": "escalator", "level_id": "m""#)
        let silent = try importing(archive)
        XCTAssertNil(silent.venue.paths)
        XCTAssertEqual(
            silent.report.remarks.filter { $0.reason.contains("does not contain its direction") }.map(\.id),
            ["e", "f"])

        archive.add(
            "unit", "g", "Polygon", "[\(Archive.ring(Archive.box(5, 0, 9, 5)))]",
            #""category": "walkway", "level_id": "m""#)
        archive.unit("h", "walkway", Archive.box(5, 0, 9, 5))
        archive.files["relationship.geojson"] = """
            {"type": "FeatureCollection", "features": [{"type": "Feature", "id": "up", "feature_type": "relationship",
             "geometry": null, "properties": {"category": "escalator", "direction": "directed",
              "origin": {"id": "E", "feature_type": "unit"}, "destination": {"id": "F", "feature_type": "unit"}}}]}
            """
        let edges = try XCTUnwrap(importing(archive).venue.paths).edges
        let escalator = try XCTUnwrap(edges.first { $0.kind == .escalator })
        XCTAssertTrue(escalator.isOneWay)
        XCTAssertEqual(edges.filter { $0.kind == .escalator }.count, 1)
    }

    func testAnElevatorWithoutAnotherFloorIsReported() throws {
        var archive = Archive()
        archive.unit("e", "elevator", Archive.box(0, 0, 3, 3))
        let remarks = try importing(archive).report.remarks.filter { $0.id == "e" }
        XCTAssertTrue(remarks.contains { $0.reason.contains("no unit of its category lies above or below it") })
    }
}
