import IndoorLocalization
import XCTest

/// What a geofence encloses, on Earth and on plans.
final class GeofenceShapeTests: XCTestCase {
    /// An L around (52, 13): 0.001° is 111 m to the north and 68 m to the east.
    private let corners = [
        (52.0, 13.0), (52.002, 13.0), (52.002, 13.001), (52.001, 13.001), (52.001, 13.002), (52.0, 13.002),
    ].map { Coordinate(latitude: $0.0, longitude: $0.1) }

    private func contains(_ corners: [Coordinate], _ latitude: Double, _ longitude: Double) -> Bool? {
        Geofence(id: "L", shape: .polygon(corners))
            .contains(Coordinate(latitude: latitude, longitude: longitude))
    }

    func testAPolygonOnEarthContainsTheSamePointsClockwiseAndCounterClockwise() {
        for (latitude, longitude, expected) in [
            (52.0005, 13.0005, true), (52.0015, 13.0005, true), (52.0005, 13.0015, true), (52.0015, 13.0015, false),
            (51.9995, 13.0005, false), (52.0005, 13.0025, false), (-52.0005, -166.9995, false), (0, 0, false),
        ] {
            XCTAssertEqual(contains(corners, latitude, longitude), expected, "\(latitude), \(longitude)")
            XCTAssertEqual(contains(corners.reversed(), latitude, longitude), expected, "\(latitude), \(longitude)")
        }
    }

    func testAPolygonMayCrossTheDateLine() {
        let square = [(-0.001, 179.999), (0.001, 179.999), (0.001, -179.999), (-0.001, -179.999)]
            .map { Coordinate(latitude: $0.0, longitude: $0.1) }
        XCTAssertEqual(contains(square, 0, 180), true)
        XCTAssertEqual(contains(square, 0, -179.9995), true)
        XCTAssertEqual(contains(square, 0, 179.998), false)
        XCTAssertEqual(contains(square, 0, 0), false)
    }

    func testACircleOnEarthEndsAtItsRadius() {
        let fence = Geofence(id: "c", shape: .circle(center: Coordinate(latitude: 52, longitude: 13), radius: 100))
        // A degree of latitude is 111,267 m at 52°.
        for (metres, expected) in [(99.9, true), (100.1, false), (5_000_000, false)] {
            let place = Coordinate(latitude: 52 - metres / 111_267, longitude: 13)
            XCTAssertEqual(fence.contains(place), expected, "\(metres) m")
        }
        XCTAssertEqual(fence.contains(Coordinate(latitude: .nan, longitude: 13)), false)
    }

    /// A plan of 40 by 30 m whose top points to the east.
    private let map = VenueMap(
        id: 10, name: "ground", level: 0, width: 40, height: 30,
        georeference: .center(Coordinate(latitude: 52, longitude: 13), bearing: 90))

    func testAPlanAndTheEarthAgreeOnWhatIsInside() throws {
        let transform = try XCTUnwrap(map.geoTransform())
        let polygon = [(5.0, 5.0), (30, 8), (22, 25)].map { MapPoint(x: $0.0, y: $0.1) }
        let fences = [
            Geofence(id: "p", shape: .polygon(polygon.map(transform.coordinate(at:)))),
            Geofence(id: "c", shape: .circle(center: transform.coordinate(at: polygon[0]), radius: 7)),
        ]
        var random = RandomAreas(seed: 4)
        print("seed 4")
        for fence in fences {
            var inside = 0
            for _ in 0..<500 {
                let point = random.point(within: 40)
                let isInside = fence.contains(point, on: map, of: 1)
                XCTAssertEqual(fence.contains(transform.coordinate(at: point)), isInside, "\(fence.id): \(point)")
                inside += isInside ? 1 : 0
            }
            XCTAssertGreaterThan(inside, 20)
        }
    }

