import CFolders
import FoundationEssentials
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenueExchange
import XCTest
@testable import VenuePackets

/// Folders of packets into which another user put a link or a pipe.
final class PacketFolderTests: XCTestCase {
    private static let secret = "a file of another user"

    /// A packet of one plan, and a file outside.
    private func packet() throws -> (folder: String, plan: String, outside: String) {
        let root = try temporaryFolder()
        let folder = root + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        try write(["outside/secret.png": Self.secret, "outside/ground.png": Self.secret], to: root)
        return (folder, folder + "/plans/ground.png", root + "/outside")
    }

    private func link(_ path: String, to target: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    /// The problems of a packet, which is neither published nor packed nor copied.
    private func refusal(of folder: String) throws -> String {
        let root = try temporaryFolder()
        XCTAssertThrowsError(try VenuePublisher(folder: root + "/public").publish([folder]))
        XCTAssertThrowsError(try VenuePacketWriter().pack(folder: folder, toZip: root + "/a.zip"))
        let kept = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
        XCTAssertFalse(kept.contains { $0.hasSuffix(".png") || $0.hasSuffix(".zip") }, "\(kept)")
        do throws(VenuePacketError) {
            _ = try VenuePacketReader().read(folder)
            return ""
        } catch { return "\(error)" }
    }

    func testLinksThatLeaveTheFolderAreRefused() throws {
        let (folder, plan, outside) = try packet()
        for target in [outside + "/secret.png", "../../outside/secret.png", "/proc/self/environ"] {
            try link(plan, to: target)
            XCTAssertTrue(try refusal(of: folder).contains("is a symbolic link that leaves the folder"), target)
        }
        try FileManager.default.removeItem(atPath: folder + "/plans")
        try link(folder + "/plans", to: outside)
        XCTAssertTrue(try refusal(of: folder).contains("is a symbolic link that leaves the folder"))
    }

    func testALinkWithinTheFolderIsRead() throws {
        let (folder, plan, _) = try packet()
        try FileManager.default.moveItem(atPath: plan, toPath: folder + "/plans/1.png")
        try link(plan, to: "1.png")
        XCTAssertNoThrow(try VenuePacketReader().read(folder))
    }

    func testPipesAndFoldersInPlaceOfFilesAreRefusedAtOnce() throws {
        let (folder, plan, _) = try packet()
        unlink(plan)
        XCTAssertEqual(mkfifo(plan, 0o600), 0)
        XCTAssertTrue(try refusal(of: folder).contains("is not a regular file"))
        unlink(plan)
        XCTAssertEqual(mkdir(plan, 0o700), 0)
        XCTAssertTrue(try refusal(of: folder).contains("is not a regular file"))
    }

    /// A venue isn't private: the umask decides who may read its plans.
    func testCopiedPlansFollowTheUmask() throws {
        let before = umask(0o027)
        defer { umask(before) }
        let (folder, _, _) = try packet()
        let zip = try temporaryFolder() + "/office.zip"
        try VenuePacketWriter().pack(folder: folder, toZip: zip)
        for source in [folder, zip] {
            let packet = try VenuePacketReader().read(source)
            let target = try temporaryFolder() + "/copy"
            try packet.copyPlans(of: packet.venue, toFolder: target)
            for (name, mode) in [("", 0o750), ("/plans", 0o750), ("/plans/ground.png", 0o640)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: target + name)
                XCTAssertEqual(attributes[.posixPermissions] as? Int, mode, "\(source) \(name)")
            }
        }
    }

    func testImagesOfInteractionsAreCopiedAndHaveAbsolutePaths() throws {
        let (folder, _, _) = try packet()
        var venue = try VenuePacketReader().read(folder).venue
        let room = try XCTUnwrap(venue.rooms.first)
        let images = [
            "pictures/cup.jpg", "missing.jpg", "https://example.org/a.jpg", "file:///etc/a.jpg", "FILE:/etc/a.jpg",
        ]
        let contents = images.enumerated().map { index, image in
            Interaction.Content(id: index, text: "text", image: image)
        }
        venue.interactions = [Interaction(id: 1, name: "Cup", target: .room(room.id), contents: contents)]
        try VenuePacketWriter().write(venue, toFolder: folder)
        try write(["pictures/cup.jpg": "a cup"], to: folder)
        let zip = try temporaryFolder() + "/office.zip"
        try VenuePacketWriter().pack(folder: folder, toZip: zip)
        for source in [folder, zip] {
            let packet = try VenuePacketReader().read(source)
            let target = try temporaryFolder() + "/copy"
            try packet.copyPlans(of: packet.venue, toFolder: target)
            XCTAssertEqual(try String(contentsOfFile: target + "/pictures/cup.jpg", encoding: .utf8), "a cup", source)
            let local = try packet.localVenue(unpackingInto: temporaryFolder()).interactions[0].contents.map(\.image)
            let cup = try XCTUnwrap(local[0])
            XCTAssertTrue(cup.hasPrefix("/"), cup)
            XCTAssertEqual(try String(contentsOfFile: cup, encoding: .utf8), "a cup", source)
            XCTAssertEqual(local[1...], ["missing.jpg", "https://example.org/a.jpg", nil, nil])
        }
        XCTAssertEqual(
            try VenuePacketReader().read(zip).localVenue().interactions[0].contents.map(\.image),
            ["pictures/cup.jpg", "missing.jpg", "https://example.org/a.jpg", nil, nil])
    }

