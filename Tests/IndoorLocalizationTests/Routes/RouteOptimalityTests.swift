import IndoorLocalization
import XCTest

/// Routes through random graphs cost what trying everything finds.
final class RouteOptimalityTests: XCTestCase {
    private static let seeds: Range<UInt64> = 1..<400

    /// Few coordinates, so that nodes and ways often lie upon each other.
    private func randomVenue(_ generator: inout SeededGenerator) -> Venue {
        let maps = Int.random(in: 1...3, using: &generator)
        let count = Int.random(in: 2...14, using: &generator)
        var nodes: [Int: (Int, Double, Double)] = [:]
        for id in 0..<count {
            nodes[id] = (
                Int.random(in: 1...maps, using: &generator), Double(Int.random(in: 0...8, using: &generator)) * 5,
                Double(Int.random(in: 0...8, using: &generator)) * 5
            )
        }
        let edges = (0..<Int.random(in: 1...30, using: &generator)).map { _ -> PathGraph.Edge in
            let weights = [nil, nil, nil, 0, generator.uniform() * 5, generator.uniform() * 100]
            return RouteStage.edge(
                Int.random(in: 0..<count, using: &generator), Int.random(in: 0..<count, using: &generator),
                weights.randomElement(using: &generator) ?? nil,
                RouteStage.Kind.allCases.randomElement(using: &generator) ?? .walk,
                oneWay: generator.uniform() < 0.3)
        }
        // No edge is there twice by chance: half of them again, with other weights or directions.
        let parallel = edges.filter { _ in generator.uniform() < 0.2 }.map { edge in
            RouteStage.edge(edge.to, edge.from, edge.weight.map { $0 / 2 }, edge.kind, oneWay: !edge.isOneWay)
        }
        return RouteStage.venue(maps: maps, nodes: nodes, edges + parallel)
    }

    private func randomPlace(_ venue: Venue, _ generator: inout SeededGenerator) -> RoutePoint {
        let nodes = venue.paths?.nodes ?? []
        if generator.uniform() < 0.4, let node = nodes.randomElement(using: &generator) {
            return RoutePoint(mapID: node.mapID, point: node.point)
        }
        return RouteStage.at(
            Int.random(in: 1...venue.maps.count, using: &generator), generator.uniform() * 50 - 5,
            generator.uniform() * 50 - 5)
    }

    private func randomOptions(_ generator: inout SeededGenerator) -> RouteOptions {
        var options = RouteOptions()
        options.snappingDistance = 1000
        if generator.uniform() < 0.3 { options.isAccessible = true }
        if generator.uniform() < 0.3 { options.costFactors = [.walk: generator.uniform() * 3, .elevator: 0.2] }
        return options
    }

    /// The cost of a route without the walks to and from the ways; nil if there is none.
    private func cost(
        _ planner: inout RoutePlanner, _ start: RoutePoint, _ goal: RoutePoint, _ options: RouteOptions
    ) -> Double? {
        guard let route = try? planner.route(from: start, to: goal, options) else { return nil }
        return route.cost - route.start.distance - route.goal.distance
    }

    func testBothAlgorithmsFindTheRouteOfAnExhaustiveSearch() throws {
        var (found, unreachable) = (0, 0)
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            let venue = randomVenue(&generator)
            var planner = RoutePlanner(venue: venue)
            for _ in 0..<6 {
                let (start, goal) = (randomPlace(venue, &generator), randomPlace(venue, &generator))
                var options = randomOptions(&generator)
                let expected = RouteReference(try XCTUnwrap(venue.paths), options).cost(from: start, to: goal)
                for algorithm in RouteAlgorithm.allCases {
                    options.algorithm = algorithm
                    let told = cost(&planner, start, goal, options)
                    let what = "seed \(seed), \(algorithm) from \(start) to \(goal)"
                    XCTAssertEqual(told == nil, expected == nil, what)
                    // Sums of the same numbers in another order.
                    if let told, let expected { XCTAssertEqual(told, expected, accuracy: 1e-9 * (1 + expected), what) }
                }
                if expected == nil { unreachable += 1 } else { found += 1 }
            }
        }
        XCTAssertGreaterThan(found, 500)
        XCTAssertGreaterThan(unreachable, 100)
    }

    func testLegsAndVerticesOfEveryRouteBelongTogether() throws {
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            let venue = randomVenue(&generator)
            var planner = RoutePlanner(venue: venue)
            let (start, goal) = (randomPlace(venue, &generator), randomPlace(venue, &generator))
            var options = RouteOptions()
            options.snappingDistance = 1000
            guard let route = try? planner.route(from: start, to: goal, options) else { continue }
            let what = "seed \(seed)"
            XCTAssertEqual(route.vertices.first, start, what)
            XCTAssertEqual(route.vertices.last?.mapID, goal.mapID, what)
            XCTAssertLessThan(try XCTUnwrap(route.vertices.last).point.distance(to: goal.point), 1e-6, what)
            for (leg, next) in zip(route.legs, route.legs.dropFirst()) {
                XCTAssertEqual(leg.end, next.begin, what)
                XCTAssertEqual(leg.vertices.upperBound, next.vertices.lowerBound, what)
            }
            for leg in route.legs {
                XCTAssertEqual(route.vertices[leg.vertices.lowerBound], leg.begin, what)
                XCTAssertEqual(route.vertices[leg.vertices.upperBound], leg.end, what)
            }
            // Sums in another order.
            XCTAssertEqual(
                route.legs.reduce(0) { $0 + $1.length }, route.length, accuracy: 1e-9 * (1 + route.length), what)
            XCTAssertEqual(route.cost, route.effort, accuracy: 1e-9 * (1 + route.cost), what)
            XCTAssertEqual(route.point(at: 0), start, what)
            // Of a ride alone, nothing is walked: all of it is at its beginning.
            guard route.length > 0 else { continue }
            XCTAssertLessThan(route.point(at: route.length).point.distance(to: goal.point), 1e-6, what)
        }
    }

    func testAStarVisitsFewerNodesThanDijkstra() throws {
        let side = 30
        var nodes: [Int: (Int, Double, Double)] = [:]
        var edges: [PathGraph.Edge] = []
        for row in 0..<side {
            for column in 0..<side {
                let id = row * side + column
                nodes[id] = (1, Double(column) * 3, Double(row) * 3)
                if column + 1 < side { edges.append(RouteStage.edge(id, id + 1)) }
                if row + 1 < side { edges.append(RouteStage.edge(id, id + side)) }
            }
        }
        var planner = RoutePlanner(venue: RouteStage.venue(nodes: nodes, edges))
        var options = RouteOptions()
        var explored: [RouteAlgorithm: Int] = [:]
        for algorithm in RouteAlgorithm.allCases {
            options.algorithm = algorithm
            let route = try planner.route(from: RouteStage.at(1, 45, 45), to: RouteStage.at(1, 45, 75), options)
            XCTAssertEqual(route.length, 30, accuracy: 1e-9)
            explored[algorithm] = planner.explored
        }
        XCTAssertLessThan(try XCTUnwrap(explored[.aStar]) * 10, try XCTUnwrap(explored[.dijkstra]))
    }
}
