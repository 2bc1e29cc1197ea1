import Foundation
import XCTest

/// Commands never destroy their inputs or existing files.
final class OutputFileTests: XCTestCase {
    private let venue = ["--venue", "Fixtures/office"]

    /// Command lines of every command that writes a file, with the output last.
    private func calls(_ folder: String) throws -> [[String]] {
        let walk = try ShortRecording(lines: 60).write(to: folder, as: "walk.jsonl")
        return [
            ["replay"] + venue + ShortDataSet.light + [walk, "--geojson"],
            ["survey"] + venue + ["Fixtures/office/survey/ground-west.jsonl", "-o"],
            ["simulate"] + venue + ["--path", "Fixtures/office/paths/track-upper.json", "-o"],
            ["convert", walk],
            ["venue", "export", "Fixtures/office", "-o"],
            ["venue", "import", "Fixtures/imdf/museum", "-o", folder + "/museum", "--report"],
            ["rooms", "train", "--room", "hall", walk, "-o"],
        ]
    }

    func testAnExistingFileIsKeptUnlessOverwriteIsGiven() throws {
        for (index, call) in try calls(temporaryFolder()).enumerated() {
            let folder = try temporaryFolder()
            let file = folder + "/there-\(index).jsonl"
            let before = Data("precious\n".utf8)
            try before.write(to: URL(filePath: file))
            let refused = try Tool.run(call + [file])
            XCTAssertEqual(refused.status, 1, "\(call)")
            XCTAssertEqual(refused.output, "", "\(call)")
            XCTAssertTrue(refused.errors.contains("\(file) already exists"), refused.errors)
            XCTAssertTrue(refused.errors.contains("--overwrite"), refused.errors)
            XCTAssertEqual(try bytes(file), before, "\(call)")
            let replaced = try Tool.run(call + [file, "--overwrite"])
            XCTAssertEqual(replaced.status, 0, replaced.errors)
            XCTAssertNotEqual(try bytes(file), before, "\(call)")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["there-\(index).jsonl"])
        }
    }

    func testAnOutputThatIsAnInputIsRefusedUnderAnyName() throws {
        for index in try calls(temporaryFolder()).indices {
            let folder = try temporaryFolder()
            let call = try calls(folder)[index]
            let walk = folder + "/walk.jsonl"
            guard call.contains(walk) else { continue }
            let before = try bytes(walk)
            try FileManager.default.createSymbolicLink(atPath: folder + "/symbolic.jsonl", withDestinationPath: walk)
            try FileManager.default.linkItem(atPath: walk, toPath: folder + "/hard.jsonl")
            for name in ["walk.jsonl", "./walk.jsonl", "symbolic.jsonl", "hard.jsonl"] {
                let result = try Tool.run(call + [folder + "/" + name, "--overwrite"])
                XCTAssertEqual(result.status, 1, "\(call) \(name)")
                XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
                XCTAssertEqual(try bytes(walk), before, "\(call) \(name)")
            }
        }
    }

    func testTheDocumentOfAVenueIsRefusedAsOutput() throws {
        let folder = try temporaryFolder() + "/office"
        try FileManager.default.copyItem(
            atPath: Checkout.root().path + "/Fixtures/packets/accepted/smallest", toPath: folder)
        let before = try bytes(folder + "/venue.json")
        let result = try Tool.run(
            ["venue", "export", folder, "-o", folder + "/venue.json", "--overwrite"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
        XCTAssertEqual(try bytes(folder + "/venue.json"), before)
    }

    func testAnArchiveIsNotReplacedByItsPacket() throws {
        let folder = try temporaryFolder()
        let zip = folder + "/museum.zip"
        XCTAssertEqual(try Tool.run(["venue", "import", "Fixtures/imdf/museum", "-o", zip]).status, 0)
        let before = try bytes(zip)
        let result = try Tool.run(["venue", "import", zip, "-o", folder + "/./museum.zip", "--overwrite"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
        XCTAssertEqual(try bytes(zip), before)
    }

    func testReplaysDoNotReplaceTheirTracks() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let tracks = try FileManager.default.contentsOfDirectory(atPath: set + "/tracks").sorted()
        let before = try tracks.map { try bytes(set + "/tracks/" + $0) }
        for option in [[], ["--overwrite"]] {
            let result = try Tool.run(["evaluate", set, "--replays", set + "/tracks"] + option)
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
            XCTAssertEqual(try tracks.map { try bytes(set + "/tracks/" + $0) }, before)
        }
    }

    func testAFailedCommandLeavesTheExistingFile() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines[40] = "{"
        let broken = try recording.write(to: folder)
        let file = folder + "/there.jsonl"
        let before = Data("precious\n".utf8)
        try before.write(to: URL(filePath: file))
        let result = try Tool.run(["convert", broken, file, "--overwrite"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(try bytes(file), before)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted(), ["short.jsonl", "there.jsonl"])
    }

    func testTheTargetOfASymbolicLinkIsReplacedAndKeepsItsMode() throws {
        let folder = try temporaryFolder()
        let (file, link) = (folder + "/there.geojson", folder + "/link.geojson")
        XCTAssertTrue(
            FileManager.default.createFile(
                atPath: file, contents: Data("x".utf8), attributes: [.posixPermissions: 0o640]))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        let result = try Tool.run(["venue", "export", "Fixtures/office", "-o", link, "--overwrite"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(try FileManager.default.destinationOfSymbolicLink(atPath: link), file)
        XCTAssertTrue(try bytes(file).starts(with: Data("{\"type\"".utf8)))
        XCTAssertEqual(try mode(file), 0o640)
    }

    func testFilesWithLocationsAreReadableByTheOwnerOnly() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 60).write(to: folder)
        for (call, name) in [
            (["replay"] + venue + ShortDataSet.light + [walk, "--geojson"], "track.geojson"),
            (["simulate"] + venue + ["--path", "Fixtures/office/paths/track-upper.json", "-o"], "walk.jsonl.gz"),
            (["convert", walk], "walk.btsnoop"),
        ] {
            XCTAssertEqual(try Tool.run(call + [folder + "/" + name]).status, 0, name)
            XCTAssertEqual(try mode(folder + "/" + name), 0o600, name)
        }
    }

    func testCommandsWriteToDevicesAndPipes() throws {
        let export = ["venue", "export", "Fixtures/office", "-o"]
        XCTAssertEqual(try Tool.run(export + ["/dev/null"]).status, 0)
        let result = try Tool.run(export + ["/dev/stdout"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.hasPrefix("{\"type\":\"FeatureCollection\""))
        // A file as standard output already exists, as the shell creates it.
        let folder = try temporaryFolder()
        let words = ["-c", "\"$@\" -o /dev/stdout > \(folder)/out.geojson", "bash", try Tool.path()]
        let redirected = try Tool.run(words + export.dropLast(), program: "/bin/bash")
        XCTAssertEqual(redirected.status, 0, redirected.errors)
        XCTAssertEqual(try bytes(folder + "/out.geojson"), Data(result.output.utf8))
        let full = try Tool.run(export + ["/dev/full"])
        XCTAssertEqual(full.status, 1)
        XCTAssertEqual(
            full.errors, "indoorloc: /dev/full cannot be written: No space left on device; free some space\n")
    }

    private func mode(_ path: String) throws -> Int {
        try XCTUnwrap(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}
