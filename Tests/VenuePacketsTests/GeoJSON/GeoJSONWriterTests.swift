import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TextFormats
import VenuePackets
import XCTest

final class GeoJSONWriterTests: XCTestCase {
    private func features(_ bytes: [UInt8]) throws -> [JSONTree] {
        let tree = try JSONTree(bytes)
        XCTAssertEqual(tree["type"].text, "FeatureCollection")
        return tree["features"].values
    }

    private func kind(_ kind: String, of features: [JSONTree]) -> [JSONTree] {
        features.filter { $0["properties"]["kind"].text == kind }
    }

    private func office() throws -> Venue { try VenuePacketReader().read(FixtureFolder("office").path).venue }

    /// A map of 20 m by 10 m whose top points east.
    private func turned() -> VenueMap {
        VenueMap(
            id: 1, name: "G", level: 0, width: 20, height: 10,
            georeference: .center(Coordinate(latitude: 48.1, longitude: 11.5), bearing: 90),
            walls: [[MapPoint(x: 0, y: 0), MapPoint(x: 20, y: 0)]])
    }

    private func coordinate(_ position: JSONTree) throws -> Coordinate {
        Coordinate(latitude: try XCTUnwrap(position[1].number), longitude: try XCTUnwrap(position[0].number))
    }

    func testEveryObjectOfAVenueIsAFeature() throws {
        let venue = try office()
        let features = try features(GeoJSONWriter().document(of: venue))
        for (name, count) in [
            ("plan", venue.maps.count), ("room", venue.rooms.count), ("beacon", venue.beacons.count),
            ("poi", venue.pointsOfInterest.count), ("fence", venue.fences.count),
            ("wall", venue.maps.reduce(0) { $0 + $1.walls.count }),
            ("walkable", venue.maps.reduce(0) { $0 + $1.walkable.count }),
            ("node", venue.paths?.nodes.count ?? 0), ("path", venue.paths?.edges.count ?? 0),
        ] {
            XCTAssertEqual(kind(name, of: features).count, count, name)
            XCTAssertGreaterThan(count, 0, name)
        }
        let known = Set(["plan", "room", "beacon", "poi", "fence", "wall", "walkable", "node", "path"])
        XCTAssertTrue(features.allSatisfy { known.contains($0["properties"]["kind"].text) })
        XCTAssertTrue(features.allSatisfy { $0["type"].text == "Feature" })
    }

    func testEveryFeatureHasItsLevel() throws {
        let venue = try office()
        for feature in try features(GeoJSONWriter().document(of: venue)) {
            let properties = feature["properties"]
            let map = try XCTUnwrap(venue.maps.first { Double($0.id.rawValue) == properties["mapId"].number })
            XCTAssertEqual(properties["level"].number, Double(map.level))
            XCTAssertEqual(properties["map"].text, map.name)
        }
    }

    func testCoordinatesAreLongitudeThenLatitudeWithinACentimetre() throws {
        let venue = try office()
        let beacons = try kind("beacon", of: features(GeoJSONWriter().document(of: venue)))
        for (beacon, feature) in zip(venue.beacons, beacons) {
            let transform = try XCTUnwrap(venue.map(beacon.mapID)?.geoTransform())
            let written = try coordinate(feature["geometry"]["coordinates"])
            XCTAssertLessThan(transform.point(at: written).distance(to: beacon.point), 0.01)
            XCTAssertEqual(feature["properties"]["minor"].number, Double(beacon.identity.minor))
        }
    }

    func testNumbersHaveSevenDecimalsAtMost() throws {
        let text = String(decoding: try GeoJSONWriter().document(of: office()), as: UTF8.self)
        let coordinates = text.split(separator: "\"coordinates\":").dropFirst().map { $0.prefix { $0 != "t" } }
        XCTAssertGreaterThan(coordinates.count, 100)
        for word in coordinates.joined(separator: ",").split(whereSeparator: { !"0123456789.".contains($0) }) {
            let parts = word.split(separator: ".")
            XCTAssertLessThanOrEqual(parts.count == 2 ? parts[1].count : 0, 7, "\(word)")
        }
    }

