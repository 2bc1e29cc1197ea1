import IndoorLocalization
import XCTest

final class AreaIndexTests: XCTestCase {
    private func found(_ index: AreaIndex, _ point: MapPoint, on map: MapID = 1) -> [Int] {
        var indexes: [Int] = []
        index.append(to: &indexes, containing: point, on: map)
        return indexes.sorted()
    }

    func testTheIndexFindsTheSameAreasAsALinearSearch() {
        let side = 100.0
        for (round, count) in [0, 1, 2, 7, 8, 9, 17, 100, 400].enumerated() {
            let seed = UInt64(700 + round)
            print("seed \(seed)")
            var random = RandomAreas(seed: seed)
            let places = (0..<count).map { _ -> (mapID: MapID, area: Area) in
                (Bool.random(using: &random.generator) ? 1 : 2, random.area(within: side))
            }
            let index = AreaIndex(places)
            for turn in 0..<300 {
                var point = random.point(within: side)
                // Where edges are, rounding matters most.
                if turn % 4 == 0, case .polygon(let corners) = places.randomElement(using: &random.generator)?.area,
                    let corner = corners.randomElement(using: &random.generator), corner.x.isFinite
                {
                    point = corner
                }
                let map: MapID = turn % 2 == 0 ? 1 : 2
                let expected = places.indices.filter { places[$0].mapID == map && places[$0].area.contains(point) }
                XCTAssertEqual(found(index, point, on: map), expected, "\(count) areas, \(point), seed \(seed)")
                XCTAssertEqual(index.lowest(containing: point, on: map), expected.first, "\(point), seed \(seed)")
            }
        }
    }

    func testPointsOnTheEdgeOfACircleAreFound() {
        let seed: UInt64 = 31
        print("seed \(seed)")
        var random = RandomAreas(seed: seed)
        var edges = 0
        for _ in 0..<2_000 {
            let center = MapPoint(x: random.number(-1e6...1e6), y: random.number(-1e6...1e6))
            let area = Area.circle(center: center, radius: random.number(0...30))
            guard case .circle(_, let radius) = area else { continue }
            let point = MapPoint(x: center.x - radius, y: center.y)
            edges += area.contains(point) ? 1 : 0
            XCTAssertEqual(found(AreaIndex([(1, area)]), point), area.contains(point) ? [0] : [], "\(area)")
        }
        XCTAssertGreaterThan(edges, 500, "of 2000 points on the edge, rounding leaves many inside")
    }

    func testNothingIsFoundOnAMapWithoutAreas() {
        let index = AreaIndex([(1, .circle(center: MapPoint(x: 0, y: 0), radius: 5))])
        XCTAssertEqual(found(index, MapPoint(x: 0, y: 0), on: 2), [])
        XCTAssertNil(AreaIndex([]).lowest(containing: MapPoint(x: 0, y: 0), on: 1))
    }

    func testNoAreaContainsANaNPoint() {
        let index = AreaIndex([(1, .circle(center: MapPoint(x: 0, y: 0), radius: .infinity))])
        XCTAssertEqual(found(index, MapPoint(x: 1e300, y: 0)), [0])
        XCTAssertEqual(found(index, MapPoint(x: .nan, y: 0)), [])
    }

    func testAThousandAreasInTheSamePlaceAreAllFound() {
        let area = Area.circle(center: MapPoint(x: 3, y: 4), radius: 5)
        let index = AreaIndex(Array(repeating: (1, area), count: 1_000))
        XCTAssertEqual(found(index, MapPoint(x: 0, y: 0)), Array(0..<1_000))
        XCTAssertEqual(found(index, MapPoint(x: -3, y: 0)), [])
    }
}
