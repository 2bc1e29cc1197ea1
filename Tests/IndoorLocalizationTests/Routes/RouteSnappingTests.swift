import IndoorLocalization
import XCTest

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
