import IndoorLocalization
import XCTest

/// Where routes begin and end, what they may use, and why there is none.
final class RoutePlannerTests: XCTestCase {
    private typealias Stage = RouteStage

    private func failure(
        _ venue: Venue, _ start: RoutePoint, _ goal: RoutePoint, _ options: RouteOptions = RouteOptions(),
        line: UInt = #line
    ) throws -> RouteError {
        var planner = RoutePlanner(venue: venue)
        var found: RouteError?
        do throws(RouteError) { _ = try planner.route(from: start, to: goal, options) } catch { found = error }
        return try XCTUnwrap(found, "there is a route", line: line)
    }

    /// `findPath`: ends on different maps give vertices that carry both maps' numbers, in order from start to goal;
    /// what cannot be reached is an error.
    func testVerticesOfARouteOverTwoMapsCarryBothFromStartToGoal() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        for algorithm in RouteAlgorithm.allCases {
            var options = RouteOptions()
            options.algorithm = algorithm
            let route = try planner.route(from: Stage.at(1, 0, 10), to: Stage.at(2, 40, 10), options)
            XCTAssertEqual(
                route.vertices,
                [
                    Stage.at(1, 0, 10), Stage.at(1, 10, 10), Stage.at(1, 10, 5), Stage.at(2, 10, 5),
                    Stage.at(2, 10, 10),
                    Stage.at(2, 40, 10),
                ], "\(algorithm)")
        }
        let apart = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 50, 0), 4: (1, 60, 0)], [Stage.edge(1, 2), Stage.edge(3, 4)])
        let (start, goal) = (Stage.at(1, 5, 0), Stage.at(1, 55, 0))
        XCTAssertEqual(try failure(apart, start, goal), .unreachable(from: start, to: goal, explored: 2))
    }

    func testThePlannerConnectsEndsToTheNearestPointOfAPath() throws {
        let venue = Stage.venue(nodes: [1: (1, 0, 0), 2: (1, 40, 0)], [Stage.edge(1, 2)])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 12, 3), to: Stage.at(1, 32, 4))
        XCTAssertEqual(route.start.foot, Stage.at(1, 12, 0))
        XCTAssertEqual(route.start.distance, 3)
        XCTAssertEqual(route.goal.foot, Stage.at(1, 32, 0))
        XCTAssertEqual(
            route.vertices, [Stage.at(1, 12, 3), Stage.at(1, 12, 0), Stage.at(1, 32, 0), Stage.at(1, 32, 4)])
        XCTAssertEqual(route.length, 27)
    }

    func testARouteLeavesAOneWayPathOnlyAtItsEnd() throws {
        let nodes = [1: (1, 0.0, 0.0), 2: (1, 40.0, 0.0), 3: (1, 20.0, 30.0)]
        let venue = Stage.venue(nodes: nodes, [Stage.edge(1, 2, oneWay: true), Stage.edge(2, 3), Stage.edge(3, 1)])
        var planner = RoutePlanner(venue: venue)
        let ahead = try planner.route(from: Stage.at(1, 10, 0), to: Stage.at(1, 30, 0))
        XCTAssertEqual(ahead.length, 20)
        let around = try planner.route(from: Stage.at(1, 30, 0), to: Stage.at(1, 10, 0))
        XCTAssertEqual(around.vertices.map(\.y), [0, 0, 30, 0, 0])
    }

    func testTwoOppositeOneWayPathsPermitBothDirections() throws {
        let venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 40, 0)], [Stage.edge(1, 2, oneWay: true), Stage.edge(2, 1, oneWay: true)])
        var planner = RoutePlanner(venue: venue)
        XCTAssertEqual(try planner.route(from: Stage.at(1, 10, 0), to: Stage.at(1, 30, 0)).length, 20)
        XCTAssertEqual(try planner.route(from: Stage.at(1, 30, 0), to: Stage.at(1, 10, 0)).length, 20)
    }

    func testThePlannerDoesNotConnectToAPathBehindAWall() throws {
        let wall = [MapPoint(x: 0, y: 2), MapPoint(x: 50, y: 2)]
        let venue = Stage.venue(
            walls: [wall], nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (1, 0, 10), 4: (1, 40, 10)],
            [Stage.edge(1, 2), Stage.edge(3, 4), Stage.edge(2, 4)])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 20, 3), to: Stage.at(1, 10, 0))
        XCTAssertEqual(route.start.foot, Stage.at(1, 20, 10))
        XCTAssertFalse(route.start.crossesWall)
    }

    func testThePlannerConnectsThroughAWallIfWallsBlockEveryPath() throws {
        let cell = [(10.0, 2.0), (20.0, 2.0), (20.0, 8.0), (10.0, 8.0), (10.0, 2.0)].map { MapPoint(x: $0, y: $1) }
        let venue = Stage.venue(
            walls: [cell], nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (1, 0, 20)], [Stage.edge(1, 2), Stage.edge(1, 3)])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 15, 5), to: Stage.at(1, 40, 0))
        XCTAssertEqual(route.start.foot, Stage.at(1, 15, 0))
        XCTAssertTrue(route.start.crossesWall)
        XCTAssertFalse(route.goal.crossesWall)
    }

    func testAPlaceOnAWallIsNotBehindIt() throws {
        let venue = Stage.venue(
            walls: [[MapPoint(x: 0, y: 2), MapPoint(x: 50, y: 2)]], nodes: [1: (1, 0, 0), 2: (1, 40, 0)],
            [Stage.edge(1, 2)])
        var planner = RoutePlanner(venue: venue)
        XCTAssertFalse(try planner.route(from: Stage.at(1, 20, 2), to: Stage.at(1, 40, 0)).start.crossesWall)
    }

    func testARouteReachesAMapThatHasOnlyALanding() throws {
        let venue = Stage.venue(
            maps: 2, nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (2, 40, 0)],
            [Stage.edge(1, 2), Stage.edge(2, 3, 20, .elevator)])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(2, 40, 5))
        XCTAssertEqual(route.legs.map(\.kind), [.walk, .elevator, .walk])
        XCTAssertEqual(route.cost, 65)
    }

    func testAnAccessibleRouteTakesTheElevatorInsteadOfTheStairs() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let (start, goal) = (Stage.at(1, 0, 10), Stage.at(2, 0, 10))
        XCTAssertTrue(try planner.route(from: start, to: goal).legs.contains { $0.kind == .stairs })
        let route = try planner.route(from: start, to: goal, .accessible)
        XCTAssertEqual(Set(route.legs.map(\.kind)), [.walk, .elevator])
        XCTAssertEqual(route.cost, 30 + 5 + 30 + 5 + 30)
    }

    func testACostFactorMakesARouteAvoidAKindOfPath() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        var options = RouteOptions()
        options.costFactors = [.stairs: 10]
        let route = try planner.route(from: Stage.at(1, 0, 10), to: Stage.at(2, 0, 10), options)
        XCTAssertTrue(route.legs.contains { $0.kind == .elevator })
        XCTAssertEqual(route.cost, route.effort)
    }

    func testTheErrorNamesTheStairsIfThereIsNoAccessibleRoute() throws {
        let venue = Stage.venue(
            maps: 2, nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (2, 40, 0), 4: (2, 0, 0)],
            [Stage.edge(1, 2), Stage.edge(2, 3, 10, .stairs), Stage.edge(3, 4)])
        let (start, goal) = (Stage.at(1, 0, 0), Stage.at(2, 0, 0))
        let error = try failure(venue, start, goal, .accessible)
        XCTAssertEqual(error, .needsExcludedWays(from: start, to: goal, kinds: [.stairs], length: 84))
        let text = "uses stairs, which the options exclude; a route with them has 84.0 m"
        XCTAssertTrue("\(error)".contains(text), "\(error)")
    }

    func testAVenueWithoutPathsHasNoRoutes() throws {
        let venue = Venue(id: 7, name: "Bare", maps: [VenueMap(id: 1, name: "G", level: 0, width: 9, height: 9)])
        XCTAssertEqual(try failure(venue, Stage.at(1, 0, 0), Stage.at(1, 1, 1)), .noPaths(7))
        var nodesOnly = venue
        nodesOnly.paths = PathGraph(nodes: [PathGraph.Node(id: 1, mapID: 1, point: MapPoint(x: 0, y: 0))], edges: [])
        XCTAssertEqual(try failure(nodesOnly, Stage.at(1, 0, 0), Stage.at(1, 1, 1)), .noPaths(7))
    }

    func testThePlannerRejectsAnEndOnAnUnknownMap() throws {
        let known = Stage.at(1, 0, 10)
        XCTAssertEqual(try failure(Stage.twoFloors, Stage.at(9, 0, 0), known), .unknownMap(9, .start, known: [1, 2]))
        XCTAssertEqual(try failure(Stage.twoFloors, known, Stage.at(9, 0, 0)), .unknownMap(9, .goal, known: [1, 2]))
    }

    func testThePlannerRejectsAnEndTooFarFromEveryPath() throws {
        var options = RouteOptions()
        options.snappingDistance = 5
        let far = Stage.at(1, 20, 17)
        XCTAssertEqual(
            try failure(Stage.twoFloors, far, Stage.at(1, 0, 10), options),
            .tooFarFromPaths(far, .start, nearest: 7, limit: 5))
        options.snappingDistance = 7
        var planner = RoutePlanner(venue: Stage.twoFloors)
        XCTAssertEqual(try planner.route(from: far, to: Stage.at(1, 0, 10), options).length, 27)
    }

    func testThePlannerRejectsInvalidEnds() throws {
        for value in [Double.nan, .infinity, -1e300, 1e18] {
            let error = try failure(Stage.twoFloors, Stage.at(1, value, 0), Stage.at(1, 0, 10))
            guard case .tooFarFromPaths(_, .start, nearest: nil, _) = error else {
                return XCTFail("\(value): \(error)")
            }
        }
        let far = try failure(Stage.twoFloors, Stage.at(1, -9e8, 9e8), Stage.at(1, 0, 10))
        guard case .tooFarFromPaths(_, .start, nearest: .some, _) = far else { return XCTFail("\(far)") }
    }

    func testThePlannerRejectsOptionsOutOfRange() throws {
        for change: (inout RouteOptions) -> Void in [
            { $0.costFactors = [.walk: -1] }, { $0.costFactors = [.walk: .nan] }, { $0.snappingDistance = 0 },
            { $0.walkingSpeed = 0 }, { $0.walkingSpeed = .infinity },
        ] {
            var options = RouteOptions()
            change(&options)
            let error = try failure(Stage.twoFloors, Stage.at(1, 0, 10), Stage.at(1, 1, 10), options)
            guard case .optionOutOfRange(let text) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(text.contains(" must be in "), text)
        }
    }

    func testThePlannerListsAndIgnoresInvalidEdges() throws {
        let bad = [
            Stage.edge(1, 9), Stage.edge(9, 1), Stage.edge(1, 1), Stage.edge(1, 2, -1), Stage.edge(1, 2, .nan),
            Stage.edge(1, 2, .infinity), Stage.edge(1, 3), Stage.edge(1, 4),
        ]
        let venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (1, .nan, 0), 4: (8, 0, 0)], bad + [Stage.edge(1, 2)])
        var planner = RoutePlanner(venue: venue)
        XCTAssertEqual(planner.ignoredEdges.count, bad.count)
        XCTAssertEqual(try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 40, 0)).length, 40)
    }

    func testARouteToTheStartHasNoLegs() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let route = try planner.route(from: Stage.at(1, 5, 10), to: Stage.at(1, 5, 10))
        XCTAssertEqual(route.vertices, [Stage.at(1, 5, 10)])
        XCTAssertEqual(route.legs, [])
        XCTAssertEqual(route.length, 0)
        XCTAssertEqual(route.duration, .zero)
    }

    func testAPlannerReturnsTheSameRouteEachTime() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let first = try planner.route(from: Stage.at(1, 0, 10), to: Stage.at(2, 40, 10))
        for _ in 0..<5 {
            _ = try? planner.route(from: Stage.at(2, 40, 10), to: Stage.at(1, 3, 10), .accessible)
            XCTAssertEqual(try planner.route(from: Stage.at(1, 0, 10), to: Stage.at(2, 40, 10)), first)
        }
    }

    func testRoutesCrossPlansWithOtherOrigins() throws {
        // The upper floor's plan begins 1,000 m farther right; the weights tell what the ways cost.
        let venue = Stage.venue(
            maps: 2, nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (2, 1040, 0), 4: (2, 1000, 0), 5: (2, 1001, 9)],
            [
                Stage.edge(1, 2), Stage.edge(2, 3, 10, .elevator), Stage.edge(3, 4), Stage.edge(1, 4, 60, .stairs),
                Stage.edge(4, 5),
            ])
        var planner = RoutePlanner(venue: venue)
        XCTAssertEqual(try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(2, 1000, 0)).cost, 60)
        XCTAssertEqual(try planner.route(from: Stage.at(1, 20, 0), to: Stage.at(2, 1000, 0)).cost, 70)
    }
}

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