    func testOuterRingsAreClosedAndCounterClockwise() throws {
        let features = try features(GeoJSONWriter().document(of: office()))
        let polygons = features.filter { $0["geometry"]["type"].text == "Polygon" }
        XCTAssertGreaterThan(polygons.count, 20)
        for polygon in polygons {
            let ring = try polygon["geometry"]["coordinates"][0].values.map(coordinate)
            XCTAssertEqual(ring.first, ring.last)
            XCTAssertGreaterThanOrEqual(ring.count, 4)
            let origin = ring[0]
            let area = zip(ring, ring.dropFirst()).reduce(0.0) { sum, edge in
                sum + (edge.0.longitude - origin.longitude) * (edge.1.latitude - origin.latitude)
                    - (edge.1.longitude - origin.longitude) * (edge.0.latitude - origin.latitude)
            }
            XCTAssertGreaterThan(area, 0, polygon["id"].text)
        }
    }

    func testARotatedPlanIsRotatedOnEarth() throws {
        let venue = Venue(id: 1, name: "v", maps: [turned()])
        let wall = try XCTUnwrap(kind("wall", of: features(GeoJSONWriter().document(of: venue))).first)
        let ends = try wall["geometry"]["coordinates"].values.map(coordinate)
        let plane = LocalTangentPlane(origin: Coordinate(latitude: 48.1, longitude: 11.5))
        let (from, to) = (plane.offset(of: ends[0]), plane.offset(of: ends[1]))
        // The plan's top edge is 5 m above its centre, which is east; its right end is south.
        XCTAssertEqual(from.east, 5, accuracy: 0.02)
        XCTAssertEqual(from.north, 10, accuracy: 0.02)
        XCTAssertEqual(to.east, 5, accuracy: 0.02)
        XCTAssertEqual(to.north, -10, accuracy: 0.02)
    }

    func testACircleIsAPolygonAndKeepsItsRadius() throws {
        var venue = Venue(id: 1, name: "v", maps: [turned()])
        venue.rooms = [
            Room(id: 4, name: "Round", mapID: 1, area: .circle(center: MapPoint(x: 5, y: 5), radius: 3)),
            Room(id: 5, name: "Trained", mapID: 1),
        ]
        let rooms = try kind("room", of: features(GeoJSONWriter().document(of: venue)))
        XCTAssertEqual(rooms[0]["properties"]["radius"].number, 3)
        XCTAssertEqual(rooms[0]["geometry"]["coordinates"][0].values.count, 65)
        let transform = try XCTUnwrap(turned().geoTransform())
        for position in rooms[0]["geometry"]["coordinates"][0].values {
            let point = transform.point(at: try coordinate(position))
            XCTAssertEqual(point.distance(to: MapPoint(x: 5, y: 5)), 3, accuracy: 0.02)
        }
        XCTAssertEqual(rooms[1]["geometry"], .null)
    }

    func testAVerticalPathIsAPoint() throws {
        var venue = Venue(id: 1, name: "v", maps: [turned(), turned()])
        venue.maps[1].id = 2
        venue.maps[1].level = 1
        let point = MapPoint(x: 5, y: 5)
        venue.paths = PathGraph(
            nodes: [.init(id: 1, mapID: 1, point: point), .init(id: 2, mapID: 2, point: point)],
            edges: [.init(from: 1, to: 2, kind: .elevator)])
        let path = try XCTUnwrap(kind("path", of: features(GeoJSONWriter().document(of: venue))).first)
        XCTAssertEqual(path["geometry"]["type"].text, "Point")
        XCTAssertEqual(path["properties"]["toLevel"].number, 1)
        XCTAssertEqual(path["properties"]["way"].text, "elevator")
    }

    func testAMapWithoutGeoreferenceIsAnError() throws {
        var venue = try office()
        let id = venue.maps[1].id
        venue.maps[1].georeference = nil
        XCTAssertThrowsError(try GeoJSONWriter().document(of: venue)) { error in
            XCTAssertEqual(error as? GeoJSONError, .notGeoreferenced([id]))
            XCTAssertTrue("\(error)".contains("no georeference"), "\(error)")
        }
    }

    func testAWrongGeoreferenceIsAnError() throws {
        var venue = try office()
        let id = venue.maps[0].id
        venue.maps[0].georeference = .controlPoints([])
        XCTAssertThrowsError(try GeoJSONWriter().document(of: venue)) { error in
            XCTAssertEqual(error as? GeoJSONError, .wrongGeoreference(id, .tooFewControlPoints(0)))
        }
    }

