import FoundationEssentials
import Glibc
import IndoorLocalization
import VenuePackets
import XCTest

/// An image of a plan above the limit: a sparse file, which needs no disk space.
final class PlanSizeTests: XCTestCase {
    private static let size = 536_870_913

    /// Returns a packet's folder with a plan that is one byte too long.
    private func packet() throws -> String {
        let folder = try temporaryFolder()
        let map = VenueMap(id: 1, name: "G", level: 0, width: 10, height: 10, imagePath: "ground.png")
        try VenuePacketWriter().write(Venue(id: 1, name: "Long", maps: [map]), toFolder: folder)
        try Data([0x89, 0x50, 0x4E, 0x47]).write(to: URL(filePath: folder + "/ground.png"))
        XCTAssertEqual(truncate(folder + "/ground.png", off_t(Self.size)), 0)
        return folder
    }

    private func assertRefused(_ words: String, line: UInt = #line, _ body: () throws -> Void) {
        XCTAssertThrowsError(try body(), line: line) { error in
            XCTAssertTrue("\(error)".contains("has \(Self.size) bytes, \(words)"), "\(error)", line: line)
        }
    }

    func testAPlanAboveTheLimitIsNotRead() async throws {
        let folder = try packet()
        let packet = try VenuePacketReader().read(folder)
        let map = try XCTUnwrap(packet.venue.maps.first)
        let limit = "more than the limit of 536870912 bytes"
        assertRefused(limit) { _ = try PlanFiles(packet).image(of: map) }
        assertRefused(limit) {
            let scale = try PlanScale(from: PixelPoint(x: 0, y: 0), to: PixelPoint(x: 10, y: 0), meters: 1)
            _ = try PlanDrawing(readingImage: folder + "/ground.png", scale: scale)
        }
        do {
            _ = try await LocalImageReader().image(at: folder + "/ground.png") { _ in }
            XCTFail("the image was read")
        } catch {
            XCTAssertTrue("\(error)".contains("has \(Self.size) bytes, more than a plan image may have"), "\(error)")
        }
    }

    func testAPlanAboveTheLimitIsNotCopiedOrPacked() throws {
        let folder = try packet()
        let target = try temporaryFolder()
        let packet = try VenuePacketReader().read(folder)
        assertRefused("more than a plan image may have") {
            try packet.copyPlans(of: packet.venue, toFolder: target)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: target), [])
        assertRefused("more than the limit of 536870912 bytes") {
            try VenuePacketWriter().pack(folder: folder, toZip: target + "/packet.zip")
        }
    }
}
