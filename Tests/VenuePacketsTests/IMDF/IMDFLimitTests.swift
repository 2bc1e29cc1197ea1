import FoundationEssentials
import Glibc
import IndoorLocalization
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
