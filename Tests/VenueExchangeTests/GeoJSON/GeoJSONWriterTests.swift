import Foundation
import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import TextFormats
import VenueExchange
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
        let counts: [(String, Int)] = [
            ("plan", venue.maps.count), ("room", venue.rooms.count), ("beacon", venue.beacons.count),
            ("poi", venue.pointsOfInterest.count), ("fence", venue.fences.count),
            ("wall", venue.maps.reduce(0) { $0 + $1.walls.count }),
            ("walkable", venue.maps.reduce(0) { $0 + $1.walkable.count }),
            ("node", venue.paths?.nodes.count ?? 0), ("path", venue.paths?.edges.count ?? 0),
        ]
        for (name, count) in counts {
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

final class GeofenceFileTests: XCTestCase {
    private func read(_ text: String) throws -> [Geofence] {
        try GeofenceFile.geofences(of: Array(text.utf8), named: "fences.geojson")
    }

    /// A Feature with this geometry, these properties, and more.
    private func feature(
        _ properties: String, _ more: String = #","id":"a""#,
        geometry: String = #"{"type":"Point","coordinates":[8.5,50]}"#
    ) -> String {
        #"{"type":"Feature","geometry":\#(geometry),"properties":\#(properties)\#(more)}"#
    }

    private func collection(_ features: String...) -> String {
        #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
    }

    func testAGeofenceHasAllPropertiesOfItsFeature() throws {
        let text = collection(
            feature(
                #"{"name":"Gate","radius":2.5,"venueId":7,"mapId":10,"level":-1,"timeout":30,"exitDelay":1.5,"#
                    + #""exitMargin":0.5,"payload":{"a":[1,null]},"stroke":"red"}"#, #","id":"gate""#))
        XCTAssertEqual(
            try read(text),
            [
                Geofence(
                    id: "gate", name: "Gate",
                    shape: .circle(center: Coordinate(latitude: 50, longitude: 8.5), radius: 2.5), venueID: 7,
                    mapID: 10,
                    level: -1, timeout: .seconds(30), exitDelay: .milliseconds(1500), exitMargin: 0.5,
                    payload: .object(["a": .array([.number(1), .null])]))
            ])
    }

    func testAPolygonIsItsOutlineWithoutTheRepeatedCorner() throws {
        let ring = "[[8,50],[9,50,120],[9,51],[8,50]]"
        let corners = [(50.0, 8.0), (50, 9), (51, 9)].map { Coordinate(latitude: $0.0, longitude: $0.1) }
        for geometry in [
            #"{"type":"Polygon","coordinates":[\#(ring)]}"#, #"{"type":"MultiPolygon","coordinates":[[\#(ring)]]}"#,
        ] {
            let fences = try read(feature("null", geometry: geometry))
            XCTAssertEqual(fences, [Geofence(id: "a", shape: .polygon(corners))], geometry)
        }
    }

    func testALevelMayBeATextAndANameAnObjectOfLanguages() throws {
        let fence = try read(feature(#"{"radius":1,"level":"3","name":{"fr":"Salle","en":"Hall"}}"#))[0]
        XCTAssertEqual(fence.level, 3)
        XCTAssertEqual(fence.name, "Hall")
        XCTAssertEqual(try read(feature(#"{"radius":1,"name":{"fr":"Salle","it":"Sala"}}"#))[0].name, "Salle")
    }

    func testAPlaceInAHoleIsOutside() throws {
        func ring(_ low: Double, _ high: Double) -> String {
            "[[8.\(low),50.\(low)],[8.\(high),50.\(low)],[8.\(high),50.\(high)],[8.\(low),50.\(high)],[8.\(low),50.\(low)]]"
                .replacing("8.0.", with: "8.00").replacing("50.0.", with: "50.00")
        }
        let text = feature(
            "{}",
            geometry: #"{"type":"Polygon","coordinates":[\#(ring(0.1, 0.9)),\#(ring(0.2, 0.3)),\#(ring(0.6, 0.7))]}"#)
        let fence = try read(text)[0]
        for (east, north, isInside) in [
            (0.15, 0.15, true), (0.25, 0.25, false), (0.45, 0.45, true), (0.65, 0.65, false), (0.25, 0.65, true),
            (0.8, 0.8, true), (0.95, 0.5, false), (0.05, 0.25, false),
        ] {
            let place = Coordinate(latitude: 50 + north / 100, longitude: 8 + east / 100)
            XCTAssertEqual(fence.contains(place), isInside, "\(east), \(north)")
        }
    }

    func testEachPartOfAMultiPolygonIsAGeofence() throws {
        let (ring, other) = ("[[8,50],[9,50],[9,51],[8,50]]", "[[18,50],[19,50],[19,51],[18,50]]")
        let fences = try read(
            feature(#"{"name":"Yard"}"#, geometry: #"{"type":"MultiPolygon","coordinates":[[\#(ring)],[\#(other)]]}"#))
        XCTAssertEqual(fences.map(\.id), ["a", "a/2"])
        XCTAssertEqual(fences.map(\.name), ["Yard", "Yard"])
        let place = Coordinate(latitude: 50.2, longitude: 18.8)
        XCTAssertEqual(fences.map { $0.contains(place) }, [false, true])
    }

    func testTheIdComesFromTheFeatureItsPropertiesOrItsName() throws {
        for (properties, more, id) in [
            (#"{"radius":1,"id":"p","name":"n"}"#, #","id":"f""#, "f"), (#"{"radius":1,"name":"n"}"#, #","id":7"#, "7"),
            (#"{"radius":1,"id":12,"name":"n"}"#, "", "12"), (#"{"radius":1,"name":"n"}"#, #","id":null"#, "n"),
        ] {
            XCTAssertEqual(try read(feature(properties, more)).map(\.id), [id], properties + more)
        }
    }

    func testAProblemHasItsPathAndRemedy() throws {
        let line = #"{"type":"LineString","coordinates":[[8,50],[9,50]]}"#
        let ring = "[[8,50],[9,50],[9,51],[8,50]]"
        for (text, path, message) in [
            ("{", "$", "is not JSON"), ("[]", "$", "give a FeatureCollection"), ("{}", "$.type", "is missing"),
            (#"{"type":"Point"}"#, "$.type", "is \"Point\"; give"), (collection(), "$", "contains no geofence"),
            (collection(#"{"type":"Point"}"#), "$.features[0].type", "give \"Feature\""),
            (feature(#"{"radius":1}"#, ""), "$.id", "is missing; give an id"),
            (feature(#"{"radius":1}"#, #","id":"""#), "$.id", "give a text or a number"),
            (feature(#"{"radius":1}"#, #","id":true"#), "$.id", "give a text or a number"),
            (feature("{}"), "$.properties.radius", "is missing; give a number of metres"),
            (feature(#"{"radius":0}"#), "$.properties.radius", "above 0"),
            (feature(#"{"radius":1,"level":0.5}"#), "$.properties.level", "a whole number"),
            (feature(#"{"radius":1,"timeout":-1}"#), "$.properties.timeout", "0 or more"),
            (feature(#"{"radius":1,"exitMargin":"a"}"#), "$.properties.exitMargin", "metres, 0 or more"),
            (feature("{}", geometry: "null"), "$.geometry", "is missing; give a Polygon"),
            (feature("{}", geometry: line), "$.geometry.type", "is a line, which encloses no area"),
            (feature(#"{"radius":1,"level":"third"}"#), "$.properties.level", "a whole number"),
            (feature(#"{"radius":1,"name":{"en":7}}"#), "$.properties.name", "the geofence's name"),
            (
                collection(
                    feature("{}", geometry: #"{"type":"MultiPolygon","coordinates":[[\#(ring)],[\#(ring)]]}"#),
                    feature(#"{"radius":1}"#, #","id":"a/2""#)),
                "$.features[1].id", "\"a/2\" is already the id of $.features[0]"
            ),
            (
                feature(#"{"radius":1}"#, geometry: #"{"type":"Point","coordinates":[50,91]}"#),
                "$.geometry.coordinates[1]", "degrees north"
            ),
            (
                collection(feature(#"{"radius":1}"#), feature(#"{"radius":2}"#)), "$.features[1].id",
                "\"a\" is already the id of $.features[0]"
            ),
        ] {
            XCTAssertThrowsError(try read(text), text) { error in
                guard let error = error as? GeofenceFileError else { return XCTFail("\(error)") }
                XCTAssertEqual(error.problems.map(\.path), [path], "\(error)")
                XCTAssertTrue(error.problems[0].message.contains(message), "\(error), not \(message)")
                let head =
                    path == "$" ? "fences.geojson: " : "fences.geojson has no usable geofences:\n  error: \(path): "
                XCTAssertEqual(error.description, head + error.problems[0].message)
            }
        }
    }

    func testAllProblemsAreReported() throws {
        let text = collection(feature("{}", ""), feature(#"{"radius":-1}"#), feature(#"{"radius":1}"#, #","id":"b""#))
        XCTAssertThrowsError(try read(text)) { error in
            XCTAssertEqual((error as? GeofenceFileError)?.problems.count, 3, "\(error)")
        }
    }

    /// What the writer makes of a venue's fences lies where they lie.
    func testTheFencesOfAVenuesExportAreRead() throws {
        let venue = try VenuePacketReader().read(try FixtureFolder("office").path).venue
        let fences = try GeofenceFile.geofences(of: try GeoJSONWriter().document(of: venue), named: "export")
        XCTAssertEqual(fences.map(\.id), venue.fences.map { "fence-\($0.id)" })
        XCTAssertEqual(fences.map(\.name), venue.fences.map(\.name))
        XCTAssertEqual(fences.map(\.mapID), venue.fences.map(\.mapID))
        XCTAssertEqual(fences.map(\.timeout), venue.fences.map(\.timeout))
        XCTAssertEqual(fences.map(\.payload), venue.fences.map(\.payload))
        var inside = 0
        for (own, fence) in zip(venue.fences, fences) {
            let map = try XCTUnwrap(venue.map(own.mapID))
            // Off the edges, where rounding to a centimetre and 64 corners matter.
            for x in stride(from: 0.3, to: map.width, by: 0.5) {
                for y in stride(from: 0.3, to: map.height, by: 0.5) {
                    let point = MapPoint(x: x, y: y)
                    guard own.area.distance(to: point) == 0 || own.area.distance(to: point) > 0.05 else { continue }
                    let isNearEdge = [-0.1, 0.1].contains { offset in
                        own.area.contains(MapPoint(x: x + offset, y: y)) != own.area.contains(point)
                            || own.area.contains(MapPoint(x: x, y: y + offset)) != own.area.contains(point)
                    }
                    guard !isNearEdge else { continue }
                    XCTAssertEqual(
                        fence.contains(point, on: map, of: venue.id), own.area.contains(point), "\(own.name) \(x) \(y)")
                    inside += own.area.contains(point) ? 1 : 0
                }
            }
        }
        XCTAssertGreaterThan(inside, 500)
    }

    func testAnErrorNamesAFileThatIsMissingOrTooLong() throws {
        let folder = try temporaryFolder()
        XCTAssertThrowsError(try GeofenceFile.read("\(folder)/none.geojson")) { error in
            XCTAssertTrue("\(error)".contains("there is no \(folder)/none.geojson; give a GeoJSON file"), "\(error)")
        }
        XCTAssertThrowsError(try GeofenceFile.read(folder)) { error in
            XCTAssertEqual("\(error)", "\(folder): is a folder; give a GeoJSON file")
        }
        XCTAssertThrowsError(try GeofenceFile.read("")) { error in
            XCTAssertEqual("\(error)", ": the path is empty; give a GeoJSON file")
        }
        let long = URL(filePath: folder + "/long.geojson")
        XCTAssertTrue(FileManager.default.createFile(atPath: long.path, contents: nil))
        let handle = try FileHandle(forWritingTo: long)
        try handle.truncate(atOffset: 16 << 20 + 1)
        try handle.close()
        XCTAssertThrowsError(try GeofenceFile.read(long.path)) { error in
            XCTAssertTrue("\(error)".contains("more than the limit of 16777216"), "\(error)")
        }
    }
}
