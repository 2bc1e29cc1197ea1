import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

@testable import indoorloc

/// Routes through the office, whose paths can be checked on its plans.
final class VenueRouteCommandTests: XCTestCase {
    private func route(_ arguments: String...) throws -> Tool.Result {
        try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
    }

    private func assertPrints(_ arguments: String..., test: String = #function, line: UInt = #line) throws {
        let result = try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
        XCTAssertEqual(result.status, 0, line: line)
        XCTAssertEqual(result.errors, "", line: line)
        try assertSnapshot(result.output, test: test, line: line)
    }

    func testRouteUpTheStairs() throws { try assertPrints("--from", "1,5,10", "--to-poi", "Books") }
    func testAccessibleRouteByElevator() throws {
        try assertPrints("--from", "1,5,10", "--to-poi", "Books", "--accessible")
    }
    func testRouteAsJSON() throws { try assertPrints("--from", "1,13,5", "--to", "1,30,10", "--json") }

    /// `findPath` through a packet: both maps' numbers in order from start to goal, by either algorithm.
    func testVerticesAsJSONLeadFromMapToMap() throws {
        var texts: [String] = []
        for algorithm in ["astar", "dijkstra"] {
            let result = try route("--from", "1,5,10", "--to", "2,5,5", "--algorithm", algorithm, "--json")
            XCTAssertEqual(result.status, 0, result.errors)
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            let vertices = try XCTUnwrap((object as? [String: Any])?["vertices"] as? [[String: Any]])
            XCTAssertEqual(vertices.compactMap { $0["mapId"] as? Int }, [1, 1, 1, 2, 2, 2, 2])
            XCTAssertEqual([vertices[0], vertices[6]].map { $0["x"] as? Double }, [5, 5])
            XCTAssertEqual([vertices[0], vertices[6]].map { $0["y"] as? Double }, [10, 5])
            texts.append(result.output)
        }
        XCTAssertEqual(texts[0], texts[1])
    }

    func testEveryPointOfInterestOfTheOfficeIsReachedFromEveryOtherWithoutStairsOrWalls() throws {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        var planner = RoutePlanner(venue: venue)
        XCTAssertEqual(planner.ignoredEdges, [])
        for start in venue.pointsOfInterest {
            for goal in venue.pointsOfInterest {
                let route = try planner.route(from: RoutePoint(start), to: RoutePoint(goal), .accessible)
                XCTAssertFalse(route.start.crossesWall, start.name)
                XCTAssertFalse(route.legs.contains { $0.kind == .stairs }, "\(start.name) to \(goal.name)")
                XCTAssertEqual(route.legs.contains { $0.kind == .elevator }, start.mapID != goal.mapID)
                XCTAssertGreaterThanOrEqual(
                    route.cost, start.mapID == goal.mapID ? start.point.distance(to: goal.point) - 1e-9 : 30)
            }
        }
    }

    func testARouteLeadsToTheNearestPointOfInterestOfAName() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "route-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let office = try String(contentsOf: URL(filePath: FixtureFolder("office").file("venue.json")), encoding: .utf8)
        // Routes don't need the packet's images, which are missing beside the copy.
        var object = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(office.utf8)) as? [String: Any])
        var maps = try XCTUnwrap(object["maps"] as? [[String: Any]])
        for index in maps.indices { ["image", "tiles"].forEach { maps[index][$0] = nil } }
        object["maps"] = maps
        object["pois"] = [(1, 1, 7, 15), (2, 1, 17, 15), (3, 2, 5, 5)].map { id, map, x, y in
            ["id": id, "name": "Printer", "mapId": map, "x": x, "y": y] as [String: Any]
        }
        try JSONSerialization.data(withJSONObject: object).write(to: folder.appending(path: "venue.json"))
        for (start, x) in [("1,7,10", 7.0), ("1,17,10", 17), ("2,5.5,15", 5)] {
            let result = try Tool.run(["venue", "route", folder.path, "--from", start, "--to-poi", "Printer", "--json"])
            XCTAssertEqual(result.status, 0, result.errors)
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            XCTAssertEqual((object?["goal"] as? [String: Any])?["x"] as? Double, x, start)
        }
    }

    func testImpossibleRoutesAreReported() throws {
        for (arguments, part) in [
            (["--from", "1,5,10", "--to-poi", "Nix"], "has no point of interest 'Nix'; it has 'Books', "),
            (
                ["--from", "1,5,10", "--to", "9,0,0"],
                "the route's goal is on map 9, which the venue does not have; its maps are 1, 2"
            ),
            (["--from", "1,5,10", "--to", "2,500,0"], "is not within 30.0 m of a permitted path"),
        ] {
            let result = try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
            XCTAssertEqual(result.status, 1)
            XCTAssertEqual(result.output, "")
            XCTAssertTrue(result.errors.contains(part), result.errors)
        }
    }

    func testInvalidRouteOptionsAreUsageErrors() throws {
        for (arguments, part) in [
            (["--to", "1,1,1"], "--from is missing"), (["--from", "1,1,1"], "--to or --to-poi is missing"),
            (["--from", "1,1,1", "--to", "1,1,1", "--to-poi", "Books"], "--to and --to-poi can't be combined"),
            (["--from", "1,1", "--to", "1,1,1"], "--from must be MAP,X,Y"),
            (["--from", "1,1,1", "--to", "1,nan,1"], "--to must be MAP,X,Y"),
            (["--from", "1,1,1", "--to", "1,1,1", "--algorithm", "x"], "--algorithm must be one of astar, dijkstra"),
        ] {
            let result = try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
            XCTAssertEqual(result.status, 2, part)
            XCTAssertTrue(result.errors.contains(part), result.errors)
        }
    }

    func testTheRouteBenchmarkReachesTheTopFloor() throws {
        var bench = RouteBench(floors: 3, side: 40, algorithm: .aStar)
        var other = RouteBench(floors: 3, side: 40, algorithm: .dijkstra)
        XCTAssertEqual(bench.nodes, 4800)
        let (route, reference) = (try XCTUnwrap(bench.route()), try XCTUnwrap(other.route()))
        XCTAssertEqual(route.vertices.last?.mapID, 2)
        XCTAssertEqual(route.cost, reference.cost, accuracy: 1e-9 * reference.cost)
    }
}
