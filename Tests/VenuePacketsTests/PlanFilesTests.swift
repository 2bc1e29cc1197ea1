import FoundationEssentials
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// The images and tiles of plans in a packet.
final class PlanFilesTests: XCTestCase {
    /// The packet of the office as a folder and as a zip.
    private func packets() throws -> [VenuePacket] {
        let folder = try FixtureFolder("office").path
        let zip = try temporaryFolder() + "/office.zip"
        try VenuePacketWriter().pack(folder: folder, toZip: zip)
        return try [folder, zip].map { try VenuePacketReader().read($0) }
    }

    private func ground(_ packet: VenuePacket) throws -> VenueMap { try XCTUnwrap(packet.venue.map(1)) }

    func testTheImageOfAPlanIsReadFromAFolderAndFromAZip() throws {
        let file = try Data(contentsOf: URL(filePath: FixtureFolder("office").path + "/plans/ground.png"))
        for packet in try packets() {
            let image = try XCTUnwrap(PlanFiles(packet).image(of: ground(packet)))
            XCTAssertEqual(image.bytes, Array(file), "\(packet.storage)")
            XCTAssertEqual(image.mediaType, "image/png")
        }
        let local = try packets()[0].localVenue()
        XCTAssertEqual(try PlanFiles().image(of: XCTUnwrap(local.map(1)))?.bytes, Array(file), "at its absolute path")
    }

    func testTheTilesOfAPlanAreReadFromAFolderAndFromAZip() throws {
        for packet in try packets() {
            let tiles = try XCTUnwrap(PlanFiles(packet).tiles(of: ground(packet)))
            XCTAssertEqual([tiles.width, tiles.height, tiles.tileSize], [1080, 600, 256], "\(packet.storage)")
            XCTAssertEqual(tiles.format, "png")
            // 1080 × 600 pixels are five columns and three rows of the eleventh level.
            for (column, row) in [(0, 0), (4, 2)] {
                let tile = try XCTUnwrap(tiles.tile(level: 11, column: column, row: row))
                XCTAssertEqual(tile.mediaType, "image/png")
                XCTAssertEqual(Array(tile.bytes.prefix(4)), [0x89, 0x50, 0x4E, 0x47])
            }
            XCTAssertNotEqual(tiles.tile(level: 11, column: 0, row: 0), tiles.tile(level: 11, column: 1, row: 0))
            XCTAssertNotNil(tiles.tile(level: 0, column: 0, row: 0))
            for (level, column, row) in [(11, 5, 0), (11, 0, 3), (12, 0, 0), (-1, 0, 0)] {
                XCTAssertNil(tiles.tile(level: level, column: column, row: row))
            }
        }
    }

    func testAMapWithoutFilesHasNeitherImageNorTiles() throws {
        let map = VenueMap(id: 1, name: "bare", level: 0, width: 1, height: 1)
        XCTAssertNil(try PlanFiles().image(of: map))
        XCTAssertNil(try PlanFiles().tiles(of: map))
    }

    private func map(tiles: String, _ size: (Int, Int)) -> VenueMap {
        VenueMap(
            id: 1, name: "tiled", level: 0, width: 1, height: 1, widthPixels: size.0, heightPixels: size.1,
            tilesPath: tiles)
    }

    func testAPlanThatOneTileCoversHasTilesOfItsSize() throws {
        let zip = try makeZip([("7/0/0.webp", "x"), ("6/0/0.webp", "y")])
        let tiles = try XCTUnwrap(PlanFiles().tiles(of: map(tiles: zip, (100, 60))))
        XCTAssertEqual([tiles.tileSize, tiles.width], [100, 100])
        XCTAssertEqual(tiles.format, "webp")
    }

    /// A JPEG of 300 by 200 pixels up to its frame header, behind a segment of another kind.
    func testTheSizeOfAJPEGTileIsReadFromItsFrameHeader() throws {
        let bytes: [UInt8] = [
            0xFF, 0xD8, 0xFF, 0x60, 0, 4, 0, 0, 0xFF, 0x40, 0, 11, 8, 0, 100, 0, 120, 3, 0, 0, 0, 0,
        ].enumerated().map { index, byte in index == 3 ? 0xE0 : index == 9 ? 0xC0 : byte }
        let folder = try temporaryFolder()
        for (column, name) in ["tile", "next"].enumerated() {
            let path = folder + "/zip/10/\(column)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(bytes + Array(name.utf8)).write(to: URL(filePath: path + "/0.jpg"))
        }
        // The writer packs the folder of a venue only.
        let venue = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 7, "name": "Kiosk", "version": 1,
             "maps": [{"id": 1, "name": "a", "level": 0, "widthMeters": 20, "heightMeters": 10}], "beacons": []}
            """
        try write(["venue.json": venue], to: folder + "/zip")
        try VenuePacketWriter().pack(folder: folder + "/zip", toZip: folder + "/tiles.zip")
        let tiles = try XCTUnwrap(PlanFiles().tiles(of: map(tiles: folder + "/tiles.zip", (600, 100))))
        XCTAssertEqual(tiles.tileSize, 120)
        XCTAssertEqual(tiles.tile(level: 10, column: 1, row: 0)?.mediaType, "image/jpeg")
    }

    func testFilesThatAreNoTilesAreAnErrorWithTheirName() throws {
        let folder = try temporaryFolder()
        try write(["plan.zip": "no zip"], to: folder)
        let problems = [
            (folder + "/plan.zip", "plan.zip"), (folder + "/absent.zip", "absent.zip"),
            (try makeZip([("0/0/0.png", "x")]), "7/0/0"),
            (try makeZip([("7/0/0.png", "x"), ("7/1/0.png", "x")]), "PNG"),
        ]
        for (path, text) in problems {
            XCTAssertThrowsError(try PlanFiles().tiles(of: map(tiles: path, (100, 60)))) { error in
                XCTAssertTrue("\(error)".contains(text), "\(error)")
            }
        }
        XCTAssertThrowsError(
            try PlanFiles().image(
                of: VenueMap(id: 1, name: "", level: 0, width: 1, height: 1, imagePath: "/nowhere.png")))
    }
}

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

/// The images of floor plans, read from this machine.
final class LocalImageReaderTests: XCTestCase {
    private func plan(_ path: String?) -> FloorPlan {
        FloorPlan(
            venueID: 1, map: VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30, imagePath: path))
    }

    func testAnImageIsReadPieceByPieceWithProgress() async throws {
        let folder = try temporaryFolder()
        let image = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try Data(image).write(to: URL(filePath: folder + "/ground.png"))
        let fetch = plan(folder + "/ground.png").fetchImage(with: LocalImageReader())
        let progress = fetch.progress
        let bytes = try await fetch.value
        XCTAssertEqual(bytes, image)
        var fractions: [Double] = []
        for await fraction in progress { fractions.append(fraction) }
        XCTAssertEqual(fractions.last, 1)
        XCTAssertEqual(fractions, fractions.sorted())
    }

    func testTheErrorOfAMissingImageNamesIt() async throws {
        let folder = try temporaryFolder()
        let fetch = plan(folder + "/none.png").fetchImage(with: LocalImageReader())
        do {
            _ = try await fetch.value
            XCTFail("there is no such file")
        } catch {
            guard case .failed(let failure) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(failure.message.contains("none.png"), failure.message)
        }
    }
}