/// The nearest way is found by place as it is found by looking at all of them.
final class RouteSnappingTests: XCTestCase {
    /// Ways of all lengths within 100 m, from a centimetre to the diagonal, and those that stand upright or lie flat.
    private func segments(_ generator: inout SeededGenerator, _ count: Int) -> [(MapPoint, MapPoint)] {
        (0..<count).map { index in
            let from = MapPoint(x: generator.uniform() * 100, y: generator.uniform() * 100)
            let reach = [0.01, 1, 5, 100][index % 4]
            var to = from + MapPoint(x: (generator.uniform() - 0.5) * reach, y: (generator.uniform() - 0.5) * reach)
            if index % 5 == 0 { to.x = from.x }
            if index % 7 == 0 { to.y = from.y }
            return (from, to)
        }
    }

    private func distance(from point: MapPoint, to segment: (MapPoint, MapPoint)) -> Double {
        let (way, offset) = (segment.1 - segment.0, point - segment.0)
        let square = way.x * way.x + way.y * way.y
        let share = square > 0 ? min(1, max(0, (way.x * offset.x + way.y * offset.y) / square)) : 0
        return (segment.0 + way * share).distance(to: point)
    }

    func testTheIndexFindsTheNearestPath() throws {
        for (seed, count) in [(1, 1), (2, 2), (3, 40), (4, 700)] {
            var generator = SeededGenerator(seed: UInt64(seed))
            let segments = segments(&generator, count)
            var nodes: [Int: (Int, Double, Double)] = [:]
            for (index, segment) in segments.enumerated() {
                nodes[2 * index] = (1, segment.0.x, segment.0.y)
                nodes[2 * index + 1] = (1, segment.1.x, segment.1.y)
            }
            let edges = segments.indices.map { RouteStage.edge(2 * $0, 2 * $0 + 1) }
            var planner = RoutePlanner(venue: RouteStage.venue(nodes: nodes, edges))
            var options = RouteOptions()
            options.snappingDistance = 1000
            for _ in 0..<200 {
                let place = RouteStage.at(1, generator.uniform() * 300 - 100, generator.uniform() * 300 - 100)
                let nearest = try XCTUnwrap(segments.map { distance(from: place.point, to: $0) }.min())
                let route = try planner.route(from: place, to: place, options)
                XCTAssertEqual(route.start.distance, nearest, accuracy: 1e-9, "seed \(seed), \(place)")
                options.snappingDistance = nearest + 1e-6
                XCTAssertNoThrow(try planner.route(from: place, to: place, options), "seed \(seed), \(place)")
                options.snappingDistance = max(1e-3, nearest - 1e-6)
                if nearest > 2e-3 {
                    XCTAssertThrowsError(try planner.route(from: place, to: place, options), "seed \(seed), \(place)")
                }
                options.snappingDistance = 1000
            }
        }
    }

