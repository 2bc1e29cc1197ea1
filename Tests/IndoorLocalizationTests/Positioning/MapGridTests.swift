import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class MapGridTests: XCTestCase {
    private let grid = MapGrid(from: MapPoint(x: -1, y: 2), to: MapPoint(x: 3, y: 5), cellSize: 0.5)

    func testAGridCoversItsBox() {
        XCTAssertEqual(grid.columns, 8)
        XCTAssertEqual(grid.rows, 6)
        XCTAssertEqual(grid.count, 48)
    }

    func testAGridCoversABoxOfFractionalCells() {
        let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 1.01, y: 1), cellSize: 0.5)
        XCTAssertEqual(grid.columns, 3)
        XCTAssertEqual(grid.rows, 2)
    }

    func testABoxWithoutAreaHasOneCell() {
        let grid = MapGrid(from: MapPoint(x: 1, y: 1), to: MapPoint(x: 1, y: 1), cellSize: 0.5)
        XCTAssertEqual(grid.count, 1)
    }

    func testEachCellContainsItsMiddle() {
        for cell in 0..<grid.count { XCTAssertEqual(grid.cell(at: grid.center(of: cell)), cell) }
    }

    func testTheFirstCellBeginsAtTheLowCorner() {
        XCTAssertEqual(grid.cell(at: MapPoint(x: -1, y: 2)), 0)
        XCTAssertEqual(grid.center(of: 0), MapPoint(x: -0.75, y: 2.25))
    }

    func testAPointOnTheHighBorderIsOutside() {
        XCTAssertNil(grid.cell(at: MapPoint(x: 3, y: 3)))
        XCTAssertNil(grid.cell(at: MapPoint(x: 0, y: 5)))
    }

    func testAPointBetweenTwoCellsBelongsToTheLaterOne() {
        XCTAssertEqual(grid.cell(at: MapPoint(x: -0.5, y: 2)), 1)
        XCTAssertEqual(grid.cell(at: MapPoint(x: -1, y: 2.5)), 8)
    }

    func testPointsOutsideHaveNoCell() {
        let points = [
            MapPoint(x: -1.01, y: 3), MapPoint(x: 0, y: 1.99), MapPoint(x: 1e300, y: 3), MapPoint(x: .nan, y: 3),
            MapPoint(x: 0, y: -.infinity),
        ]
        for point in points { XCTAssertNil(grid.cell(at: point), "\(point)") }
    }

    func testABlockContainsTheCellsWithinItsRadiusAlongBothAxes() {
        let seed: UInt64 = 9
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let point = MapPoint(x: generator.uniform() * 8 - 3, y: generator.uniform() * 8)
            let radius = generator.uniform() * 3
            let block = grid.block(around: point, radius: radius)
            for cell in 0..<grid.count {
                let center = grid.center(of: cell)
                let isNear = abs(center.x - point.x) <= radius && abs(center.y - point.y) <= radius
                let isInside = block.columns.contains(cell % grid.columns) && block.rows.contains(cell / grid.columns)
                XCTAssertEqual(isInside, isNear, "cell \(cell), \(point), radius \(radius), seed \(seed)")
            }
        }
    }

    func testABlockFarAwayIsEmpty() {
        XCTAssertTrue(grid.block(around: MapPoint(x: 100, y: 3), radius: 5).columns.isEmpty)
        XCTAssertTrue(grid.block(around: MapPoint(x: 0, y: -100), radius: 5).rows.isEmpty)
    }

    func testAHugeBoxHasLargerCellsNotMoreOfThem() {
        for (width, height) in [(1e6, 1e6), (1e300, 1e300), (1e6, 1)] {
            let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: width, y: height), cellSize: 0.5)
            XCTAssertTrue((1...252_000).contains(grid.count), "\(width) x \(height): \(grid.count) cells")
        }
        let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 1e6, y: 1e6), cellSize: 0.5)
        XCTAssertNotNil(grid.cell(at: MapPoint(x: 999_999, y: 999_999)))
    }

    func testABlockAroundAnInvalidPointIsEmpty() {
        XCTAssertTrue(grid.block(around: MapPoint(x: .nan, y: 3), radius: 5).columns.isEmpty)
        XCTAssertTrue(grid.block(around: MapPoint(x: 0, y: 3), radius: .nan).rows.isEmpty)
    }
}

