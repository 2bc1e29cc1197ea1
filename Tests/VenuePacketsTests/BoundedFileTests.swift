import FoundationEssentials
import Glibc
import IndoorLocalization
import VenuePackets
import XCTest

/// Files that are too long are refused by their size: a sparse file of 4 GB needs no disk space, but would need memory.
final class BoundedFileTests: XCTestCase {
    private func sparse(_ name: String) throws -> String {
        let path = try temporaryFolder() + "/" + name
        try Data().write(to: URL(filePath: path))
        XCTAssertEqual(truncate(path, 4 << 30), 0)
        return path
    }

    func testAFileIsReadUpToItsLimit() throws {
        let path = try temporaryFolder() + "/file"
        let bytes = [UInt8](repeating: 7, count: 300_000)
        try Data(bytes).write(to: URL(filePath: path))
        XCTAssertEqual(try BoundedFile.read(path, limit: 300_000), bytes)
        XCTAssertThrowsError(try BoundedFile.read(path, limit: 299_999)) { error in
            XCTAssertEqual(error as? BoundedFileError, .tooLong(bytes: 300_000, limit: 299_999))
        }
        XCTAssertThrowsError(try BoundedFile.read(path + ".missing", limit: 1)) { error in
            XCTAssertEqual(error as? BoundedFileError, .unreadable("No such file or directory"))
        }
    }

    func testAnEndlessDeviceIsReadUpToTheLimit() {
        XCTAssertThrowsError(try BoundedFile.read("/dev/zero", limit: 1_000_000)) { error in
            XCTAssertEqual(error as? BoundedFileError, .tooLong(bytes: nil, limit: 1_000_000))
        }
    }

    func testEveryReaderChecksTheSizeBeforeReading() throws {
        let venue = try sparse("venue.json")
        XCTAssertThrowsError(try VenuePacketReader().read(venue)) { error in
            XCTAssertTrue("\(error)".contains("has 4294967296 bytes, more than the limit of 16777216"), "\(error)")
        }
        let file = try sparse("file.json")
        let before = Self.peak
        XCTAssertThrowsError(try RadioMapFile.read(file))
        XCTAssertThrowsError(try RoomTrainingFile.read(file))
        XCTAssertThrowsError(try GeofenceFile.read(file))
        XCTAssertThrowsError(try SettingsFile(path: file))
        // Each of them alone would add 4,000,000 KiB.
        XCTAssertLessThan(Self.peak - before, 1_000_000)
    }

    /// The most memory of this process up to here, in KiB.
    private static var peak: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }
}
