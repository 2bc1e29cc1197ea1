import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class SupportRangeTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let smallestWidth = SupportRange.widths[0]
    private static let smallestShare = SupportRange.shares[0]

    func testRepeatedWalksGiveTheSmallestWidth() throws {
        // Three walks of 30 places down the middle of a hall of 60 × 20 m.
        let (points, recordings) = Self.walks(3, places: 30) { MapPoint(x: 2 * Double($1) + 1, y: 10) }
        let support = try XCTUnwrap(Self.best(points, recordings))
        XCTAssertEqual(support, SupportRange.Result(width: Self.smallestWidth, share: Self.smallestShare))
    }

    func testScatteredPointsGiveALargeWidth() throws {
        let seed: UInt64 = 1
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let points = (0..<40).map { _ in MapPoint(x: 60 * generator.uniform(), y: 20 * generator.uniform()) }
        let support = try XCTUnwrap(Self.best(points, Array(points.indices)))
        XCTAssertGreaterThanOrEqual(support.width, 4)
    }

    func testAWideGridOfPointsGivesALargeShare() throws {
        // Each is 6 m from the next: as far as anybody in the hall from the nearest of them.
        let points = (0..<15).map { MapPoint(x: 12 * Double($0 % 5) + 6, y: 6 * Double($0 / 5) + 4) }
        let support = try XCTUnwrap(Self.best(points, Array(points.indices)))
        XCTAssertEqual(support.share, SupportRange.shares.last)
    }

    func testTheWidthGrowsWithTheDistanceBetweenWalks() throws {
        let widths = try [0.5, 1, 1.5, 2].map { gap in
            let (points, recordings) = Self.walks(5, places: 30) {
                MapPoint(x: 2 * Double($1) + 1, y: 4 + gap * Double($0))
            }
            return try XCTUnwrap(Self.best(points, recordings)).width
        }
        XCTAssertEqual(widths, [0.75, 1.5, 2, 3])
    }

    func testIsolatedWalksRaiseTheShare() throws {
        // Nine walks of one line and three of parts of the hall where nobody else walked.
        let (points, recordings) = Self.walks(12, places: 12) { walk, step in
            let place = Double(step)
            return walk < 9
                ? MapPoint(x: 2 * place + 1, y: 2) : MapPoint(x: 32 + place, y: 2 + 8 * Double(walk - 9))
        }
        let support = try XCTUnwrap(Self.best(points, recordings))
        XCTAssertEqual(support.width, Self.smallestWidth)
        XCTAssertGreaterThan(support.share, Self.smallestShare)
    }

    func testOneWalkGivesNoResult() {
        let (points, recordings) = Self.walks(1, places: 30) { MapPoint(x: 2 * Double($1) + 1, y: 10) }
        XCTAssertNil(Self.best(points, recordings))
    }

    func testWalksOnDifferentMapsGiveNoResult() {
        let points = [MapPoint(x: 1, y: 1), MapPoint(x: 2, y: 1)]
        XCTAssertNil(Self.best(points, [0, 1], maps: [Stage.hall, Stage.gallery]))
        XCTAssertNotNil(Self.best(points, [0, 1], maps: [Stage.hall, Stage.hall]))
    }

    func testUnknownMapsGiveNoResult() {
        XCTAssertNil(Self.best([MapPoint(x: 1, y: 1), MapPoint(x: 2, y: 1)], [0, 1], maps: [99, 99]))
    }

    /// Points of walks, walk by walk; of each its number and the place's are given.
    private static func walks(
        _ count: Int, places: Int, _ point: (Int, Int) -> MapPoint
    ) -> (points: [MapPoint], recordings: [Int]) {
        let all = (0..<count).flatMap { walk in (0..<places).map { (walk, $0) } }
        return (all.map(point), all.map(\.0))
    }

    private static func best(_ points: [MapPoint], _ recordings: [Int], maps: [MapID]? = nil) -> SupportRange.Result? {
        let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 60, y: 20), cellSize: 0.5)
        let maps = maps ?? points.map { _ in Stage.hall }
        let places = zip(points, maps).map {
            RadioMap.Fingerprint(mapID: $1, point: $0, duration: 2, readings: [])
        }
        return SupportRange(
            grids: [Stage.hall: grid, Stage.gallery: grid], places: SurveyedPlaces(places, recordings: recordings)
        ).best()
    }
}