    /// A plan that is exchanged after the packet was checked.
    func testPlansAreOpenedBelowTheFolder() throws {
        let (folder, plan, outside) = try packet()
        let packet = try VenuePacketReader().read(folder)
        let map = try XCTUnwrap(packet.venue.map(1))
        let local = try XCTUnwrap(packet.localVenue().map(1))
        try link(plan, to: outside + "/secret.png")
        try link(folder + "/" + XCTUnwrap(map.tilesPath), to: outside + "/secret.png")
        let files = PlanFiles(packet)
        XCTAssertThrowsError(try files.image(of: map))
        XCTAssertThrowsError(try files.tiles(of: map))
        XCTAssertThrowsError(try packet.copyPlans(of: packet.venue, toFolder: temporaryFolder()))
        unlink(plan)
        XCTAssertEqual(mkfifo(plan, 0o600), 0)
        XCTAssertThrowsError(try files.image(of: map))
        XCTAssertThrowsError(try PlanFiles().image(of: local))
    }

    func testADocumentThatIsALinkOrAPipeIsRefused() throws {
        let (folder, _, outside) = try packet()
        let document = folder + "/venue.json"
        try FileManager.default.moveItem(atPath: document, toPath: outside + "/venue.json")
        try link(document, to: outside + "/venue.json")
        XCTAssertTrue(try refusal(of: folder).contains("venue.json is a symbolic link that leaves the folder"))
        unlink(document)
        XCTAssertEqual(mkfifo(document, 0o600), 0)
        XCTAssertTrue(try refusal(of: folder).contains("venue.json is not a regular file"))
    }

    /// As kernels before Linux 5.6 do.
    func testWithoutOpenat2NoLinkIsFollowed() throws {
        let (folder, plan, outside) = try packet()
        try link(folder + "/inner.png", to: "plans/ground.png")
        try link(folder + "/outer", to: outside)
        let root = open(folder, O_RDONLY | O_DIRECTORY)
        defer { close(root) }
        func outcome(_ path: String, _ flags: Int32 = O_RDONLY) -> Int32 {
            let file = cfolders_open_stepwise(root, path, flags)
            guard file < 0 else {
                close(file)
                return 0
            }
            return errno
        }
        for flags in [O_RDONLY, cfolders_path] {
            XCTAssertEqual(outcome("plans/ground.png", flags), 0)
            XCTAssertEqual(outcome("./plans//ground.png", flags), 0)
            XCTAssertEqual(outcome("inner.png", flags), ELOOP)
            XCTAssertEqual(outcome("outer/secret.png", flags), ELOOP)
            XCTAssertEqual(outcome("plans/../../outside/secret.png", flags), EXDEV)
            XCTAssertEqual(outcome(plan, flags), EXDEV)
            XCTAssertEqual(outcome("plans/none.png", flags), ENOENT)
            XCTAssertEqual(outcome("venue.json/none.png", flags), ENOTDIR)
        }
    }
}

/// Writers beside whose target another user put a link.
final class FileDraftTests: XCTestCase {
    func testALinkAtTheNameOfAnUnfinishedZipIsNotFollowed() throws {
        let folder = try temporaryFolder()
        try write(["mine.txt": "mine"], to: folder)
        let zip = folder + "/office.zip"
        for name in ["/office.zip.unfinished", "/office.zip"] {
            try FileManager.default.createSymbolicLink(atPath: folder + name, withDestinationPath: "mine.txt")
        }
        try VenuePacketWriter().pack(folder: try FixtureFolder("office").path, toZip: zip)
        XCTAssertEqual(try String(contentsOf: URL(filePath: folder + "/mine.txt"), encoding: .utf8), "mine")
        XCTAssertNoThrow(try VenuePacketReader().read(zip))
    }

    func testALinkAtTheNameOfAnUnpackedFileIsNotFollowed() throws {
        let folder = try temporaryFolder()
        let zip = folder + "/office.zip"
        try VenuePacketWriter().pack(folder: try FixtureFolder("office").path, toZip: zip)
        let packet = try VenuePacketReader().read(zip)
        try write(["mine.txt": "mine", "out/plans/other.txt": ""], to: folder)
        for name in ["ground.png", "ground.png.unfinished"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/out/plans/" + name, withDestinationPath: folder + "/mine.txt")
        }
        try packet.copyPlans(of: packet.venue, toFolder: folder + "/out")
        XCTAssertEqual(try String(contentsOf: URL(filePath: folder + "/mine.txt"), encoding: .utf8), "mine")
        XCTAssertNoThrow(try PlanFiles(folder: folder + "/out").image(of: XCTUnwrap(packet.venue.map(1))))
    }
}

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

    func testAChangedBitOfAZipIsAnErrorOrChangesNoFile() throws {
        let zip = try makeZip([("venue.json", document), ("plän.svg", "x")])
        let bytes = try Data(contentsOf: URL(filePath: zip))
        let whole = "\(try VenuePacketReader().read(zip).venue)"
        var damaged = 0
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 4
            try changed.write(to: URL(filePath: zip))
            do {
                let venue = try VenuePacketReader().read(zip).venue
                XCTAssertEqual("\(venue)", whole, "byte \(index)")
            } catch { damaged += 1 }
        }
        XCTAssertGreaterThan(damaged, bytes.count / 2, "the checksum of a file is compared")
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
