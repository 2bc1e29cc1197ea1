import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// Archives that are refused, and what is said of them.
final class IMDFProblemTests: XCTestCase {
    private typealias Archive = ArchiveUnderTest

    private func room() -> ArchiveUnderTest {
        var archive = Archive()
        archive.unit("r", "room", Archive.box(0, 0, 10, 10))
        return archive
    }

    private func assertOne(
        _ problems: [String], _ file: String, _ path: String, _ word: String, line: UInt = #line
    ) {
        XCTAssertEqual(problems.count, 1, "\(problems)", line: line)
        XCTAssertTrue(problems.first?.hasPrefix("\(file): \(path): ") ?? false, "\(problems)", line: line)
        XCTAssertTrue(problems.first?.contains(word) ?? false, "\(problems)", line: line)
    }

    func testASmallArchiveIsAccepted() throws { XCTAssertEqual(try problems(of: room()), []) }

    func testAMissingManifestIsRefused() throws {
        var archive = room()
        archive.files["manifest.json"] = nil
        assertOne(try problems(of: archive), "manifest.json", "$", "missing")
    }

    func testAMissingRequiredFileIsRefused() throws {
        var archive = room()
        archive.files["level.geojson"] = nil
        XCTAssertTrue(try problems(of: archive).contains { $0.hasPrefix("level.geojson: $: is missing") })
    }

    func testALaterVersionIsRefused() throws {
        var archive = room()
        archive.files["manifest.json"] = #"{"version": "2.0.0"}"#
        assertOne(try problems(of: archive), "manifest.json", "$.version", "2.0.0")
    }

    /// Each unit is cut along those that it overlaps.
    func testUnitsThatOverlapTooOftenAreRefused() throws {
        var archive = room()
        for number in 0..<210 {
            let shift = Double(number) / 100
            archive.unit("u\(number)", "room", Archive.box(shift, shift, 10 + shift, 10 + shift))
        }
        assertOne(try problems(of: archive), "level.geojson", "$", "overlap more than 20000 times")
    }

    /// Otherwise the import would write a packet that no reader accepts.
    func testAVenueWithACornerOnAnotherContinentIsRefused() throws {
        var archive = room()
        let venue = try XCTUnwrap(archive.files["venue.geojson"])
        // Exchanges longitude and latitude of a corner.
        archive.files["venue.geojson"] = venue.replacing(
            Archive.position((30, 0)), with: "[48.1,11.5]")
        assertOne(try problems(of: archive), "venue.geojson", "$", "longitude comes first")
    }

