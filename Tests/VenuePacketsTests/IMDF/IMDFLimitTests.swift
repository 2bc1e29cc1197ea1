import FoundationEssentials
import Glibc
import IndoorLocalization
import Synchronization
import VenuePackets
import XCTest

/// The sizes of the files of an IMDF archive and the number of their features.
final class IMDFLimitTests: XCTestCase {
    private func problems(_ change: (String) throws -> Void) throws -> [String] {
        var archive = ArchiveUnderTest()
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        let folder = try temporaryFolder()
        try write(archive.files, to: folder)
        try change(folder)
        do throws(IMDFError) {
            _ = try IMDFImporter().read(folder)
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
