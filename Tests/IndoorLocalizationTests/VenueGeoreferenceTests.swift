import IndoorLocalization
import XCTest

final class VenueGeoreferenceTests: XCTestCase {
    private let center = Coordinate(latitude: 45, longitude: 10)

    func testAThousandthOfADegreeAt45DegreesHasItsPublishedLength() throws {
        // Degrees of WGS84 at 45°: 111,131.75 m of latitude, 78,846.84 m of longitude
        // (National Geospatial-Intelligence Agency, Length of a Degree of Latitude and Longitude).
        // 1 mm: the plane bends away from meridian and parallel by less over 111 m.
        let transform = try GeoTransform(.center(center, bearing: 0), width: 40, height: 20)
        let north = transform.point(at: Coordinate(latitude: 45.001, longitude: 10))
        XCTAssertEqual(north.x, 20, accuracy: 0.001)
        XCTAssertEqual(north.y, 10 - 111.13175, accuracy: 0.001)
        let east = transform.point(at: Coordinate(latitude: 45, longitude: 10.001))
        XCTAssertEqual(east.x, 20 + 78.84684, accuracy: 0.001)
        XCTAssertEqual(east.y, 10, accuracy: 0.001)
    }

    func testThePlansCentreLiesAtTheGivenCoordinate() throws {
        let transform = try GeoTransform(.center(center, bearing: 77), width: 40, height: 20)
        let coordinate = transform.coordinate(at: MapPoint(x: 20, y: 10))
        XCTAssertEqual(coordinate.latitude, 45, accuracy: 1e-12)
        XCTAssertEqual(coordinate.longitude, 10, accuracy: 1e-12)
    }

    func testUpPointsToTheBearing() throws {
        // Up to the east: a point above the centre lies to the east of it, one to the right lies south.
        let transform = try GeoTransform(.center(center, bearing: 90), width: 40, height: 20)
        let above = transform.coordinate(at: MapPoint(x: 20, y: 0))
        XCTAssertEqual(above.longitude, 10 + 10 / 78_846.84, accuracy: 1e-9)
        XCTAssertEqual(above.latitude, 45, accuracy: 1e-9)
        let right = transform.coordinate(at: MapPoint(x: 30, y: 10))
        XCTAssertEqual(right.latitude, 45 - 10 / 111_131.75, accuracy: 1e-9)
    }

    func testMapAndCoordinateRoundTripOnAPlanOfAKilometre() throws {
        let seed: UInt64 = 45_010
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for index in 0..<500 {
            let center = Coordinate(
                latitude: random.uniform() * 180 - 90, longitude: random.uniform() * 360 - 180)
            let bearing = random.uniform() * 360
            let transform = try GeoTransform(.center(center, bearing: bearing), width: 1_000, height: 1_000)
            let point = MapPoint(x: random.uniform() * 1_000, y: random.uniform() * 1_000)
            let coordinate = transform.coordinate(at: point)
            let message = "case \(index) of seed \(seed)"
            XCTAssertTrue(coordinate.isValid, message)
            // 0.1 mm: the height lost on the way moves a point by 6 µm at the plan's corner.
            XCTAssertLessThan(transform.point(at: coordinate).distance(to: point), 1e-4, message)
            // 0.6 %: the sphere of the great-circle distance.
            let distance = point.distance(to: MapPoint(x: 500, y: 500))
            XCTAssertEqual(center.distance(to: coordinate), distance, accuracy: 0.006 * distance + 1e-3, message)
            XCTAssertEqual(transform.bearing, bearing, accuracy: 1e-9, message)
        }
    }

    func testADateLineWithinThePlanIsCrossed() throws {
        let line = Coordinate(latitude: -17, longitude: 180)
        let transform = try GeoTransform(.center(line, bearing: 0), width: 100, height: 100)
        let east = transform.coordinate(at: MapPoint(x: 90, y: 50))
        XCTAssertLessThan(east.longitude, -179.99)
        XCTAssertLessThan(transform.point(at: east).distance(to: MapPoint(x: 90, y: 50)), 1e-6)
    }

    func testControlPointsGiveBackThePlanThatTheyComeFrom() throws {
        var random = SeededGenerator(seed: 3)
        for count in 2...6 {
            let bearing = random.uniform() * 360
            let original = try GeoTransform(.center(center, bearing: bearing), width: 200, height: 100)
            let points = (0..<count).map { _ in MapPoint(x: random.uniform() * 200, y: random.uniform() * 100) }
            let fitted = try GeoTransform(.controlPoints(controlPoints(points, of: original)), width: 200, height: 100)
            // Both planes touch Earth at places up to 110 m apart: their angle is 2e-5 rad.
            XCTAssertEqual(fitted.bearing, bearing, accuracy: 0.002, "\(count) points")
            XCTAssertEqual(fitted.scale, 1, accuracy: 1e-6, "\(count) points")
            XCTAssertEqual(fitted.residual, 0, accuracy: 1e-3, "\(count) points")
            for point in points {
                let place = fitted.point(at: original.coordinate(at: point))
                XCTAssertLessThan(place.distance(to: point), 2e-3, "\(count) points")
            }
        }
    }