    func testAPositionThatIsNotFiniteIsAnError() throws {
        var venue = try office()
        venue.pointsOfInterest[0].point.x = .nan
        XCTAssertThrowsError(try GeoJSONWriter().document(of: venue)) { error in
            XCTAssertEqual(
                error as? GeoJSONError, .invalidNumber("point of interest \(venue.pointsOfInterest[0].id)"))
        }
    }

    func testTheSameVenueGivesIdenticalOutput() throws {
        XCTAssertEqual(try GeoJSONWriter().document(of: office()), try GeoJSONWriter().document(of: office()))
    }

    // MARK: Tracks

    private func position(_ seconds: Double, _ map: MapID, _ x: Double) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 5), radius: 2.5,
            label: "Hall")
    }

    private func twoFloors() -> Venue {
        var venue = Venue(id: 1, name: "v", maps: [turned(), turned()])
        venue.maps[1].id = 2
        venue.maps[1].level = 1
        return venue
    }

    func testATrackHasAPointPerPositionAndALinePerStay() throws {
        let track = [position(0, 1, 2), position(1, 1, 3), position(2, 2, 3), position(3, 2, 4), position(4, 1, 5)]
        let truth = [
            GeoJSONPlace(instant: Instant(seconds: 0), mapID: 1, point: MapPoint(x: 2, y: 4)),
            GeoJSONPlace(instant: Instant(seconds: 5), mapID: 1, point: MapPoint(x: 5, y: 4)),
        ]
        let features = try features(GeoJSONWriter().document(of: track, truth: truth, in: twoFloors()))
        let points = kind("position", of: features)
        XCTAssertEqual(points.map { $0["properties"]["t"].number }, [0, 1, 2, 3, 4])
        XCTAssertEqual(points.map { $0["properties"]["level"].number }, [0, 0, 1, 1, 0])
        XCTAssertEqual(points[0]["properties"]["radius"].number, 2.5)
        XCTAssertEqual(points[0]["properties"]["label"].text, "Hall")
        let lines = kind("track", of: features)
        XCTAssertEqual(lines.map { $0["properties"]["level"].number }, [0, 1])
        XCTAssertEqual(lines.map { $0["geometry"]["coordinates"].values.count }, [2, 2])
        XCTAssertEqual(kind("truth", of: features).count, 2)
        XCTAssertEqual(kind("truthTrack", of: features).count, 1)
    }

    func testALongTimeWithoutAPositionEndsALine() throws {
        let track = [0, 10, 20.5, 21].map { position($0, 1, $0) }
        let truth = [0, 60, 121, 122].map {
            GeoJSONPlace(instant: Instant(seconds: $0), mapID: 1, point: MapPoint(x: $0 / 10, y: 4))
        }
        let features = try features(GeoJSONWriter().document(of: track, truth: truth, in: twoFloors()))
        let lines = kind("track", of: features)
        XCTAssertEqual(lines.map { $0["properties"]["from"].number }, [0, 20.5])
        XCTAssertEqual(lines.map { $0["properties"]["to"].number }, [10, 21])
        XCTAssertEqual(kind("truthTrack", of: features).map { $0["properties"]["from"].number }, [0, 121])
    }

    func testOutdoorPositionsHaveNoMap() throws {
        let outside = [30.0, 31, 60].map {
            OutdoorPosition(
                instant: Instant(seconds: $0), coordinate: Coordinate(latitude: 48.12345678, longitude: 11.5),
                radius: 4, speed: 1.25)
        }
        let track = [position(0, 1, 2), position(80, 1, 3)]
        let features = try features(
            GeoJSONWriter().document(of: track, outdoorPositions: outside, in: twoFloors()))
        let points = kind("outdoorPosition", of: features)
        XCTAssertEqual(points.map { $0["properties"]["t"].number }, [30, 31, 60])
        XCTAssertEqual(points[0]["geometry"]["coordinates"].values.map(\.number), [11.5, 48.1234568])
        XCTAssertEqual(points[0]["properties"]["speed"].number, 1.25)
        XCTAssertEqual(points[0]["properties"]["mapId"], .null)
        XCTAssertEqual(points[0]["properties"]["level"], .null)
        XCTAssertEqual(kind("outdoorTrack", of: features).map { $0["properties"]["to"].number }, [31])
        XCTAssertEqual(kind("track", of: features).count, 0)
    }

    func testAnInvalidOutdoorPositionIsAnError() throws {
        let outside = OutdoorPosition(
            instant: Instant(seconds: 0), coordinate: Coordinate(latitude: .nan, longitude: 0), radius: 4)
        XCTAssertThrowsError(try GeoJSONWriter().document(of: [], outdoorPositions: [outside], in: twoFloors())) {
            XCTAssertEqual($0 as? GeoJSONError, .invalidNumber("an outdoor position"))
        }
    }

    func testAnErrorNamesAGroundTruthOfAnotherVenue() throws {
        let truth = [GeoJSONPlace(instant: Instant(seconds: 0), mapID: 9, point: MapPoint(x: 1, y: 4))]
        XCTAssertThrowsError(try GeoJSONWriter().document(of: [position(0, 1, 2)], truth: truth, in: twoFloors())) {
            XCTAssertEqual($0 as? GeoJSONError, .unknownMap(9, "the ground truth"))
        }
    }

    func testATrackNeedsTheGeoreferencesOfItsOwnMapsOnly() throws {
        var venue = twoFloors()
        venue.maps[1].georeference = nil
        XCTAssertNoThrow(try GeoJSONWriter().document(of: [position(0, 1, 2)], in: venue))
        XCTAssertThrowsError(try GeoJSONWriter().document(of: [position(0, 2, 2)], in: venue)) { error in
            XCTAssertEqual(error as? GeoJSONError, .notGeoreferenced([2]))
        }
        XCTAssertThrowsError(try GeoJSONWriter().document(of: [position(0, 9, 2)], in: venue)) { error in
            XCTAssertEqual(error as? GeoJSONError, .unknownMap(9, "the track"))
        }
    }

    func testATrackWithoutPositionsIsAnEmptyCollection() throws {
        XCTAssertEqual(try features(GeoJSONWriter().document(of: [], in: twoFloors())), [])
    }

    // MARK: The local frame

    func testAVenueWithoutGeoreferenceIsWrittenInMetresOnItsMaps() throws {
        var venue = twoFloors()
        for index in venue.maps.indices { venue.maps[index].georeference = nil }
        let writer = GeoJSONWriter(frame: .local)
        XCTAssertNoThrow(try writer.check(venue))
        let bytes = try writer.document(of: venue)
        XCTAssertEqual(try JSONTree(bytes)["coordinateFrame"]["type"].text, "local")
        let plan = try XCTUnwrap(kind("plan", of: try features(bytes)).first)["geometry"]["coordinates"][0]
        let (width, height) = (venue.maps[0].width, venue.maps[0].height)
        let corners = plan.values.map { [$0[0].number, $0[1].number] }
        XCTAssertEqual(corners, [[0, 0], [width, 0], [width, height], [0, height], [0, 0]], "counter-clockwise")
    }

    func testATrackInTheLocalFrameHasTheUpwardAxisOfMapsAndNoOutdoorPositions() throws {
        var venue = twoFloors()
        venue.maps[0].georeference = nil
        let height = venue.maps[0].height
        let outside = OutdoorPosition(
            instant: Instant(seconds: 9), coordinate: Coordinate(latitude: 1, longitude: 2), radius: 4)
        var first = position(0, 1, 2)
        first.point.y = 1
        let features = try features(
            GeoJSONWriter(frame: .local).document(
                of: [first, position(1, 1, 2)], outdoorPositions: [outside], in: venue))
        XCTAssertEqual(features.map { $0["properties"]["kind"].text }, ["position", "position", "track"])
        let point = features[0]["geometry"]["coordinates"]
        XCTAssertEqual(try XCTUnwrap(point[0].number), first.x, accuracy: 5e-4)
        XCTAssertEqual(try XCTUnwrap(point[1].number), height - first.y, accuracy: 5e-4)
    }

    func testADocumentOnEarthHasNoFrameMember() throws {
        let bytes = try GeoJSONWriter().document(of: [position(0, 1, 2)], in: twoFloors())
        XCTAssertFalse(String(decoding: bytes, as: UTF8.self).contains("coordinateFrame"))
    }

    func testTheFencesOfALocalDocumentAreNoGeofences() throws {
        let bytes = try GeoJSONWriter(frame: .local).document(of: try office())
        XCTAssertThrowsError(try GeofenceFile.geofences(of: bytes, named: "local.geojson")) { error in
            XCTAssertTrue("\(error)".contains("in the frame of a map"), "\(error)")
        }
    }
}
