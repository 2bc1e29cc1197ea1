import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// Venues as other programs write them: what can't be used is left out and named, and the rest is imported.
final class FilesOfOthersTests: XCTestCase {
    private func path(_ name: String) throws -> String { try FixtureFolder("foreign/venues").path + "/" + name }

    private func osm(_ name: String) throws -> IMDFImport { try OSMImporter().read(path(name)) }

    /// The remarks as `outcome id: reason`, without those about names.
    private func remarks(_ imported: IMDFImport) -> [String] {
        imported.report.remarks.filter { $0.outcome == .leftOut || $0.reason.contains("not kept") }
            .map { "\($0.id): \($0.reason)" }
    }

    private func assertRefused(_ name: String, _ line: String) {
        XCTAssertThrowsError(try OSMImporter(isStrict: true).read(path(name)), name) { error in
            XCTAssertTrue("\(error)".contains(line), "\(error)")
        }
    }

    // MARK: OpenStreetMap

    func testAnOpenOutlineIsLeftOut() throws {
        let imported = try osm("open-outline.osm")
        XCTAssertEqual(imported.venue.rooms.map(\.name), ["Office 1142"])
        XCTAssertTrue(
            remarks(imported).contains("way/-21: its outline is not closed; end the way at its first node"),
            "\(remarks(imported))")
        assertRefused("open-outline.osm", "line 10: way/-21: its outline is not closed")
    }

    func testANodeThatIsTwiceInTheFileIsReadOnce() throws {
        let imported = try osm("duplicate-node.osm")
        XCTAssertEqual(imported.venue.rooms.map(\.name), ["A"])
        XCTAssertTrue(
            remarks(imported).contains("node/-1: its id is already used by another node"), "\(remarks(imported))")
        assertRefused("duplicate-node.osm", "line 4: node/-1: its id is already used by another node")
    }

    func testADoorDrawnAsAnAreaOpensTheWallAlongItsLongerSide() throws {
        let venue = try osm("door-area.osm").venue
        let plane = LocalTangentPlane(origin: Coordinate(latitude: 50, longitude: 8))
        let plan = try ImportedPlan(XCTUnwrap(venue.maps.first), plane: plane)
        // The rooms meet 7.2 m east of the corner. The door is from 4.4 m to 6.7 m north of it.
        for (north, isClosed) in [(4.0, true), (4.7, false), (5.5, false), (6.4, false), (7.1, true)] {
            XCTAssertEqual(plan.blocks((6.5, north), (7.8, north)), isClosed, "\(north) m")
        }
    }

    func testLevelsThatAreNoWholeNumbersAreLeftOut() throws {
        let imported = try osm("levels.osm")
        let levels = Dictionary(uniqueKeysWithValues: imported.venue.maps.map { ($0.id, $0.level) })
        var names: [Int: [String]] = [:]
        for room in imported.venue.rooms { names[try XCTUnwrap(levels[room.mapID]), default: []].append(room.name) }
        XCTAssertEqual(
            names.mapValues { $0.sorted() },
            [
                -1: ["Range"], 0: ["A", "Both", "Range", "Rep"], 1: ["Both", "C", "Plus", "Range", "Rep", "Spaces"],
                2: ["Rep", "Spaces"],
            ])
        let leftOut = imported.report.remarks.filter { $0.outcome == .leftOut }
        XCTAssertEqual(
            leftOut.map(\.id).filter { $0.hasPrefix("way") && !$0.contains("@") }.sorted(),
            ["way/1001", "way/1007", "way/1008", "way/1009"])
        let reason = "its level is \"G\"; give levels within ±1000, such as 0, 0;1 or -1-3"
        XCTAssertEqual(leftOut.first { $0.id == "way/1007" }?.reason, reason)
        assertRefused("levels.osm", "way/1007: \(reason)")
    }

    func testLevelsBetweenOthersRefuseNoFile() throws {
        let imported = try OSMImporter(isStrict: true).read(path("levels-valid.osm"))
        XCTAssertEqual(imported.venue.maps.map(\.level), [-1, 0, 1, 2])
        XCTAssertEqual(Set(imported.venue.rooms.map(\.name)), ["A", "Both", "C", "Range", "Rep", "Spaces"])
    }

