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

/// The cost of a cheapest route, found by trying everything: slow, and simple enough to be believed.
///
/// Source of the search: R. Bellman, *On a Routing Problem*, Quarterly of Applied Mathematics 16 (1958).
struct RouteReference {
    private let nodes: [PathGraph.Node]
    private let edges: [PathGraph.Edge]
    private let excluded: Set<PathGraph.Edge.Kind>
    private let factors: [PathGraph.Edge.Kind: Double]

    init(_ graph: PathGraph, _ options: RouteOptions = RouteOptions()) {
        (nodes, edges) = (graph.nodes, graph.edges)
        (excluded, factors) = (options.excludedKinds, options.costFactors)
    }

    /// A way between two numbered places.
    private typealias Link = (from: Int, to: Int, cost: Double)

    /// Without the walks between the ends and their feet; nil if there is no route.
    func cost(from start: RoutePoint, to goal: RoutePoint) -> Double? {
        var links: [Link] = []
        // The nodes are numbered from 0; then come the start and the goal.
        let (source, sink) = (nodes.count, nodes.count + 1)
        for (from, to, edge) in usable {
            links.append((from, to, cost(edge, from, to)))
            if !edge.isOneWay { links.append((to, from, cost(edge, from, to))) }
        }
        let (exits, entries) = (feet(of: start), feet(of: goal))
        for foot in exits {
            links.append((source, foot.to, foot.cost * (1 - foot.share)))
            if !foot.isOneWay || foot.share == 0 { links.append((source, foot.from, foot.cost * foot.share)) }
            for end in entries where end.edge == foot.edge && (end.share >= foot.share || !foot.isOneWay) {
                links.append((source, sink, foot.cost * abs(end.share - foot.share)))
            }
        }
        for foot in entries {
            links.append((foot.from, sink, foot.cost * foot.share))
            if !foot.isOneWay || foot.share == 1 { links.append((foot.to, sink, foot.cost * (1 - foot.share))) }
        }
        return cheapest(links, from: source, to: sink)
    }

    private func cheapest(_ links: [Link], from source: Int, to sink: Int) -> Double? {
        var costs = [Double](repeating: .infinity, count: nodes.count + 2)
        costs[source] = 0
        for _ in costs.indices {
            for link in links { costs[link.to] = min(costs[link.to], costs[link.from] + link.cost) }
        }
        return costs[sink] < .infinity ? costs[sink] : nil
    }

    private var usable: [(from: Int, to: Int, edge: PathGraph.Edge)] {
        edges.compactMap { edge in
            guard !excluded.contains(edge.kind), let from = nodes.firstIndex(where: { $0.id == edge.from }),
                let to = nodes.firstIndex(where: { $0.id == edge.to }), from != to
            else { return nil }
            return (from, to, edge)
        }
    }

    private func cost(_ edge: PathGraph.Edge, _ from: Int, _ to: Int) -> Double {
        // Floors of the stage are 4 m high.
        let rise = Double(nodes[from].mapID.rawValue - nodes[to].mapID.rawValue) * 4
        let flat = nodes[from].point.distance(to: nodes[to].point)
        return (edge.weight ?? (flat * flat + rise * rise).squareRoot()) * (factors[edge.kind] ?? 1)
    }

    private struct Foot {
        /// The edge; of a node, a number of its own.
        var edge: Int
        var from: Int
        var to: Int
        var cost: Double
        var share: Double
        var isOneWay: Bool
        var distance: Double
    }

    private func feet(of place: RoutePoint) -> [Foot] {
        var feet: [Foot] = []
        for (index, (from, to, edge)) in usable.enumerated() {
            let ends = [nodes[from], nodes[to]]
            if ends[0].mapID == ends[1].mapID {
                guard ends[0].mapID == place.mapID else { continue }
                let (way, offset) = (ends[1].point - ends[0].point, place.point - ends[0].point)
                let square = way.x * way.x + way.y * way.y
                let share = square > 0 ? min(1, max(0, (way.x * offset.x + way.y * offset.y) / square)) : 0
                let foot = ends[0].point + way * share
                feet.append(
                    Foot(
                        edge: index, from: from, to: to, cost: cost(edge, from, to), share: share,
                        isOneWay: edge.isOneWay, distance: foot.distance(to: place.point)))
            } else {
                for node in [from, to] where nodes[node].mapID == place.mapID {
                    feet.append(
                        Foot(
                            edge: -1 - node, from: node, to: node, cost: 0, share: 0, isOneWay: false,
                            distance: nodes[node].point.distance(to: place.point)))
                }
            }
        }
        let least = feet.map(\.distance).min() ?? 0
        return feet.filter { $0.distance <= least + 1e-6 }
    }
}