/// Where on a plan a device can be.
final class FloorSpaceTests: XCTestCase {
    private static let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 10, y: 6), cellSize: 1)

    private static func space(walkable: [[MapPoint]]) -> FloorSpace {
        let map = VenueMap(id: 1, name: "", level: 0, width: 10, height: 6, walkable: walkable)
        var space = FloorSpace(venue: Venue(id: 1, name: "", maps: [map]))
        space.survey(0, by: grid)
        return space
    }

    private func expect(_ space: FloorSpace, _ x: Double, _ y: Double, _ isInside: Bool, line: UInt = #line) {
        XCTAssertEqual(space.contains(MapPoint(x: x, y: y), mapIndex: 0, by: Self.grid), isInside, line: line)
    }

    func testAPlanWithoutAreasIsAccessibleUpToItsEdge() {
        let space = Self.space(walkable: [])
        expect(space, 0.1, 0.1, true)
        expect(space, 9.9, 5.9, true)
        expect(space, -0.1, 3, false)
        expect(space, 5, 6.1, false)
    }

    func testAPlanWithAreasIsAccessibleInTheCellsThatTheyTouch() {
        // A corridor along the lower edge, and one along the left edge.
        let corners = [(0.0, 0.0), (10, 0), (10, 1.5), (1.5, 1.5), (1.5, 6), (0, 6)]
        let corridors = corners.map { MapPoint(x: $0.0, y: $0.1) }
        let space = Self.space(walkable: [corridors])
        expect(space, 9.5, 0.5, true)
        expect(space, 0.5, 5.5, true)
        expect(space, 1.9, 4.5, true)
        expect(space, 9.5, 1.9, true)
        expect(space, 2.5, 4.5, false)
        expect(space, 9.5, 2.5, false)
        expect(space, -0.1, 0.5, false)
    }
}

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

final class PathPriorTests: XCTestCase {
    private typealias Stage = PositioningStage
    /// Along y = 5 from x = 2 to x = 12 in the hall, and by stairs from there up to the gallery.
    private static let paths = PathGraph(
        nodes: [
            PathGraph.Node(id: 1, mapID: Stage.hall, point: MapPoint(x: 2, y: 5)),
            PathGraph.Node(id: 2, mapID: Stage.hall, point: MapPoint(x: 12, y: 5)),
            PathGraph.Node(id: 3, mapID: Stage.gallery, point: MapPoint(x: 13, y: 6)),
        ],
        edges: [
            PathGraph.Edge(from: 1, to: 2), PathGraph.Edge(from: 2, to: 3, kind: .stairs),
            PathGraph.Edge(from: 1, to: 99),
        ])
    private let prior = PathPrior(paths: paths, width: 2, offPathShare: 0.1)

    func testAPointOnAnEdgeHasFullWeight() {
        for x in [2, 6.5, 12] { XCTAssertEqual(prior.weight(at: MapPoint(x: x, y: 5), on: Stage.hall), 1, "x \(x)") }
    }

    func testTheWeightBesideAnEdgeIsGaussian() {
        // 2 m are one width: 0.1 + 0.9·exp(−1/2).
        XCTAssertEqual(prior.weight(at: MapPoint(x: 6, y: 7), on: Stage.hall), 0.1 + 0.9 * exp(-0.5), accuracy: 1e-12)
        XCTAssertEqual(prior.weight(at: MapPoint(x: 6, y: 1), on: Stage.hall), 0.1 + 0.9 * exp(-2), accuracy: 1e-12)
    }

    func testTheDistanceBeyondAnEndIsThatToTheEnd() {
        XCTAssertEqual(
            prior.weight(at: MapPoint(x: 15, y: 9), on: Stage.hall), 0.1 + 0.9 * exp(-25.0 / 8), accuracy: 1e-12)
    }

