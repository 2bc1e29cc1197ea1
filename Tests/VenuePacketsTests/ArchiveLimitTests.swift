import FoundationEssentials
import IndoorLocalization
import XCTest

@testable import VenuePackets

/// The size of everything that is unpacked from a zip.
final class ArchiveLimitTests: XCTestCase {
    private let wanted: Set = ["one", "two"]

    private func archive(unpacked limit: Int) throws -> PacketArchive {
        var limits = InputLimits()
        limits.unpacked = limit
        return try PacketArchive(
            path: makeZip([("venue.json", "{}"), ("one", "12345"), ("two", "123456")]), limits: limits)
    }

    func testTheUnpackedFilesTogetherAreLimited() throws {
        let whole = try temporaryFolder()
        try archive(unpacked: 11).unpack(wanted, into: whole)
        XCTAssertEqual(Set(try FileManager.default.contentsOfDirectory(atPath: whole)), wanted)
        let part = try temporaryFolder()
        XCTAssertThrowsError(try archive(unpacked: 10).unpack(wanted, into: part)) { error in
            XCTAssertEqual(
                (error as? PacketFileError)?.message, "the zip unpacks to more than the limit of 10 bytes")
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: part), ["one"], "no part of a file stays")
    }

    func testFilesThatWereUnpackedBeforeCount() throws {
        XCTAssertNoThrow(
            try archive(unpacked: 11).unpack(["two"], into: temporaryFolder(), unpackedBefore: 5))
        XCTAssertThrowsError(
            try archive(unpacked: 11).unpack(["two"], into: temporaryFolder(), unpackedBefore: 6))
    }
}
