import IndoorLocalization
import XCTest

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
