import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

final class PacketZipTests: XCTestCase {
    private let document = """
        {"format": "indoor-localization-venue", "formatVersion": 1, "id": 7, "name": "Kiosk", "version": 1,
         "maps": [{"id": 1, "name": "a", "level": 0, "widthMeters": 20, "heightMeters": 10, "image": "plän.svg"}],
         "beacons": []}
        """

    func testAPackedFolderIsReadLikeTheFolder() throws {
        let folder = try FixtureFolder("packets/accepted/every-field").path
        let zip = try temporaryFolder() + "/packet.zip"
        try VenuePacketWriter().pack(folder: folder, toZip: zip)
        let packet = try VenuePacketReader().read(zip)
        XCTAssertEqual(packet.venue, try VenuePacketReader().read(folder).venue)
        XCTAssertEqual(packet.storage, .zip(zip))
    }

    func testTheSameFolderGivesAnIdenticalZip() throws {
        let folder = try temporaryFolder()
        for copy in ["a", "b"] {
            try write(["\(copy)/venue.json": document, "\(copy)/plän.svg": "x", "\(copy)/.hidden": copy], to: folder)
            try VenuePacketWriter().pack(folder: "\(folder)/\(copy)", toZip: "\(folder)/\(copy).zip")
        }
        let first = try Data(contentsOf: URL(filePath: folder + "/a.zip"))
        XCTAssertEqual(first, try Data(contentsOf: URL(filePath: folder + "/b.zip")))
        XCTAssertFalse(first.isEmpty)
    }