    func testTheIndexFindsTheNearestPathThatIsNotBehindAWall() throws {
        var generator = SeededGenerator(seed: 9)
        let segments = segments(&generator, 150)
        let walls = (0..<120).map { _ in
            let from = MapPoint(x: generator.uniform() * 100, y: generator.uniform() * 100)
            return [from, from + MapPoint(x: generator.uniform() * 12 - 6, y: generator.uniform() * 12 - 6)]
        }
        var nodes: [Int: (Int, Double, Double)] = [:]
        for (index, segment) in segments.enumerated() {
            nodes[2 * index] = (1, segment.0.x, segment.0.y)
            nodes[2 * index + 1] = (1, segment.1.x, segment.1.y)
        }
        let edges = segments.indices.map { RouteStage.edge(2 * $0, 2 * $0 + 1) }
        var planner = RoutePlanner(venue: RouteStage.venue(walls: walls, nodes: nodes, edges))
        var blocked = 0
        for _ in 0..<500 {
            let place = RouteStage.at(1, generator.uniform() * 100, generator.uniform() * 100)
            let nearest = try XCTUnwrap(segments.map { distance(from: place.point, to: $0) }.min())
            let route = try planner.route(from: place, to: place)
            let isBlocked = walls.contains { wall in
                crosses((place.point, route.start.foot.point), (wall[0], wall[1]))
            }
            XCTAssertEqual(isBlocked, route.start.crossesWall, "\(place)")
            XCTAssertGreaterThanOrEqual(route.start.distance, nearest - 1e-9, "\(place)")
            if route.start.distance > nearest + 1e-6 { blocked += 1 }
        }
        XCTAssertGreaterThan(blocked, 20, "walls were in the way too rarely to test anything")
    }

    /// Whether two segments cross; the first decimetre of the first one does not count.
    private func crosses(_ way: (MapPoint, MapPoint), _ wall: (MapPoint, MapPoint)) -> Bool {
        let length = way.0.distance(to: way.1)
        guard length > 0.1 else { return false }
        let begin = way.0 + (way.1 - way.0) * (0.1 / length)
        func side(_ a: MapPoint, _ b: MapPoint, _ c: MapPoint) -> Double {
            (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        }
        return side(begin, way.1, wall.0) * side(begin, way.1, wall.1) <= 0
            && side(wall.0, wall.1, begin) * side(wall.0, wall.1, way.1) <= 0
    }
}
