import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

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
            (
                feature("{}", geometry: #"{"type":"Polygon","coordinates":[\#(ring),\#(ring)]}"#),
                "$.geometry.coordinates", "has a hole"
            ),
            (
                feature("{}", geometry: #"{"type":"MultiPolygon","coordinates":[[\#(ring)],[\#(ring)]]}"#),
                "$.geometry.type", "has 2 parts"
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