    func testPointsFarFromAllPathsHaveTheOffPathShare() {
        XCTAssertEqual(prior.weight(at: MapPoint(x: 6, y: 19), on: Stage.hall), 0.1)
    }

    func testAPathToAnotherFloorContributesItsEndOnThatFloor() {
        XCTAssertEqual(prior.weight(at: MapPoint(x: 13, y: 6), on: Stage.gallery), 1)
        XCTAssertEqual(
            prior.weight(at: MapPoint(x: 13, y: 4), on: Stage.gallery), 0.1 + 0.9 * exp(-0.5), accuracy: 1e-12)
    }

    func testAllPointsOfAMapWithoutPathsHaveEqualWeight() {
        XCTAssertEqual(prior.weight(at: MapPoint(x: 6, y: 19), on: 99), 1)
        let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 3, y: 3), cellSize: 1)
        XCTAssertEqual(Set(prior.makeWeights(on: 99, grid: grid)), [1])
    }

    func testTheTableHoldsTheWeightsOfItsCells() {
        let grid = Stage.packetField.maps[0].grid
        for map in [Stage.hall, Stage.gallery] {
            let weights = prior.makeWeights(on: map, grid: grid)
            XCTAssertEqual(weights.count, grid.count)
            for cell in weights.indices {
                XCTAssertEqual(weights[cell], Float(prior.weight(at: grid.center(of: cell), on: map)), "cell \(cell)")
            }
        }
    }

    func testThePriorClampsParametersToTheirRange() {
        let far = MapPoint(x: 6, y: 19)
        for (share, expected) in [(0, 0.001), (-1, 0.001), (Double.nan, 0.001), (2, 1)] {
            let prior = PathPrior(paths: Self.paths, width: 0, offPathShare: share)
            XCTAssertEqual(prior.weight(at: far, on: Stage.hall), expected, "share \(share)")
            XCTAssertEqual(prior.weight(at: MapPoint(x: 6, y: 5), on: Stage.hall), 1)
        }
    }

    func testTheSettingEnablesThePathPrior() throws {
        var venue = Stage.venue
        venue.paths = Self.paths
        XCTAssertEqual(Set(SignalField(venue: venue).maps[0].prior), [1], "by default, paths are left out")
        var model = SignalModel()
        model.pathShare = 0.9
        model.pathWidth = 2
        let map = SignalField(venue: venue, model: model).maps[0]
        XCTAssertEqual(
            map.prior, prior.makeWeights(on: Stage.hall, grid: map.grid).map { min($0, 1) }, accuracy: 1e-6)
        venue.paths = nil
        XCTAssertEqual(Set(SignalField(venue: venue, model: model).maps[0].prior), [1])
    }

    func testAProductMultipliesTheWeightsOfItsFactors() {
        let point = MapPoint(x: 6, y: 7)
        let product = prior.multiplied(by: prior)
        XCTAssertEqual(product.weight(at: point, on: Stage.hall), pow(0.1 + 0.9 * exp(-0.5), 2), accuracy: 1e-12)
        XCTAssertEqual(ProductPrior(of: []).weight(at: point, on: Stage.hall), 1)
        let grid = Stage.packetField.maps[0].grid
        let table = product.makeWeights(on: Stage.hall, grid: grid)
        let weights = (0..<grid.count).map { Float(product.weight(at: grid.center(of: $0), on: Stage.hall)) }
        XCTAssertEqual(table, weights, accuracy: 1e-6)
    }
}

/// Fails unless the numbers are as many and each as close as the tolerance says.
private func XCTAssertEqual(
    _ one: [Float], _ other: [Float], accuracy: Float, file: StaticString = #filePath, line: UInt = #line
) {
    XCTAssertEqual(one.count, other.count, file: file, line: line)
    let apart = zip(one, other).map { abs($0 - $1) }.max() ?? 0
    XCTAssertLessThanOrEqual(apart, accuracy, file: file, line: line)
}