    func testTheResidualShowsAContradictionAmongControlPoints() throws {
        let original = try GeoTransform(.center(center, bearing: 0), width: 100, height: 100)
        var points = controlPoints(
            [MapPoint(x: 0, y: 0), MapPoint(x: 100, y: 0), MapPoint(x: 0, y: 100), MapPoint(x: 100, y: 100)],
            of: original)
        // Shifted apart by 2 m along the diagonal: a square pulled so has no better similarity than itself.
        points[0].point = MapPoint(x: -1, y: -1)
        points[1].point = MapPoint(x: 99, y: 1)
        points[2].point = MapPoint(x: 1, y: 99)
        points[3].point = MapPoint(x: 101, y: 101)
        let fitted = try GeoTransform(.controlPoints(points), width: 100, height: 100)
        // Each point is off by √2 m, as seen from Earth in a scale near 1.
        XCTAssertEqual(fitted.residual, 2.0.squareRoot(), accuracy: 0.01)
        XCTAssertEqual(fitted.bearing < 180 ? fitted.bearing : fitted.bearing - 360, 0, accuracy: 0.01)
    }

    func testControlPointsInPixelsShowInTheScale() throws {
        let original = try GeoTransform(.center(center, bearing: 10), width: 100, height: 100)
        let points = controlPoints([MapPoint(x: 10, y: 10), MapPoint(x: 90, y: 60)], of: original).map {
            Georeference.ControlPoint(point: $0.point * 20, coordinate: $0.coordinate)
        }
        XCTAssertEqual(
            try GeoTransform(.controlPoints(points), width: 100, height: 100).scale, 0.05, accuracy: 1e-6)
    }

    func testATransformRejectsDegenerateGeoreferences() {
        let far = Coordinate(latitude: 45.001, longitude: 10)
        let side = Coordinate(latitude: 45, longitude: 10.0014)
        let a = MapPoint(x: 0, y: 0)
        let b = MapPoint(x: 0, y: -111)
        // y up instead of down: a mirrored plan.
        let mirrored = [(a, center), (MapPoint(x: 0, y: 111), far), (MapPoint(x: 111, y: 0), side)]
        let cases: [(Georeference, GeoreferenceError)] = [
            (.controlPoints([]), .tooFewControlPoints(0)),
            (points([(a, center)]), .tooFewControlPoints(1)),
            (points([(a, center), (a, far)]), .coincidentControlPoints),
            (points([(a, center), (b, center)]), .coincidentControlPoints),
            (points([(a, center), (MapPoint(x: .nan, y: 0), far)]), .invalidNumber),
            (points([(a, center), (b, Coordinate(latitude: .infinity, longitude: 0))]), .invalidNumber),
            (points(mirrored), .contradictoryControlPoints),
            (.center(Coordinate(latitude: 91, longitude: 0), bearing: 0), .invalidNumber),
            (.center(center, bearing: .nan), .invalidNumber),
        ]
        for (georeference, expected) in cases {
            XCTAssertThrowsError(try GeoTransform(georeference, width: 10, height: 10), "\(georeference)") { error in
                XCTAssertEqual(error as? GeoreferenceError, expected, "\(georeference)")
            }
        }
        XCTAssertThrowsError(try GeoTransform(.center(center, bearing: 0), width: 0, height: 10))
    }

    func testControlPointsOnALineFixASimilarity() throws {
        let original = try GeoTransform(.center(center, bearing: 200), width: 100, height: 100)
        let line = controlPoints([MapPoint(x: 0, y: 0), MapPoint(x: 50, y: 50), MapPoint(x: 99, y: 99)], of: original)
        let fitted = try GeoTransform(.controlPoints(line), width: 100, height: 100)
        let aside = MapPoint(x: 90, y: 10)
        XCTAssertLessThan(fitted.point(at: original.coordinate(at: aside)).distance(to: aside), 2e-3)
    }

    func testACourseBecomesATrueCourse() throws {
        let transform = try GeoTransform(.center(center, bearing: 350), width: 10, height: 10)
        XCTAssertEqual(transform.trueCourse(of: 20), 10, accuracy: 1e-9)
        XCTAssertEqual(transform.trueCourse(of: 5), 355, accuracy: 1e-9)
    }

    func testAMapWithoutGeoreferenceHasNoTransform() throws {
        XCTAssertNil(try VenueMap(id: 1, name: "a", level: 0, width: 10, height: 10).geoTransform())
    }

    private func points(_ pairs: [(MapPoint, Coordinate)]) -> Georeference {
        .controlPoints(pairs.map { Georeference.ControlPoint(point: $0.0, coordinate: $0.1) })
    }

    private func controlPoints(
        _ points: [MapPoint], of transform: GeoTransform
    ) -> [Georeference.ControlPoint] {
        points.map { Georeference.ControlPoint(point: $0, coordinate: transform.coordinate(at: $0)) }
    }
}

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