    func testAPointOnAnotherContinentIsRefused() throws {
        var archive = room()
        archive.add("amenity", "a", "Point", "[48.1,11.5]", #""category": "information", "unit_ids": ["r"]"#)
        let problems = try problems(of: archive)
        XCTAssertFalse(problems.isEmpty)
        XCTAssertTrue(problems.allSatisfy { $0.contains("$.pois[0]") && $0.contains("1,000,000") }, "\(problems)")
    }

    func testUnitsWithTooManyCornersAreRefused() throws {
        var archive = room()
        for number in 0..<501 {
            let (x, y) = (Double(number % 25) * 2, Double(number / 25) * 2)
            let circle = (0..<100).map { corner in
                let angle = Double(corner) / 50 * .pi
                return (x + 0.9 * cos(angle), y + 0.9 * sin(angle))
            }
            archive.unit("u\(number)", "room", circle)
        }
        assertOne(try problems(of: archive), "level.geojson", "$", "more than the limit of 50000 for a level")
    }

    func testAFileThatIsNotJSONIsRefused() throws {
        var archive = room()
        archive.files["unit.geojson"] = "{\n  \"type\": }"
        assertOne(try problems(of: archive), "unit.geojson", "$", "line 2, column 11")
    }

    func testAGeometryOfTheWrongTypeIsRefused() throws {
        let problems = try problemsOfMuseum("opening.geojson", replacing: #""LineString""#, with: #""Polygon""#)
        XCTAssertFalse(problems.isEmpty)
        var archive = room()
        archive.add("opening", "o", "Point", "[11.5, 48.1]", #""level_id": "l""#)
        assertOne(
            try self.problems(of: archive), "opening.geojson", "$.features[0].geometry.type", "has a LineString")
    }

    func testAnOpenRingIsRefused() throws {
        var archive = Archive()
        archive.add(
            "unit", "r", "Polygon", "[[[11.5,48.1],[11.5001,48.1],[11.5001,48.1001],[11.5,48.1001]]]",
            #""category": "room", "level_id": "l""#)
        assertOne(
            try problems(of: archive), "unit.geojson", "$.features[0].geometry.coordinates[0]", "is not closed")
    }

    func testAnUnknownLevelIsRefused() throws {
        var archive = Archive()
        archive.add("opening", "o", "LineString", "[[11.5,48.1],[11.5001,48.1]]", #""level_id": "nowhere""#)
        assertOne(
            try problems(of: archive), "opening.geojson", "$.features[0].properties.level_id", "no level nowhere")
    }

    func testACoordinateThatIsNotANumberIsRefused() throws {
        for (text, word) in [
            ("NaN", "is not JSON"), (#""NaN""#, "the text"), ("1e999", "out of range"), ("null", "null"),
        ] {
            var archive = Archive()
            archive.add("anchor", "a", "Point", "[11.5, \(text)]", #""unit_id": "r""#)
            archive.unit("r", "room", Archive.box(0, 0, 10, 10))
            let problems = try problems(of: archive)
            XCTAssertEqual(problems.count, 1, "\(problems)")
            XCTAssertTrue(problems.first?.contains(word) ?? false, "\(text): \(problems)")
        }
    }

    func testSwappedLatitudeAndLongitudeAreRefused() throws {
        var archive = Archive()
        archive.add("amenity", "a", "Point", "[48.1, 111.5]", #""unit_ids": null"#)
        assertOne(
            try problems(of: archive), "amenity.geojson", "$.features[0].geometry.coordinates[1]", "degrees north")
    }

    func testADuplicateIdIsRefused() throws {
        var archive = room()
        archive.opening("R", (0, 2), (0, 3))
        assertOne(try problems(of: archive), "unit.geojson", "$.features[0].id", "opening.geojson $.features[0]")
    }

    func testAFeatureInTheFileOfAnotherTypeIsRefused() throws {
        var archive = room()
        archive.files["unit.geojson"] = archive.files["unit.geojson"]?.replacing("\"unit\"", with: "\"fixture\"")
        assertOne(try problems(of: archive), "unit.geojson", "$.features[0].feature_type", "fixture")
    }

    func testAllProblemsAreReportedInOnePass() throws {
        var archive = Archive()
        archive.files["manifest.json"] = #"{"version": "0.9"}"#
        archive.add("unit", "r", "Point", "[11.5, 48.1]", #""category": "room", "level_id": "l""#)
        archive.add("unit", "s", "Polygon", "[[[11.5,48.1]]]", #""level_id": "l""#)
        archive.add("opening", "o", "LineString", "[[11.5,48.1],[11.5001]]", #""level_id": 3"#)
        XCTAssertEqual(
            try problems(of: archive).map { $0.split(separator: ": ").prefix(2).joined(separator: " ") },
            [
                "manifest.json $.version", "opening.geojson $.features[0].geometry.coordinates[1]",
                "opening.geojson $.features[0].properties.level_id", "unit.geojson $.features[0].geometry.type",
                "unit.geojson $.features[1].geometry.coordinates[0]", "unit.geojson $.features[1].properties.category",
            ])
    }

    func testADanglingReferenceIsReportedTogetherWithAWrongCoordinate() throws {
        var archive = Archive()
        archive.add("unit", "r", "Polygon", "[[[11.5,48.1]]]", #""category": "room", "level_id": "l""#)
        archive.add("opening", "o", "LineString", "[[11.5,48.1],[11.5001,48.1]]", #""level_id": "nowhere""#)
        archive.add("anchor", "a", "Point", "[11.5, 48.1]", #""unit_id": "r""#)
        XCTAssertEqual(
            try problems(of: archive).map { $0.split(separator: ": ").prefix(2).joined(separator: " ") },
            ["unit.geojson $.features[0].geometry.coordinates[0]", "opening.geojson $.features[0].properties.level_id"])
    }

    func testAPlaceOnTheOtherSideOfTheEarthIsRefused() throws {
        var archive = Archive()
        archive.add(
            "unit", "r", "Polygon", "[[[100,0],[100.001,0],[100.001,0.001],[100,0]]]",
            #""category": "room", "level_id": "l""#)
        assertOne(try problems(of: archive), "level.geojson", "$", "20 km apart")
    }

    func testTwoVenuesAreRefused() throws {
        var archive = room()
        archive.add("venue", "v2", "Polygon", "[\(Archive.ring(Archive.box(0, 0, 9, 9)))]", #""name": null"#)
        assertOne(try problems(of: archive), "venue.geojson", "$.features", "2 venues")
    }

    func testAFileThatIsNotAnArchiveIsRefused() throws {
        let folder = try temporaryFolder()
        try write(["a.zip": "no zip"], to: folder)
        for path in [folder + "/nowhere", folder + "/a.zip", folder] {
            XCTAssertThrowsError(try IMDFImporter().read(path), path) { error in
                XCTAssertFalse((error as? IMDFError)?.problems.isEmpty ?? true, "\(error)")
            }
        }
    }

    func testAFileThatUnpacksToTooMuchIsRefused() throws {
        // 40 MB of blanks are 40 kB in a zip.
        let bomb = "{\"type\": \"FeatureCollection\", \"features\": [" + String(repeating: " ", count: 40 << 20) + "]}"
        var entries = room().files.map { ($0.key, $0.value) }
        entries.append(("fixture.geojson", bomb))
        let zip = try makeZip(entries)
        XCTAssertThrowsError(try IMDFImporter().read(zip)) { error in
            let problems = (error as? IMDFError)?.problems ?? []
            XCTAssertEqual(problems.map(\.file), ["fixture.geojson"])
            XCTAssertTrue(problems.first?.message.contains("more than the") ?? false, "\(problems)")
        }
    }

    func testChangedBytesNeverTrap() throws {
        let seed: UInt64 = 5_109
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let museum = try FixtureFolder("imdf/museum")
        var files: [String: [UInt8]] = [:]
        for path in try museum.files() {
            files[String(path.dropFirst(museum.path.count + 1))] = [UInt8](try Data(contentsOf: URL(filePath: path)))
        }
        let folder = try temporaryFolder()
        let digits = Array("0123456789-.eE\"[]{},:n".utf8)
        var refused = 0
        for _ in 0..<60 {
            var changed = files
            let names = files.keys.sorted()
            let name = names[Int(random.next() % UInt64(names.count))]
            let index = Int(random.next() % UInt64(files[name]?.count ?? 1))
            changed[name]?[index] = digits[Int(random.next() % UInt64(digits.count))]
            for (name, bytes) in changed { try Data(bytes).write(to: URL(filePath: folder + "/" + name)) }
            do throws(IMDFError) {
                let venue = try IMDFImporter().read(folder).venue
                // What is accepted can be written: nothing that a packet refuses gets through.
                XCTAssertNoThrow(try VenuePacketWriter().document(of: venue))
            } catch {
                XCTAssertFalse(error.problems.isEmpty)
                refused += 1
            }
        }
        XCTAssertGreaterThan(refused, 0)
        XCTAssertLessThan(refused, 60)
    }
}
