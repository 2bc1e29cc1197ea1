import IndoorLocalization
import XCTest

/// Ways that routes include or exclude by their tags.
final class RouteTagTests: XCTestCase {
    private typealias Stage = RouteStage

    /// From (0, 0) to (20, 0): straight over a step, around over a ramp, and far around.
    private static func venue() -> Venue {
        var edges = [Stage.edge(1, 2), Stage.edge(1, 3), Stage.edge(3, 2), Stage.edge(1, 4), Stage.edge(4, 2)]
        edges[0].tags = ["inaccessible", "indoors"]
        (edges[1].tags, edges[2].tags) = (["accessibleOnly", "indoors"], ["accessibleOnly"])
        return Stage.venue(nodes: [1: (1, 0, 0), 2: (1, 20, 0), 3: (1, 10, 10), 4: (1, 10, 40)], edges)
    }

    private func length(_ tags: RouteTags) throws -> Double {
        var planner = RoutePlanner(venue: Self.venue())
        var options = RouteOptions()
        options.tags = tags
        return try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 20, 0), options).length
    }

    func testPresetsExcludePathsByTheirTags() throws {
        XCTAssertEqual(try length(.none), 20, accuracy: 1e-9)
        XCTAssertEqual(try length(.excludeInaccessible), 2 * 200.0.squareRoot(), accuracy: 1e-9)
        XCTAssertEqual(try length(.excludeAccessibleOnly), 20, accuracy: 1e-9)
        XCTAssertEqual(
            try length(RouteTags(excluding: ["inaccessible", "accessibleOnly"])), 2 * 1700.0.squareRoot(),
            accuracy: 1e-9)
    }

    func testTagsAreIncludedAndExcludedByAnyOrAll() {
        for (tags, ways, expected) in [
            ([], RouteTags(), true), (["a"], RouteTags(), true),
            (["a"], RouteTags(including: ["a", "b"]), true), (["a"], RouteTags(including: ["a", "b"], .all), false),
            (["a", "b", "c"], RouteTags(including: ["a", "b"], .all), true), ([], RouteTags(including: ["a"]), false),
            (["a"], RouteTags(excluding: ["a", "b"]), false), (["a"], RouteTags(excluding: ["a", "b"], .all), true),
            (["a", "b"], RouteTags(excluding: ["a", "b"], .all), false), ([], RouteTags(excluding: ["a"]), true),
            (["a"], RouteTags(including: ["a"], excluding: ["a"]), false),
        ] as [(Set<String>, RouteTags, Bool)] {
            XCTAssertEqual(ways.permits(tags), expected, "\(tags) by \(ways)")
        }
    }

    func testOnePlannerPlansRoutesForDifferentTagsInTurn() throws {
        var planner = RoutePlanner(venue: Self.venue())
        var lengths: [Double] = []
        for tags in [RouteTags.none, .excludeInaccessible, .none, .excludeInaccessible, .excludeAccessibleOnly] {
            var options = RouteOptions()
            options.tags = tags
            lengths.append(try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 20, 0), options).length.rounded())
        }
        XCTAssertEqual(lengths, [20, 28, 20, 28, 20])
    }

    func testTheErrorNamesARouteThatTheTagsExclude() {
        var planner = RoutePlanner(
            venue: Stage.venue(
                nodes: [1: (1, 0, 0), 2: (1, 20, 0), 3: (1, 0, 9)],
                [
                    Stage.edge(1, 2), PathGraph.Edge(from: 1, to: 3, tags: ["lit"]),
                ]))
        var options = RouteOptions()
        options.tags = RouteTags(including: ["lit"])
        options.snappingDistance = 100
        XCTAssertNoThrow(try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 0, 9), options))
        options.snappingDistance = 5
        XCTAssertThrowsError(try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 20, 0), options)) { error in
            guard case RouteError.tooFarFromPaths? = error as? RouteError else { return XCTFail("\(error)") }
        }
        var parts = RoutePlanner(
            venue: Stage.venue(
                nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 20, 0), 4: (1, 30, 0)],
                [
                    Stage.edge(1, 2), PathGraph.Edge(from: 2, to: 3, tags: ["dark"]), Stage.edge(3, 4),
                ]))
        options.tags = RouteTags(excluding: ["dark"])
        XCTAssertThrowsError(try parts.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 30, 0), options)) { error in
            guard case RouteError.needsExcludedTags(_, _, let length)? = error as? RouteError else {
                return XCTFail("\(error)")
            }
            XCTAssertEqual(length, 30, accuracy: 1e-9)
            XCTAssertTrue("\(error)".contains("30.0 m"), "\(error)")
        }
    }

    func testReachablePlacesDependOnTheTags() {
        var venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 20, 0), 4: (1, 60, 0)],
            [
                Stage.edge(1, 2), PathGraph.Edge(from: 2, to: 3, tags: ["dark"]), PathGraph.Edge(from: 3, to: 4),
            ])
        venue.pointsOfInterest = [PointOfInterest(id: 1, name: "bar", mapID: 1, point: MapPoint(x: 60, y: 0))]
        var options = RouteOptions()
        options.tags = RouteTags(excluding: ["dark"])
        let start = MapPoint(x: 0, y: 0)
        XCTAssertEqual(venue.reachablePointsOfInterest(from: start, on: 1).count, 1)
        XCTAssertEqual(venue.reachablePointsOfInterest(from: start, on: 1, options).count, 0)
    }
}
