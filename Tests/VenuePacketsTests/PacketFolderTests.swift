import CFolders
import FoundationEssentials
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

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
