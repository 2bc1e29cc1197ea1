import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// Which outlines become walls, on small plans.
final class IMDFWallTests: XCTestCase {
    private typealias Archive = ArchiveUnderTest

    private func plan(_ archive: ArchiveUnderTest) throws -> ImportedPlan {
        try ImportedPlan(XCTUnwrap(importing(archive).venue.maps.first))
    }

    /// A room south of a walkway, with a door from x = 4 to x = 5.
    private func roomAndWalkway() -> ArchiveUnderTest {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 10, 30, 20))
        archive.unit("r", "room", Archive.box(0, 0, 30, 10))
        archive.opening("o", (4, 10), (5, 10))
        return archive
    }

    func testADoorIsAGapInTheWall() throws {
        let plan = try plan(roomAndWalkway())
        XCTAssertFalse(plan.blocks((4.5, 9), (4.5, 11)), "through the door")
        XCTAssertFalse(plan.blocks((4.05, 9), (4.05, 11)), "through the door, at its edge")
        XCTAssertTrue(plan.blocks((3.9, 9), (3.9, 11)), "beside the door")
        XCTAssertTrue(plan.blocks((5.1, 9), (5.1, 11)), "beside the door, on the other side")
        XCTAssertTrue(plan.blocks((15, 9), (15, 11)))
    }

    func testAnEdgeOfTwoNeighboursIsOneWall() throws {
        // The outline of both, the edge between them, and no wall in the door.
        XCTAssertEqual(try plan(roomAndWalkway()).wallLength, 100 + 30 - 1, accuracy: 0.05)
    }

    func testAnEdgeThatIsAPartOfALongerOneIsNotDrawnAgain() throws {
        var archive = roomAndWalkway()
        archive.unit("s", "room", Archive.box(10, 20, 14, 24))
        archive.opening("p", (11, 20), (12, 20))
        let plan = try plan(archive)
        let before = try self.plan(roomAndWalkway()).wallLength
        XCTAssertEqual(plan.wallLength, before + 3 * 4 - 1, accuracy: 0.05)
        XCTAssertFalse(plan.blocks((11.5, 19), (11.5, 21)))
    }

    func testADoorInAThickWallOpensBothSides() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 10.4, 30, 20))
        archive.unit("r", "room", Archive.box(0, 0, 30, 10))
        archive.opening("o", (4, 10), (5, 10))
        let plan = try plan(archive)
        XCTAssertFalse(plan.blocks((4.5, 9), (4.5, 11)))
        XCTAssertTrue(plan.blocks((7, 9.5), (7, 10.2)), "its near side")
        XCTAssertTrue(plan.blocks((7, 10.2), (7, 11)), "its far side")
    }

    func testADoorDrawnInTheMiddleOfABrickWallOpensIt() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 10.3, 30, 20))
        archive.unit("b", "brick", Archive.box(0, 10, 30, 10.3))
        archive.unit("r", "room", Archive.box(0, 0, 30, 10))
        archive.opening("o", (4, 10.15), (5, 10.15))
        let plan = try plan(archive)
        XCTAssertFalse(plan.blocks((4.5, 9), (4.5, 11)))
        XCTAssertTrue(plan.blocks((5.5, 9), (5.5, 11)))
        XCTAssertFalse(plan.isWalkable(5.5, 10.15))
    }

    func testADoorDoesNotOpenTheWallAcrossTheRoom() throws {
        var archive = roomAndWalkway()
        archive.unit("s", "room", Archive.box(0, 20, 30, 21))
        archive.opening("p", (20, 20), (21, 20))
        let plan = try plan(archive)
        XCTAssertFalse(plan.blocks((20.5, 19.5), (20.5, 20.5)))
        XCTAssertTrue(plan.blocks((20.5, 20.5), (20.5, 22)))
    }

    func testPartsOfOneOpenSpaceHaveNoWallBetweenThem() throws {
        var archive = Archive()
        archive.unit("a", "walkway", Archive.box(0, 0, 15, 30))
        archive.unit("b", "lobby", Archive.box(15, 5, 30, 20))
        archive.unit("c", "walkway.island", Archive.box(15.1, 20, 30, 30))
        let plan = try plan(archive)
        XCTAssertFalse(plan.blocks((14, 10), (16, 10)))
        XCTAssertFalse(plan.blocks((14, 25), (16, 25)), "a gap of 10 cm is an inaccuracy of the drawing")
        XCTAssertFalse(plan.blocks((20, 19), (20, 21)))
        XCTAssertTrue(plan.blocks((14, 3), (16, 3)), "nothing is beyond that edge")
        XCTAssertTrue(plan.blocks((1, 1), (-1, 1)), "nor outside of the building")
    }

    func testAnOpeningInTheFacadeIsTheMainDoor() throws {
        var archive = Archive()
        archive.unit("a", "walkway", Archive.box(0, 0, 30, 30))
        archive.opening("o", (0, 10), (0, 12))
        let plan = try plan(archive)
        XCTAssertFalse(plan.blocks((1, 11), (-1, 11)))
        XCTAssertTrue(plan.blocks((1, 13), (-1, 13)))
    }

    func testAnOpenSpaceOutdoorsHasNoWall() throws {
        var archive = Archive(isOutdoor: true)
        archive.unit("a", "walkway", Archive.box(0, 0, 20, 20))
        archive.unit("bed", "vegetation", Archive.box(5, 5, 10, 10))
        let plan = try plan(archive)
        XCTAssertFalse(plan.blocks((19, 10), (21, 10)))
        XCTAssertTrue(plan.blocks((4, 7), (6, 7)), "people go around a bed of flowers")
    }

    func testAPublicRoomWithoutADoorCanBeEntered() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 10, 30, 20))
        archive.unit("r", "restroom", Archive.box(0, 0, 10, 10))
        archive.unit("n", "nonpublic", Archive.box(10, 0, 20, 10))
        archive.unit("e", "office", Archive.box(20, 0, 30, 10), more: #", "restriction": "employeesonly""#)
        let imported = try importing(archive)
        let plan = try ImportedPlan(XCTUnwrap(imported.venue.maps.first))
        XCTAssertFalse(plan.blocks((5, 9), (5, 11)), "the archive does not tell where its door is")
        XCTAssertTrue(plan.blocks((15, 9), (15, 11)))
        XCTAssertTrue(plan.blocks((25, 9), (25, 11)))
        XCTAssertTrue(plan.blocks((9, 5), (11, 5)), "its neighbour's wall")
        XCTAssertTrue(plan.blocks((5, 1), (5, -1)), "the facade")
        let changed = imported.report.remarks.filter { $0.reason.contains("no opening lies on its outline") }
        XCTAssertEqual(changed.map(\.id), ["r", "n", "e"])
    }

    func testAStairwellWithADoorHasWallsAndOneWithoutHasNone() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 10, 30, 20))
        archive.unit("s", "stairs", Archive.box(0, 0, 10, 10))
        archive.unit("t", "stairs", Archive.box(20, 0, 30, 10))
        archive.opening("o", (4, 10), (6, 10))
        let plan = try plan(archive)
        XCTAssertTrue(plan.blocks((2, 9), (2, 11)))
        XCTAssertFalse(plan.blocks((5, 9), (5, 11)))
        XCTAssertFalse(plan.blocks((25, 9), (25, 11)))
    }

    func testTheChordOfADoorOpensARoundWall() throws {
        var archive = Archive()
        let circle = (0..<24).map { index -> (Double, Double) in
            let angle = Double(index) * .pi / 12
            return (15 + 5 * cos(angle), 15 + 5 * sin(angle))
        }
        archive.unit("w", "walkway", Archive.box(0, 0, 30, 30))
        archive.unit("r", "room", circle)
        archive.opening("o", circle[0], circle[2])
        let plan = try plan(archive)
        let door = (15 + 5 * cos(Double.pi / 12), 15 + 5 * sin(Double.pi / 12))
        XCTAssertFalse(plan.blocks((15, 15), (2 * door.0 - 15, 2 * door.1 - 15)))
        XCTAssertTrue(plan.blocks((15, 15), (15, 25)))
    }

    func testAColumnHasWallsAndIsNotWalkable() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 0, 20, 20))
        archive.unit("c", "column", Archive.box(5, 5, 6, 6))
        let plan = try plan(archive)
        XCTAssertTrue(plan.blocks((4, 5.5), (5.5, 5.5)))
        XCTAssertFalse(plan.isWalkable(5.5, 5.5))
        XCTAssertTrue(plan.isWalkable(4.5, 5.5))
        XCTAssertEqual(plan.walkableArea, 20 * 20 - 1, accuracy: 0.1)
    }

    func testAHoleHasWallsAndIsNotWalkable() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 0, 20, 20), Archive.box(5, 5, 15, 12))
        let plan = try plan(archive)
        XCTAssertTrue(plan.blocks((4, 8), (6, 8)))
        XCTAssertFalse(plan.isWalkable(10, 8))
        XCTAssertEqual(plan.walkableArea, 20 * 20 - 70, accuracy: 0.1)
    }

    func testOverlappingColumnsAreSubtractedOnce() throws {
        var archive = Archive()
        archive.unit("w", "walkway", Archive.box(0, 0, 20, 20))
        archive.unit("c", "column", Archive.box(5, 5, 8, 8))
        archive.unit("d", "wood", Archive.box(7, 4, 10, 7))
        archive.unit("e", "concrete", Archive.box(18, 18, 25, 25))
        let plan = try plan(archive)
        XCTAssertEqual(plan.walkableArea, 400 - (9 + 9 - 2) - 4, accuracy: 0.1)
        XCTAssertFalse(plan.isWalkable(7.5, 6))
    }

    func testALevelWithoutUnitsIsWalkableAsAWhole() throws {
        let plan = try plan(Archive())
        XCTAssertEqual(plan.walkableArea, 900, accuracy: 0.1)
        XCTAssertTrue(plan.map.walls.isEmpty)
    }

    func testAnOutlineThatCrossesItselfKeepsItsWallsAndLosesItsShape() throws {
        var archive = Archive()
        archive.unit("w", "room", [(0, 0), (10, 10), (10, 0), (0, 10)])
        archive.opening("o", (10, 4), (10, 5))
        let imported = try importing(archive)
        let plan = try ImportedPlan(XCTUnwrap(imported.venue.maps.first))
        XCTAssertNil(try XCTUnwrap(imported.venue.rooms.first).area)
        XCTAssertTrue(plan.blocks((9, 7), (11, 7)))
        XCTAssertEqual(plan.walkableArea, 50, accuracy: 0.1)
        XCTAssertTrue(imported.report.remarks.contains { $0.id == "w" && $0.reason.contains("crosses") })
        XCTAssertNoThrow(try VenuePacketWriter().document(of: imported.venue))
    }
}

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
