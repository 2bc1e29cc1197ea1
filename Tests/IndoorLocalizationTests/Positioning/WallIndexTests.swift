import IndoorLocalization
import XCTest

final class WallIndexTests: XCTestCase {
    /// From the top of the hall to its middle.
    private let wall = WallIndex(walls: [[MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 10)]])

    func testAWallBlocksAPathThroughIt() {
        XCTAssertTrue(wall.blocks(fromX: 9.5, y: 5, toX: 10.5, y: 5))
        XCTAssertTrue(wall.blocks(fromX: 10.5, y: 5, toX: 9.5, y: 5.7))
    }

    func testAPathPastAWallsEndIsFree() {
        XCTAssertFalse(wall.blocks(fromX: 9.5, y: 10.1, toX: 10.5, y: 10.1))
    }

    func testAPathThatStopsInFrontOfAWallIsFree() {
        XCTAssertFalse(wall.blocks(fromX: 8, y: 5, toX: 9.99, y: 5))
    }

    func testAWallBlocksAPathThatEndsOnIt() {
        XCTAssertTrue(wall.blocks(fromX: 9, y: 5, toX: 10, y: 5))
    }

    func testAPathAlongAWallIsFree() {
        XCTAssertFalse(wall.blocks(fromX: 9.9, y: 1, toX: 9.9, y: 9))
    }

    func testAPathFarFromAllWallsIsFree() {
        XCTAssertFalse(wall.blocks(fromX: -100, y: -100, toX: -90, y: -100))
        XCTAssertFalse(wall.blocks(fromX: 100, y: 100, toX: 101, y: 300))
    }

    func testAWallBlocksALongPathAcrossTheWholeMap() {
        XCTAssertTrue(wall.blocks(fromX: -500, y: 5, toX: 500, y: 5))
    }

    func testWithoutWallsEveryPathIsFree() {
        let none = WallIndex(walls: [])
        XCTAssertTrue(none.isEmpty)
        XCTAssertFalse(none.blocks(fromX: 0, y: 0, toX: 100, y: 100))
    }

    func testALineOfOnePointBlocksNothing() {
        let point = MapPoint(x: 1, y: 1)
        XCTAssertTrue(WallIndex(walls: [[point], [], [point, point]]).isEmpty)
    }

    func testWallsBlockEveryPathOutOfARoomWithoutADoor() {
        let room = WallIndex(walls: [
            [
                MapPoint(x: 0, y: 0), MapPoint(x: 6, y: 0), MapPoint(x: 6, y: 6), MapPoint(x: 0, y: 6),
                MapPoint(x: 0, y: 0),
            ]
        ])
        for degrees in 0..<360 {
            let angle = Float(degrees) * .pi / 180
            XCTAssertTrue(
                room.blocks(fromX: 3, y: 3, toX: 3 + 5 * cos(angle), y: 3 + 5 * sin(angle)), "\(degrees) degrees")
        }
    }

    func testTheIndexFindsTheWallsThatASearchOfAllWallsFinds() {
        let seed: UInt64 = 21
        var generator = SeededGenerator(seed: seed)
        func point(_ size: Double) -> MapPoint {
            MapPoint(x: generator.uniform() * size - 5, y: generator.uniform() * size - 5)
        }
        let walls = (0..<60).map { _ in
            let start = point(40)
            return [start, start + MapPoint(x: generator.normal() * 4, y: generator.normal() * 4)]
        }
        let index = WallIndex(walls: walls)
        var blocked = 0
        for _ in 0..<1000 {
            let (from, to) = (point(40), point(40))
            let expected = walls.contains { Self.cross(from, to, $0[0], $0[1]) }
            let found = index.blocks(fromX: Float(from.x), y: Float(from.y), toX: Float(to.x), y: Float(to.y))
            XCTAssertEqual(found, expected, "\(from) to \(to), seed \(seed)")
            blocked += found ? 1 : 0
        }
        XCTAssertTrue((100...999).contains(blocked), "\(blocked) of 1000 ways say nothing, seed \(seed)")
    }

    func testAWallAcrossTheCountryCostsNoMoreMemoryThanOneAcrossTheHall() {
        let walls = WallIndex(walls: [
            [MapPoint(x: -1e6, y: -1e6), MapPoint(x: 1e6, y: 1e6)], [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 9)],
        ])
        XCTAssertTrue(walls.blocks(fromX: 0, y: 5, toX: 5, y: 0))
        XCTAssertTrue(walls.blocks(fromX: 9.5, y: 5, toX: 10.5, y: 5))
        XCTAssertFalse(walls.blocks(fromX: 9.5, y: 5, toX: 9.8, y: 5))
    }

    func testAWallWithAnInvalidEndBlocksNothing() {
        for wild in [Double.nan, .infinity, 1e300] {
            let walls = WallIndex(walls: [[MapPoint(x: wild, y: 0), MapPoint(x: 10, y: 10)]])
            XCTAssertTrue(walls.isEmpty, "\(wild)")
        }
    }

    func testOnlyAFinitePathIsBlocked() {
        XCTAssertTrue(wall.blocks(fromX: 0, y: 5, toX: 1e30, y: 5))
        XCTAssertFalse(wall.blocks(fromX: 0, y: 5, toX: .nan, y: 5))
    }

    /// Each segment's ends lie on both sides of the other.
    private static func cross(_ a: MapPoint, _ b: MapPoint, _ c: MapPoint, _ d: MapPoint) -> Bool {
        func side(_ p: MapPoint, _ q: MapPoint, _ r: MapPoint) -> Double {
            (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
        }
        return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
    }

    func testAnyCrossingWallBlocksAPath() {
        let seed: UInt64 = 31
        var generator = SeededGenerator(seed: seed)
        func point(_ size: Double) -> MapPoint {
            MapPoint(x: size * generator.uniform() - 3, y: size * generator.uniform() - 3)
        }
        let walls = (0..<60).map { _ in
            let start = point(30)
            return [start, start + MapPoint(x: 6 * generator.uniform() - 3, y: 6 * generator.uniform() - 3)]
        }
        let index = WallIndex(walls: walls)
        var blocked = 0
        for _ in 0..<20_000 {
            let from = point(32)
            let to = from + MapPoint(x: 2 * generator.uniform() - 1, y: 2 * generator.uniform() - 1)
            // How far inside both the nearest crossing is, as a share; where that is hardly so, rounding decides.
            let margins = walls.map { Self.margin(from, to, $0[0], $0[1]) }
            guard let best = margins.max(), abs(best) > 1e-4 else { continue }
            let isBlocked = index.blocks(
                fromX: Float(from.x), y: Float(from.y), toX: Float(to.x), y: Float(to.y))
            XCTAssertEqual(isBlocked, best > 0, "from \(from) to \(to), seed \(seed)")
            if isBlocked { blocked += 1 }
        }
        XCTAssertGreaterThan(blocked, 500)
    }

    /// The least of the shares of both ways that lie before and behind their crossing; below 0 if they don't cross.
    private static func margin(_ a: MapPoint, _ b: MapPoint, _ c: MapPoint, _ d: MapPoint) -> Double {
        let (way, wall, apart) = (b - a, d - c, c - a)
        let denominator = way.x * wall.y - way.y * wall.x
        guard denominator != 0 else { return -1 }
        let t = (apart.x * wall.y - apart.y * wall.x) / denominator
        let u = (apart.x * way.y - apart.y * way.x) / denominator
        return min(t, 1 - t, u, 1 - u)
    }

    func testWallsOnTheFarEdgesOfTheBoxBlockPaths() {
        // A box of whole cells whose far edges are no `Float`: 10 by 15 cells of 2 m.
        for start in [5.05, 15.05, 0.1, 33.3] {
            let (near, far) = (MapPoint(x: start, y: start), MapPoint(x: start + 20, y: start + 30))
            let index = WallIndex(walls: [
                [near, MapPoint(x: far.x, y: near.y), far, MapPoint(x: near.x, y: far.y), near]
            ])
            let (x, y) = (Float(start + 10), Float(start + 10))
            XCTAssertTrue(index.blocks(fromX: x, y: Float(far.y) - 1, toX: x, y: Float(far.y) + 1), "bottom, \(start)")
            XCTAssertTrue(index.blocks(fromX: Float(far.x) - 1, y: y, toX: Float(far.x) + 1, y: y), "right, \(start)")
            XCTAssertTrue(index.blocks(fromX: x, y: Float(near.y) + 1, toX: x, y: Float(near.y) - 1), "top, \(start)")
            XCTAssertTrue(index.blocks(fromX: Float(near.x) + 1, y: y, toX: Float(near.x) - 1, y: y), "left, \(start)")
        }
    }
}
