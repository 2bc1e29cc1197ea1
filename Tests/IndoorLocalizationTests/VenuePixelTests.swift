import IndoorLocalization
import XCTest

/// Map, pixels and Earth: three frames of one plan.
final class VenuePixelTests: XCTestCase {
    private let center = Coordinate(latitude: 45, longitude: 10)

    private func map(_ georeference: Georeference?, pixels: Int? = 8_192) -> VenueMap {
        VenueMap(
            id: 1, name: "campus", level: 0, width: 1_000, height: 800, widthPixels: pixels,
            heightPixels: pixels.map { $0 / 2 }, georeference: georeference)
    }

    /// A control point at each of the corners, as an installer would have found them.
    private func corners(seed: UInt64) throws -> Georeference {
        var random = RandomAreas(seed: seed)
        let place = Coordinate(latitude: random.number(-80...80), longitude: random.number(-180...180))
        let original = try GeoTransform(.center(place, bearing: random.number(0...360)), width: 1_000, height: 800)
        return .controlPoints(
            [(0.0, 0.0), (1_000, 0), (1_000, 800), (0, 800)].map {
                let point = MapPoint(x: $0.0, y: $0.1)
                return Georeference.ControlPoint(point: point, coordinate: original.coordinate(at: point))
            })
    }

    func testMapPixelAndEarthRoundTripsStayBelowACentimetreOnAPlanOfAKilometre() throws {
        for seed in UInt64(1)...20 {
            print("seed \(seed)")
            var random = RandomAreas(seed: seed)
            let place = Coordinate(latitude: random.number(-89...89), longitude: random.number(-180...180))
            let bearing = random.number(0...360)
            for georeference in [try corners(seed: seed), .center(place, bearing: bearing)] {
                let map = map(georeference)
                let transform = try XCTUnwrap(map.geoTransform())
                for _ in 0..<20 {
                    let point = MapPoint(x: random.number(0...1_000), y: random.number(0...800))
                    let pixel = try XCTUnwrap(map.pixel(at: point))
                    let coordinate = try XCTUnwrap(map.coordinate(at: pixel))
                    let back = try XCTUnwrap(map.point(at: XCTUnwrap(map.pixel(at: coordinate))))
                    XCTAssertLessThan(back.distance(to: point), 0.01, "there and back, seed \(seed)")
                    XCTAssertLessThan(transform.point(at: coordinate).distance(to: point), 0.01, "seed \(seed)")
                    // The same place on Earth whichever way it was found: 1e-9° is 0.1 mm.
                    let direct = transform.coordinate(at: point)
                    XCTAssertEqual(coordinate.latitude, direct.latitude, accuracy: 1e-9, "seed \(seed)")
                    XCTAssertEqual(coordinate.longitude, direct.longitude, accuracy: 1e-7, "seed \(seed)")
                }
            }
        }
    }

    func testControlPointsFindTheirCoordinatesBackToACentimetreOnAPlanOfAKilometre() throws {
        for seed in UInt64(1)...20 {
            print("seed \(seed)")
            let georeference = try corners(seed: seed)
            guard case .controlPoints(let points) = georeference else { return XCTFail("no control points") }
            let transform = try GeoTransform(georeference, width: 1_000, height: 800)
            // The plane of the fit touches Earth at a corner, that of the points at the centre, and each is flat.
            XCTAssertLessThan(transform.residual, 0.01, "seed \(seed)")
            for point in points {
                XCTAssertLessThan(transform.point(at: point.coordinate).distance(to: point.point), 0.01, "seed \(seed)")
            }
        }
    }

    func testPixelsAreScaledOnEachAxis() throws {
        let map = map(nil)
        XCTAssertEqual(map.pixel(at: MapPoint(x: 500, y: 400)), PixelPoint(x: 4_096, y: 2_048))
        XCTAssertEqual(map.point(at: PixelPoint(x: 4_096, y: 2_048)), MapPoint(x: 500, y: 400))
    }

    func testWithoutAnImageThereAreNoPixels() throws {
        let map = map(.center(center, bearing: 0), pixels: nil)
        XCTAssertNil(map.point(at: PixelPoint(x: 1, y: 1)))
        XCTAssertNil(try map.coordinate(at: PixelPoint(x: 1, y: 1)))
        XCTAssertNil(try map.pixel(at: center))
        XCTAssertNil(self.map(nil, pixels: 0).point(at: PixelPoint(x: 1, y: 1)))
    }

    func testWithoutAGeoreferenceThereAreNoCoordinates() throws {
        XCTAssertNil(try map(nil).coordinate(at: PixelPoint(x: 1, y: 1)))
        XCTAssertNil(try map(nil).pixel(at: center))
    }

    func testADegenerateGeoreferenceIsAnErrorOfPixelsToo() {
        let point = Georeference.ControlPoint(point: MapPoint(x: 0, y: 0), coordinate: center)
        for (points, expected) in [
            ([point], .tooFewControlPoints(1)), ([point, point], .coincidentControlPoints),
        ] as [([Georeference.ControlPoint], GeoreferenceError)] {
            let map = map(.controlPoints(points))
            XCTAssertThrowsError(try map.coordinate(at: PixelPoint(x: 1, y: 1))) {
                XCTAssertEqual($0 as? GeoreferenceError, expected)
            }
            XCTAssertThrowsError(try map.pixel(at: center)) {
                XCTAssertEqual($0 as? GeoreferenceError, expected)
            }
        }
    }
}