    func testAGeofenceIsOnItsOwnFloors() {
        var fence = Geofence(id: "a", shape: .area(.circle(center: MapPoint(x: 5, y: 5), radius: 3)))
        let point = MapPoint(x: 5, y: 6)
        XCTAssertTrue(fence.contains(point, on: map, of: 1), "nil is every floor")
        for (venue, mapID, level, expected) in [
            (1, 10, 0, true), (2, 10, 0, false), (1, 11, 0, false), (1, 10, 1, false),
        ] as [(VenueID, MapID, Int, Bool)] {
            (fence.venueID, fence.mapID, fence.level) = (venue, mapID, level)
            XCTAssertEqual(fence.contains(point, on: map, of: 1), expected, "\(venue), \(mapID), \(level)")
        }
        XCTAssertNil(fence.contains(Coordinate(latitude: 52, longitude: 13)), "metres are nowhere on Earth")
    }

    func testAFenceOnEarthIsOnNoPlanWithoutAGeoreference() {
        let plain = VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30)
        let fence = Geofence(id: "c", shape: .circle(center: Coordinate(latitude: 52, longitude: 13), radius: 1e6))
        XCTAssertTrue(fence.contains(MapPoint(x: 5, y: 5), on: map, of: 1))
        XCTAssertFalse(fence.contains(MapPoint(x: 5, y: 5), on: plain, of: 1))
    }

    func testAPointOfInterestIsAFenceWithACoordinateAndAPayload() throws {
        let place = PointOfInterest(
            id: 4, name: "café", mapID: 10, point: MapPoint(x: 20, y: 15), payload: .string("cake"))
        let fence = Geofence(around: place, of: 1, radius: 3)
        XCTAssertEqual(fence.name, "café")
        XCTAssertEqual(fence.payload, .string("cake"))
        XCTAssertEqual(fence.mapID, 10, "a point of interest has a floor")
        XCTAssertTrue(fence.contains(MapPoint(x: 22, y: 15), on: map, of: 1))
        XCTAssertFalse(fence.contains(MapPoint(x: 24, y: 15), on: map, of: 1))
        let venue = Venue(id: 1, name: "office", maps: [map], pointsOfInterest: [place])
        let coordinate = try XCTUnwrap(venue.coordinate(of: place))
        XCTAssertEqual(coordinate.latitude, 52, accuracy: 1e-9)
        XCTAssertEqual(coordinate.longitude, 13, accuracy: 1e-9)
    }

    func testAnInvalidGeofenceHasAProblem() {
        let (place, point) = (Coordinate(latitude: 52, longitude: 13), MapPoint(x: 1, y: 1))
        let bad = Coordinate(latitude: 91, longitude: 13)
        for (shape, problem) in [
            (.polygon([place, place]), .tooFewCorners(id: "f", count: 2)),
            (.area(.polygon([point, point])), .tooFewCorners(id: "f", count: 2)),
            (.polygon([place, place, bad]), .outOfRange(id: "f", field: "a corner")),
            (.area(.polygon([point, point, MapPoint(x: .nan, y: 1)])), .outOfRange(id: "f", field: "a corner")),
            (.circle(center: bad, radius: 1), .outOfRange(id: "f", field: "the centre")),
            (.circle(center: place, radius: 0), .outOfRange(id: "f", field: "the radius")),
            (.area(.circle(center: point, radius: .infinity)), .outOfRange(id: "f", field: "the radius")),
            (.area(.circle(center: MapPoint(x: .nan, y: 1), radius: 1)), .outOfRange(id: "f", field: "the centre")),
            (.area(.circle(center: point, radius: 1)), nil), (.circle(center: place, radius: 1), nil),
        ] as [(Geofence.Shape, GeofenceError?)] {
            XCTAssertEqual(Geofence(id: "f", shape: shape).problem, problem)
        }
        let circle = Geofence.Shape.area(.circle(center: point, radius: 1))
        XCTAssertEqual(Geofence(id: "", shape: circle).problem, .noID)
        XCTAssertEqual(
            Geofence(id: "f", shape: circle, timeout: .seconds(-1)).problem, .outOfRange(id: "f", field: "timeout"))
        XCTAssertEqual(
            Geofence(id: "f", shape: circle, exitDelay: .seconds(-1)).problem,
            .outOfRange(id: "f", field: "exitDelay"))
        XCTAssertEqual(
            Geofence(id: "f", shape: circle, exitMargin: .nan).problem, .outOfRange(id: "f", field: "exitMargin"))
        XCTAssertTrue(GeofenceError.tooFewCorners(id: "door", count: 2).description.contains("\"door\""))
    }
}
