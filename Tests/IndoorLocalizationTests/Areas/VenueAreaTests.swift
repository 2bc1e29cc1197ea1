import IndoorLocalization
import XCTest

final class VenueAreaTests: XCTestCase {
    func testSimplePolygonsHaveNoDefect() {
        let polygons: [String: [MapPoint]] = [
            "triangle": points((0, 0), (1, 0), (0, 1)),
            "square, other way round": points((0, 0), (0, 1), (1, 1), (1, 0)),
            "first corner repeated": points((0, 0), (1, 0), (0, 1), (0, 0)),
            "corner given twice": points((0, 0), (1, 0), (1, 0), (0, 1)),
            "corner on a straight edge": points((0, 0), (1, 0), (2, 0), (2, 2), (0, 2)),
            "letter U": points((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)),
            "far away": points((1e6, 1e6), (1e6 + 1, 1e6), (1e6, 1e6 + 1)),
        ]
        for (name, polygon) in polygons { XCTAssertNil(PolygonDefect(in: polygon), name) }
    }

    func testADefectivePolygonReportsItsDefect() {
        let cases: [(String, [MapPoint], PolygonDefect)] = [
            ("nothing", [], .tooFewCorners),
            ("one corner", points((1, 1)), .tooFewCorners),
            ("two corners, three times", points((0, 0), (1, 0), (0, 0), (1, 0), (0, 0), (1, 0)), .tooFewCorners),
            ("a line", points((0.1, 0.1), (0.2, 0.2), (0.3, 0.3)), .noArea),
            ("half a millimetre", points((0, 0), (10, 0.0005), (20, 0)), .noArea),
            ("bow tie", points((0, 0), (4, 4), (4, 0), (0, 4)), .edgesMeet(0, 2)),
            ("crossing through a corner", points((0, 0), (2, 2), (4, 4), (4, 0), (2, 2), (0, 4)), .edgesMeet(0, 3)),
            ("corner on an edge", points((0, 0), (6, 0), (6, 2), (3, 0), (0, 2)), .edgesMeet(0, 2)),
            ("spike", points((0, 0), (4, 0), (4, 4), (4, 8), (4, 4), (0, 4)), .edgesMeet(2, 3)),
            ("spike at the end", points((0, 0), (4, 0), (4, 4), (1, 0)), .edgesMeet(0, 3)),
        ]
        for (name, polygon, expected) in cases {
            let defect = PolygonDefect(in: polygon)
            if case .edgesMeet = expected {
                guard case .edgesMeet = defect else { return XCTFail("\(name): \(String(describing: defect))") }
            } else {
                XCTAssertEqual(defect, expected, name)
            }
        }
        XCTAssertEqual(PolygonDefect(in: points((0, 0), (4, 4), (4, 0), (0, 4))), .edgesMeet(0, 2))
    }

    func testACrossingIsFoundWhereverTheRingBegins() {
        let bowTie = points((0, 0), (4, 4), (4, 0), (0, 4), (-1, 2))
        for start in bowTie.indices {
            let turned = Array(bowTie[start...] + bowTie[..<start])
            for (corners, way) in [(turned, "forwards"), (turned.reversed(), "backwards")] {
                guard case .edgesMeet(let first, let second) = PolygonDefect(in: corners) else {
                    XCTFail("from corner \(start), \(way)")
                    continue
                }
                let edges = Set([first, second].map { Set([corners[$0], corners[($0 + 1) % corners.count]]) })
                XCTAssertEqual(edges.count, 2, "from corner \(start), \(way): \(edges)")
            }
        }
    }

    func testSwappingTwoCornersOfAConvexPolygonMakesItCross() {
        let seed: UInt64 = 12
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for count in 4...40 {
            // Corners on a parabola and back along its chord are convex.
            var polygon = (0..<count).map { MapPoint(x: Double($0), y: Double($0 * $0)) }
            XCTAssertNil(PolygonDefect(in: polygon), "\(count) corners")
            let first = Int.random(in: 0..<count - 2, using: &random)
            polygon.swapAt(first, first + 1)
            XCTAssertNotNil(PolygonDefect(in: polygon), "\(count) corners, \(first) swapped with the next")
        }
    }

    func testTheSizeOfAnAreaIsCorrect() {
        XCTAssertEqual(Area.circle(center: MapPoint(x: 1, y: 1), radius: 2).squareMeters, 4 * .pi, accuracy: 1e-12)
        let room = points((1e6, 1e6), (1e6 + 4, 1e6), (1e6 + 4, 1e6 + 3), (1e6, 1e6 + 3))
        XCTAssertEqual(Area.polygon(room).squareMeters, 12, accuracy: 1e-6)
        XCTAssertEqual(Area.polygon(room.reversed()).squareMeters, 12, accuracy: 1e-6)
        XCTAssertEqual(Area.polygon([]).squareMeters, 0)
    }

    func testAPointIsWithinACircleAndItsEdge() {
        let circle = Area.circle(center: MapPoint(x: 1, y: 1), radius: 2)
        XCTAssertTrue(circle.contains(MapPoint(x: 3, y: 1)))
        XCTAssertFalse(circle.contains(MapPoint(x: 3.001, y: 1)))
    }

    func testAPointIsWithinTheArmsOfAPolygonButNotBetweenThem() {
        let letterU = Area.polygon(points((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)))
        XCTAssertTrue(letterU.contains(MapPoint(x: 0.5, y: 2)))
        XCTAssertTrue(letterU.contains(MapPoint(x: 2.5, y: 2)))
        XCTAssertFalse(letterU.contains(MapPoint(x: 1.5, y: 2)))
        XCTAssertFalse(Area.polygon([]).contains(MapPoint(x: 0, y: 0)))
    }

    private func points(_ pairs: (Double, Double)...) -> [MapPoint] { pairs.map { MapPoint(x: $0.0, y: $0.1) } }
}