    func testWhatIsNotUnderstoodIsNamed() throws {
        var file = OSMFileUnderTest()
        let square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]
        file.area(square, ["indoor": "room", "level": "0", "name": "A"])
        file.area(square, ["indoor": "junction", "level": "0"])
        file.area(square, ["indoor": "elevator", "level": "0"])
        file.area(square, ["shop": "kiosk", "level": "0"])
        file.node(5, 5, ["level": "0"])
        let all = remarks(try file.imported())
        for line in [
            "way/2: indoor=junction is no kind of space, wall or door that an import knows",
            "way/3: indoor=elevator is no kind of space, wall or door that an import knows",
            "way/4: it has a level, but no tag indoor: the part of the map that it is isn't known",
        ] { XCTAssertTrue(all.contains(line), "\(all)") }
        XCTAssertTrue(all.contains { $0.hasSuffix("it has a level, but neither a name nor a purpose") }, "\(all)")
    }

    // MARK: GeoJSON of OpenStreetMap

    /// Two rooms with a door on the wall between them, as GeoJSON.
    private func rooms(_ feature: (_ id: String, _ tags: String, _ geometry: String) -> String) -> String {
        let (a, b) = ("[8,50],[8.0001,50],[8.0001,50.00005],[8.0001,50.0001],[8,50.0001]", "[8.0001,50.00005]")
        let right = "[8.0001,50],[8.0002,50],[8.0002,50.0001],[8.0001,50.0001],\(b)"
        return #"{"type":"FeatureCollection","features":["#
            + [
                feature(
                    "way/20", #""indoor":"room","level":"0","name":"A""#,
                    #"{"type":"Polygon","coordinates":[[\#(a),[8,50]]]}"#),
                feature(
                    "way/21", #""indoor":"room","level":"0","name":"B""#,
                    #"{"type":"LineString","coordinates":[\#(right),[8.0001,50]]}"#),
                feature("node/5", #""door":"hinged""#, #"{"type":"Point","coordinates":\#(b)}"#),
            ].joined(separator: ",") + "]}"
    }

    private func imported(_ geoJSON: String) throws -> IMDFImport {
        let path = try temporaryFolder() + "/rooms.geojson"
        try Data(geoJSON.utf8).write(to: URL(filePath: path))
        return try OSMImporter().read(path)
    }

    func testGeoJSONOfElementsIsImportedAsTheirFile() throws {
        let documents = [
            rooms { id, tags, geometry in
                #"{"type":"Feature","id":"\#(id)","properties":{"@id":"\#(id)",\#(tags)},"geometry":\#(geometry)}"#
            },
            rooms { id, tags, geometry in
                let parts = id.split(separator: "/")
                return #"{"type":"Feature","properties":{"type":"\#(parts[0])","id":\#(parts[1]),"tags":{\#(tags)}},"#
                    + #""geometry":\#(geometry)}"#
            },
            rooms { _, tags, geometry in #"{"type":"Feature","properties":{\#(tags)},"geometry":\#(geometry)}"# },
        ]
        for document in documents {
            let venue = try imported(document).venue
            XCTAssertEqual(venue.rooms.map(\.name).sorted(), ["A", "B"])
            let plane = LocalTangentPlane(origin: Coordinate(latitude: 50, longitude: 8))
            let plan = try ImportedPlan(XCTUnwrap(venue.maps.first), plane: plane)
            XCTAssertFalse(plan.blocks((6.5, 5.56), (7.8, 5.56)), "the door is open")
            XCTAssertTrue(plan.blocks((6.5, 2), (7.8, 2)))
        }
        XCTAssertEqual(
            Set(try imported(documents[0]).report.identities.map(\.id)),
            Set(try imported(documents[1]).report.identities.map(\.id)))
    }

    func testAFeatureOfGeoJSONThatCannotBeReadIsLeftOut() throws {
        let document = rooms { id, tags, geometry in
            #"{"type":"Feature","id":"\#(id)","properties":{\#(tags)},"geometry":\#(id == "way/21" ? "null" : geometry)}"#
        }
        let imported = try imported(document)
        XCTAssertEqual(imported.venue.rooms.map(\.name), ["A"])
        XCTAssertTrue(remarks(imported).contains { $0.hasPrefix("way/21: ") }, "\(remarks(imported))")
        XCTAssertThrowsError(try self.imported("{\"type\":\"Topology\"}")) { error in
            XCTAssertTrue("\(error)".contains("no GeoJSON FeatureCollection"), "\(error)")
        }
    }

    // MARK: IMDF

    func testAnOccupantWithoutItsAnchorIsLeftOut() throws {
        let imported = try IMDFImporter(language: "en").read(path("dangling-anchor"))
        XCTAssertTrue(
            remarks(imported).contains(
                "a1000009-0000-4000-8000-0000000000c2: its anchor_id is wrong: "
                    + "there is no anchor deadbeef-0000-4000-8000-00000000dead"), "\(remarks(imported))")
        XCTAssertTrue(imported.venue.pointsOfInterest.contains { $0.name == "Station Shop" })
        XCTAssertFalse(imported.venue.pointsOfInterest.contains { $0.name == "Unresolved Shop" })
        XCTAssertThrowsError(try IMDFImporter(isStrict: true).read(path("dangling-anchor"))) { error in
            XCTAssertTrue("\(error)".contains("there is no anchor deadbeef-"), "\(error)")
        }
    }

    func testADetailWithoutLevelIsLeftOut() throws {
        let imported = try IMDFImporter().read(path("detail-without-level"))
        XCTAssertTrue(
            remarks(imported).contains { $0.hasPrefix("88b77312-9f5b-4bc8-ba9c-81bf9195151a: properties.level_id is") },
            "\(remarks(imported))")
        XCTAssertEqual(imported.venue.maps.map(\.level), [-1, 0, 1])
        XCTAssertThrowsError(try IMDFImporter(isStrict: true).read(path("detail-without-level"))) { error in
            XCTAssertTrue("\(error)".contains("detail.geojson: $.features[0].properties.level_id"), "\(error)")
        }
    }

    func testAFileThatCannotBeReadIsLeftOutWithWhatNeedsIt() throws {
        var archive = ArchiveUnderTest()
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        archive.add("fixture", "f", "Point", "[1, 2]", "")
        archive.add(
            "occupant", "o", "Point", "[1, 2]", #""category": "shop", "name": {"en": "Shop"}, "anchor_id": "a""#)
        let folder = try temporaryFolder()
        var files = archive.files
        files["fixture.geojson"] = #"{"type": "Feature"}"#
        files["anchor.geojson"] = "{"
        files["occupant.geojson"] = files["occupant.geojson"]?.replacing(
            #"{"type": "Point", "coordinates": [1, 2]}"#, with: "null")
        try write(files, to: folder)
        let imported = try IMDFImporter().read(folder)
        XCTAssertEqual(imported.venue.rooms.count, 1)
        let all = remarks(imported)
        XCTAssertTrue(all.contains { $0.hasPrefix("anchor.geojson: it can't be read: ") }, "\(all)")
        XCTAssertTrue(
            all.contains { $0.hasPrefix("fixture.geojson: it can't be read: $.type is \"Feature\"") }, "\(all)")
        XCTAssertTrue(all.contains("o: its anchor_id is wrong: there is no anchor a"), "\(all)")
        XCTAssertThrowsError(try IMDFImporter(isStrict: true).read(folder)) { error in
            XCTAssertTrue("\(error)".contains("anchor.geojson: $: "), "\(error)")
        }
        // Without its levels, there is no venue.
        try write(["level.geojson": "{"], to: folder)
        XCTAssertThrowsError(try IMDFImporter().read(folder)) { error in
            XCTAssertTrue("\(error)".contains("level.geojson: $: "), "\(error)")
        }
    }

    func testAnObjectThatBreaksARuleOfPacketsIsLeftOut() throws {
        var archive = ArchiveUnderTest()
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        // A packet has places within 1000 km of the plan.
        archive.add(
            "amenity", "near", "Point", ArchiveUnderTest.position((5, 5)),
            #""category": "atm", "name": {"en": "Near"}, "unit_ids": ["r"]"#)
        archive.add(
            "amenity", "far", "Point", "[60, 10]", #""category": "atm", "name": {"en": "Far"}, "unit_ids": ["r"]"#)
        let imported = try importing(archive)
        XCTAssertEqual(imported.venue.pointsOfInterest.map(\.name), ["Near"])
        let all = remarks(imported)
        XCTAssertTrue(all.contains { $0.hasPrefix("far: it breaks a rule of packets: ") }, "\(all)")
        XCTAssertFalse(imported.report.identities.contains { $0.id == "far" })
        XCTAssertTrue(try problems(of: archive).contains { $0.contains("breaks a rule of packets: $.pois[") })
    }

    func testFeaturesOfALevelThatIsLeftOutAreLeftOut() throws {
        var archive = ArchiveUnderTest()
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        let folder = try temporaryFolder()
        var files = archive.files
        files["anchor.geojson"] =
            #"{"type":"FeatureCollection","features":[{"id":"a","type":"Feature","feature_type":"anchor","#
            + #""geometry":{"type":"Point","coordinates":\#(ArchiveUnderTest.position((1, 1)))},"#
            + #""properties":{"unit_id":"none","address_id":null}}]}"#
        files["occupant.geojson"] =
            #"{"type":"FeatureCollection","features":[{"id":"o","type":"Feature","feature_type":"occupant","#
            + #""geometry":null,"properties":{"category":"shop","name":null,"anchor_id":"a"}}]}"#
        try write(files, to: folder)
        XCTAssertEqual(
            remarks(try IMDFImporter().read(folder)).filter { !$0.hasPrefix("r:") },
            ["a: its unit_id is wrong: there is no unit none", "o: its anchor_id is wrong: there is no anchor a"])
    }
}
