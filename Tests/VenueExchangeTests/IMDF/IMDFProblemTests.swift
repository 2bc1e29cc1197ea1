import FoundationEssentials
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import TemporaryFiles
import VenueExchange
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
        XCTAssertThrowsError(try IMDFImporter(isStrict: true).read(zip)) { error in
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

/// The sizes of the files of an IMDF archive and the number of their features.
final class IMDFLimitTests: XCTestCase {
    private func problems(_ change: (String) throws -> Void) throws -> [String] {
        var archive = ArchiveUnderTest()
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        let folder = try temporaryFolder()
        try write(archive.files, to: folder)
        try change(folder)
        do throws(IMDFError) {
            _ = try IMDFImporter(isStrict: true).read(folder)
            return []
        } catch { return error.problems.map(\.description) }
    }

    /// Writes a sparse file, which needs no disk space.
    private func sparse(_ path: String, _ size: Int) throws {
        try Data().write(to: URL(filePath: path))
        XCTAssertEqual(truncate(path, off_t(size)), 0)
    }

    func testAFileAboveTheLimitIsRefused() throws {
        XCTAssertEqual(
            try problems { try sparse($0 + "/fixture.geojson", (32 << 20) + 1) },
            ["fixture.geojson: $: fixture.geojson has 33554433 bytes, more than the limit of 33554432 bytes"])
    }

    func testAllFilesTogetherAreLimited() throws {
        // Each of them is below the limit of a file, and is no JSON.
        let names = ["amenity", "anchor", "fixture"]
        let problems = try problems { folder in
            for name in names { try sparse("\(folder)/\(name).geojson", 31 << 20) }
        }
        XCTAssertEqual(problems.count, 3, "\(problems)")
        XCTAssertEqual(problems.count { $0.contains("is not JSON") }, 2, "\(problems)")
        XCTAssertEqual(problems.count { $0.contains("has 32505856 bytes, more than the limit of") }, 1, "\(problems)")
    }

    /// Imports an archive, and returns the steps of work.
    private func steps(
        _ archive: ArchiveUnderTest, mostSteps: Int = 150_000_000
    ) throws -> (imported: IMDFImport?, steps: Int, problems: [String]) {
        let folder = try temporaryFolder()
        try write(archive.files, to: folder)
        let steps = Mutex(0)
        let importer = IMDFImporter(mostSteps: mostSteps) { count in steps.withLock { $0 = count } }
        do throws(IMDFError) {
            let imported = try importer.read(folder)
            return (imported, steps.withLock { $0 }, [])
        } catch { return (nil, steps.withLock { $0 }, error.problems.map(\.description)) }
    }

    /// A star whose edges all cross each other has as many walls as crossings.
    func testAnOutlineThatCrossesItselfOftenIsLeftOut() throws {
        var archive = ArchiveUnderTest()
        let star = (0..<1_001).map { index -> (Double, Double) in
            let angle = Double(index * 500) / 1_001 * 2 * .pi
            return (15 + 10 * cos(angle), 15 + 10 * sin(angle))
        }
        archive.unit("star", "walkway", star)
        archive.unit("plain", "walkway", ArchiveUnderTest.box(0, 0, 5, 5))
        let (imported, steps, _) = try steps(archive)
        let remarks = try XCTUnwrap(imported).report.remarks.filter { $0.id == "star" && $0.outcome == .leftOut }
        XCTAssertEqual(remarks.count { $0.reason.contains("crosses itself more than 100 times") }, 1, "\(remarks)")
        XCTAssertEqual(imported?.venue.rooms.map(\.name), ["walkway"])
        XCTAssertLessThan(steps, 10_000)
    }

    func testAnOutlineThatCrossesItselfOnceIsKept() throws {
        var archive = ArchiveUnderTest()
        archive.unit("bow", "walkway", [(0, 0), (10, 10), (10, 0), (0, 10)])
        let imported = try XCTUnwrap(try steps(archive).imported)
        XCTAssertFalse(try XCTUnwrap(imported.venue.maps.first).walkable.isEmpty)
    }

    /// A saw without a crossing, whose long teeth all are beside each of the corners of a strip.
    func testOutlinesThatLieTooCloseTogetherAreRefused() throws {
        var archive = ArchiveUnderTest()
        var saw: [(Double, Double)] = []
        for tooth in 0..<1_000 {
            let y: Double = tooth % 2 == 0 ? 0 : 29
            saw.append((Double(tooth) * 0.0002, y))
        }
        saw.append((0.5, 0))
        var strip: [(Double, Double)] = []
        for corner in 0..<4_000 {
            let x: Double = corner % 2 == 0 ? 0.1 : 0.11
            strip.append((x, 1 + Double(corner) * 0.005))
        }
        strip.append((0.3, 10))
        archive.unit("saw", "walkway", saw)
        archive.unit("strip", "walkway", strip)
        let (_, steps, problems) = try steps(archive, mostSteps: 2_000_000)
        XCTAssertEqual(problems.count, 1, "\(problems)")
        XCTAssertTrue(problems.first?.contains("lie too close together") ?? false, "\(problems)")
        XCTAssertTrue(problems.first?.contains("up to s") ?? false, "\(problems)")
        XCTAssertLessThan(steps, 6_000_000)
    }

    /// A floor of 36 rooms with doors to a corridor each. Without indexes, it took some hundred million steps.
    func testAFloorOfRoomsTakesLittleWork() throws {
        var archive = ArchiveUnderTest(side: 72)
        for row in 0..<6 {
            for column in 0..<6 {
                let (x, y) = (Double(column) * 12, Double(row) * 12)
                let name = "r\(row)-\(column)"
                archive.unit(name, "room", ArchiveUnderTest.box(x, y, x + 12, y + 9))
                archive.unit("w" + name, "walkway", ArchiveUnderTest.box(x, y + 9, x + 12, y + 12))
                archive.opening("o" + name, (x + 5, y + 9), (x + 6, y + 9))
            }
        }
        let result = try steps(archive)
        XCTAssertEqual(result.problems, [])
        XCTAssertLessThan(result.steps, 1_500_000)
    }

    func testAFileWithTooManyFeaturesIsRefused() throws {
        func features(_ count: Int) throws -> [String] {
            let list = Array(repeating: "{}", count: count).joined(separator: ",")
            return try problems { folder in
                try write(
                    ["fixture.geojson": #"{"type": "FeatureCollection", "features": [\#(list)]}"#], to: folder)
            }
        }
        let limit = "more than the limit of 50000"
        XCTAssertEqual(
            try features(50_001), ["fixture.geojson: $.features: has 50001 features, \(limit)"])
        XCTAssertFalse(try features(50_000).contains { $0.contains(limit) })
    }
}