    func testPackingAgainReplacesTheZip() throws {
        let folder = try temporaryFolder()
        try write(["a/venue.json": document, "a/plän.svg": "x", "a.zip": "an old file"], to: folder)
        try VenuePacketWriter().pack(folder: folder + "/a", toZip: folder + "/a.zip")
        XCTAssertEqual(try VenuePacketReader().read(folder + "/a.zip").venue.id, 7)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder).sorted(), ["a", "a.zip"])
    }

    func testAZipWithOneTopFolderIsReadLikeTheFolder() throws {
        let zip = try makeZip([
            ("Kiosk/venue.json", document), ("Kiosk/plän.svg", "x"), ("__MACOSX/Kiosk/._venue.json", "x"),
        ])
        XCTAssertEqual(try VenuePacketReader().read(zip).venue.name, "Kiosk")
    }

    func testAZipThatNamesItsFilesBelowADotIsRead() throws {
        let zip = try makeZip([("./venue.json", document), ("./plän.svg", "x")])
        XCTAssertEqual(try VenuePacketReader().read(zip).venue.name, "Kiosk")
    }

    func testAZipWithChangedBytesNeverTraps() throws {
        let seed: UInt64 = 2_107
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let zip = try makeZip([("venue.json", document), ("plän.svg", "x")])
        let bytes = try Data(contentsOf: URL(filePath: zip))
        for round in 0..<300 {
            var changed = bytes
            for _ in 0...round % 3 {
                changed[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try changed.write(to: URL(filePath: zip))
            let problems = VenuePacketReader().check(zip)
            if !problems.contains(where: { $0.severity == .error }) {
                // The document has no beacons, which only the check reports.
                let warnings = problems.filter { $0.path != "$.beacons" }
                XCTAssertEqual(
                    try VenuePacketReader().read(zip).warnings.filter { $0.path != "$.beacons" }, warnings,
                    "round \(round), seed \(seed)")
            }
        }
    }

    func testAZipWithTwoTopFoldersIsRefused() throws {
        let zip = try makeZip([("a/venue.json", document), ("b/venue.json", document)])
        XCTAssertEqual(VenuePacketReader().check(zip).map(\.path), ["$"])
    }

    func testAFileMissingInAZipIsAProblem() throws {
        let zip = try makeZip([("venue.json", document)])
        XCTAssertEqual(VenuePacketReader().check(zip).map(\.path), ["$.maps[0].image"])
    }

    func testAZipWhoseEntryLeavesThePacketIsRefused() throws {
        for name in ["../venue.json", "/etc/venue", "a/../../b", "a\\..\\b", "a/./x", "./../x"] {
            let zip = try makeZip([("venue.json", document), ("plän.svg", "x"), (name, "x")])
            let problems = VenuePacketReader().check(zip)
            XCTAssertEqual(problems.map(\.path), ["$"], name)
            XCTAssertTrue(problems.first?.message.contains("leaves the packet") ?? false, "\(name): \(problems)")
        }
    }

    func testAZipWithTwoEntriesOfOneNameIsRefused() throws {
        let zip = try makeZip([("venue.json", document), ("plän.svg", "x"), ("venue.json", "{}")])
        XCTAssertEqual(VenuePacketReader().check(zip).map(\.path), ["$"])
    }

    func testAZipBombIsRefused() throws {
        // 64 MiB of blanks, 65 kB packed, in front of the document.
        let bomb = String(repeating: " ", count: 64 << 20) + document
        let zip = try makeZip([("venue.json", bomb)])
        let size = try Data(contentsOf: URL(filePath: zip)).count
        XCTAssertLessThan(size, 100_000)
        let problems = VenuePacketReader().check(zip)
        XCTAssertTrue(problems.first?.message.contains("unpacks to more than") ?? false, "\(problems)")
    }

    func testAZipWithTooManyFilesIsRefused() throws {
        let zip = try makeZip([("venue.json", document)] + (0...10_000).map { ("\($0)", "") })
        XCTAssertTrue(VenuePacketReader().check(zip).first?.message.contains("more than 10000 files") ?? false)
    }

    func testATruncatedZipNeverTraps() throws {
        let zip = try makeZip([("venue.json", document), ("plän.svg", "x")])
        let bytes = try Data(contentsOf: URL(filePath: zip))
        for count in stride(from: 0, to: bytes.count, by: 7) {
            try bytes.prefix(count).write(to: URL(filePath: zip))
            let problems = VenuePacketReader().check(zip)
            XCTAssertTrue(problems.contains { $0.severity == .error }, "\(count) of \(bytes.count) bytes")
        }
    }

    func testALocalVenueOfAZipHasItsFilesUnpacked() throws {
        let zip = try makeZip([("Kiosk/venue.json", document), ("Kiosk/plän.svg", "content"), ("Kiosk/other", "x")])
        let folder = try temporaryFolder()
        let map = try VenuePacketReader().read(zip).localVenue(unpackingInto: folder).maps[0]
        XCTAssertEqual(map.imagePath, folder + "/7-1/plän.svg")
        XCTAssertEqual(try String(contentsOfFile: map.imagePath ?? "", encoding: .utf8), "content")
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder + "/7-1"), ["plän.svg"])
    }

    func testALocalVenueOfAZipWithoutAnUnpackingFolderHasNoPaths() throws {
        let zip = try makeZip([("venue.json", document), ("plän.svg", "content")])
        XCTAssertNil(try VenuePacketReader().read(zip).localVenue().maps[0].imagePath)
    }

    func testALocalVenueOfAFolderHasAbsolutePaths() throws {
        let folder = try FixtureFolder("packets/accepted/every-field").path
        let map = try VenuePacketReader().read(folder + "/venue.json").localVenue().maps[0]
        XCTAssertEqual(map.tilesPath, folder + "/tiles/ground.zip")
        XCTAssertTrue(FileManager.default.fileExists(atPath: map.tilesPath ?? ""))
    }

    /// libarchive reads the directory before it gives the first entry, some 200 bytes of memory for each of these.
    func testAZipWithALargeDirectoryIsRefused() throws {
        let name = String(repeating: "n", count: 180)
        let zip = try makeZip([("venue.json", document)] + (0..<20_000).map { ("\(name)\($0)", "") })
        let problems = VenuePacketReader().check(zip)
        XCTAssertEqual(problems.count, 1)
        XCTAssertTrue(
            problems.first?.message.contains("has a directory larger than the limit of 4194304 bytes") ?? false)
    }

    func testAZipWithATooLargeCompressionRatioIsRefused() throws {
        let zeros = String(repeating: "0,", count: 10_000_000)
        let map = #"{"format":"indoor-localization-radio-map","version":1,"x":[\#(zeros)0]}"#
        let document = document.replacing("\"id\": 7,", with: "\"id\": 7, \"radioMap\": \"map.json\",")
        let zip = try makeZip([("venue.json", document), ("plän.svg", "x"), ("map.json", map)])
        let problems = VenuePacketReader().check(zip).filter { $0.path == "$.radioMap" }
        XCTAssertTrue(
            problems.first?.message.contains("unpacks to more than the limit of 16777216 bytes") ?? false, "\(problems)"
        )
    }
}
