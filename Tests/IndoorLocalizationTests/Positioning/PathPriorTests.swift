import XCTest

@testable import IndoorPositioning
import IndoorLocalization

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
