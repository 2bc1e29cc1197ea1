import Foundation
import LoopbackServers
import VenuePackets
import XCTest

/// The files of commands on a disk that fails.
final class OutputFaultTests: XCTestCase {
    private static let venue = ["--venue", "Fixtures/office"]

    /// A command that writes a file, whose path follows its arguments.
    private func calls(_ folder: String) throws -> [(arguments: [String], file: String)] {
        let walk = try ShortRecording(lines: 60).write(to: folder, as: "walk.jsonl")
        let simulate = ["simulate"] + Self.venue + ["--path", "Fixtures/office/paths/track-upper.json", "-o"]
        return [
            (["convert", walk], "out.jsonl"), (["convert", walk], "out.btsnoop"),
            (["replay"] + Self.venue + ShortDataSet.light + [walk, "--geojson"], "out.geojson"),
            (["survey"] + Self.venue + ["Fixtures/office/survey/ground-west.jsonl", "-o"], "out.json"),
            (simulate, "out.jsonl.gz"), (["rooms", "train", "--room", "hall", walk, "-o"], "out.json"),
            (["venue", "export", "Fixtures/office", "-o"], "out.geojson"),
            (["venue", "import", "Fixtures/imdf/museum", "-o"], "out.zip"),
        ]
    }

    /// Runs each command on a disk with a fault, with an earlier file at the output.
    private func assertFileStays(_ plan: String, _ message: String, advice: String) throws {
        for (arguments, name) in try calls(temporaryFolder()) {
            let folder = try temporaryFolder()
            let file = folder + "/" + name
            let before = Data("precious\n".utf8)
            try before.write(to: URL(filePath: file))
            let faults = try FaultyFiles(in: try temporaryFolder(), plan + " /" + folder.split(separator: "/").last!)
            let result = try faults.run(arguments + [file, "--overwrite"])
            XCTAssertFalse(faults.failures.isEmpty, "\(arguments)")
            XCTAssertEqual(result.status, 1, "\(arguments): \(result.errors)")
            for words in [file, message, advice] {
                XCTAssertTrue(result.errors.contains(words), "\(arguments): \(result.errors)")
            }
            XCTAssertEqual(result.errors.split(separator: "\n").count, 1, result.errors)
            XCTAssertEqual(try bytes(file), before, "\(arguments)")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [name], "\(arguments)")
            // The fault is over.
            try faults.set([])
            XCTAssertEqual(try faults.run(arguments + [file, "--overwrite"]).status, 0, "\(arguments)")
            XCTAssertNotEqual(try bytes(file), before, "\(arguments)")
        }
    }

    func testAFullDiskLeavesTheEarlierFile() throws {
        try assertFileStays("write ENOSPC -1", "No space left on device", advice: "free s")
    }

    func testADefectiveDiskLeavesTheEarlierFile() throws {
        try assertFileStays("write EIO -1", "Input/output error", advice: "heck the ")
    }

    func testADiskThatReportsAnErrorAtTheEndLeavesTheEarlierFile() throws {
        try assertFileStays("sync EIO -1", "Input/output error", advice: "heck the ")
    }

    func testAFailedRenameLeavesTheEarlierFile() throws {
        try assertFileStays("rename EIO -1", "Input/output error", advice: "heck the ")
    }

    func testAReadOnlyDiskLeavesTheEarlierFile() throws {
        try assertFileStays("open EROFS -1", "Read-only file system", advice: "; ")
    }

    func testShortAndInterruptedWritesGiveTheSameFile() throws {
        for (arguments, name) in try calls(temporaryFolder()) {
            let (whole, disturbed) = (try temporaryFolder(), try temporaryFolder())
            XCTAssertEqual(try Tool.run(arguments + [whole + "/" + name]).status, 0, "\(arguments)")
            let part = "/" + disturbed.split(separator: "/").last!
            let faults = try FaultyFiles(
                in: try temporaryFolder(), "write EINTR 3 " + part, "sync EINTR 2 " + part, "write SHORT -1 " + part)
            let result = try faults.run(arguments + [disturbed + "/" + name])
            XCTAssertEqual(result.status, 0, "\(arguments): \(result.errors)")
            let kinds = Set(faults.failures.map { $0.split(separator: " ").prefix(2).joined(separator: " ") })
            XCTAssertEqual(kinds, ["write EINTR", "sync EINTR", "write SHORT"], "\(arguments)")
            XCTAssertEqual(
                try bytes(disturbed + "/" + name), try bytes(whole + "/" + name), "\(arguments)")
        }
    }

    func testAScanOnAFullDiskEndsAndItsRecordingIsReadable() throws {
        let scan = ["scan"] + (try ServiceProcess.walk("one-floor")).dropFirst(2)
        // At the beginning, and after half a megabyte.
        for (plan, isThere) in [("write ENOSPC -1 walk.jsonl", false), ("write EIO -1 walk.jsonl", false), ("", true)] {
            let file = try temporaryFolder() + "/walk.jsonl"
            let faults = try FaultyFiles(in: try temporaryFolder(), plan)
            let service = try ServiceProcess(
                Array(scan.dropFirst()) + ["--record", file], command: "scan", environment: faults.environment)
            if isThere {
                // The recorder passes its lines to the system once there are 64 KiB of them.
                let begun = try bytesAppear(file, atLeast: 60_000)
                try faults.set(["write ENOSPC -1 walk.jsonl"])
                XCTAssertEqual(try service.end(), 1)
                let kept = try bytes(file)
                XCTAssertEqual(kept.prefix(begun.count), begun)
                let copy = try temporaryFolder() + "/copy.jsonl"
                XCTAssertEqual(try Tool.run(["convert", "--lenient", file, copy]).status, 0)
                XCTAssertGreaterThan(try bytes(copy).count, begun.count / 2)
            } else {
                XCTAssertEqual(try service.end(), 1)
                XCTAssertFalse(service.errors.contains { $0.contains("nothing was received") }, "\(service.errors)")
            }
            let error = try XCTUnwrap(service.errors.last)
            XCTAssertTrue(error.contains("\(file): cannot be written: "), error)
            XCTAssertTrue(error.contains("Check the folder, its permissions, and the free space"), error)
        }
    }

    /// Waits for a file of a size, and returns its content.
    private func bytesAppear(_ file: String, atLeast size: Int) throws -> Data {
        let deadline = ContinuousClock.now + .seconds(Tool.bound)
        while ContinuousClock.now < deadline {
            if let data = FileManager.default.contents(atPath: file), data.count >= size { return data }
            poll(nil, 0, 20)
        }
        throw FaultyFiles.Failure(description: "\(file) does not grow to \(size) bytes")
    }

    func testAVenueThatCannotBeStoredLeavesTheStoredOnes() throws {
        let root = try temporaryFolder()
        let museum = "Fixtures/packets/accepted/every-field"
        XCTAssertEqual(try Tool.run(["venue", "publish", root, "Fixtures/office", museum]).status, 0)
        let server = try NginxServer(root: root, folder: try temporaryFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the server.
        nonisolated(unsafe) let stopped = server
        addTeardownBlock { stopped.stop() }
        let cache = try temporaryFolder() + "/venues"
        let fetch = ["venue", "fetch", "--server", server.url(), "--cache", cache]
        let office = try XCTUnwrap(try Tool.run(fetch + ["1"]).lines.first.map(String.init))
        let before = try contents(office)
        for (plan, message) in [
            ("write ENOSPC -1", "No space left on device"), ("write EIO -1", "Input/output error"),
            ("sync EIO -1", "Input/output error"), ("rename EIO -1", "Input/output error"),
            ("open EROFS -1", "Read-only file system"),
        ] {
            let faults = try FaultyFiles(in: try temporaryFolder(), plan + " /venues/")
            let failed = try faults.run(fetch + ["7"])
            XCTAssertFalse(faults.failures.isEmpty, plan)
            XCTAssertEqual(failed.status, 1, "\(plan): \(failed.errors)")
            XCTAssertTrue(failed.errors.contains(cache + "/"), failed.errors)
            XCTAssertTrue(
                failed.errors.contains("\(message); check the folder, its permissions and the free space"),
                failed.errors)
            XCTAssertEqual(try contents(office), before, plan)
            // The stored venue is used on the failing disk.
            let stored = try faults.run(fetch + ["1"])
            XCTAssertEqual(stored.output, office + "\n", "\(plan): \(stored.errors)")
        }
        XCTAssertEqual(try Tool.run(fetch + ["7"]).status, 0)
    }

    /// Returns the bytes of all files in a folder, or of a file, by path.
    private func contents(_ path: String) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            contents[name] = FileManager.default.contents(atPath: path + "/" + name)
        }
        return contents
    }

    func testAFailedCommandLeavesNoUnfinishedFolder() throws {
        let inputs = try temporaryFolder()
        let set = try ShortDataSet.write(to: inputs)
        let evaluate = ["evaluate", set, "--method", "trilateration"]
        let new = [
            "venue", "new", "--name", "Library", "--plan", "Fixtures/office/plans/ground.png", "--scale",
            "30,30,1050,30=34", "-o",
        ]
        let calls: [(arguments: [String], name: String)] = [
            (new, "library"), (new, "new/library"),
            (["venue", "import", "Fixtures/imdf/museum", "-o"], "museum"),
            (["venue", "publish"], "public"), (evaluate + ["--report"], "reports"),
            (evaluate + ["--replays"], "deep/replays"), (["manual", "--folder"], "pages"),
        ]
        for (arguments, name) in calls {
            for plan in ["write ENOSPC -1", "sync EIO -1", "rename EIO -1", "write ENOSPC 1"] {
                let folder = try temporaryFolder()
                let faults = try FaultyFiles(
                    in: try temporaryFolder(), plan + " /" + folder.split(separator: "/").last!)
                let call = arguments + [folder + "/" + name] + (name == "public" ? ["Fixtures/office"] : [])
                let result = try faults.run(call)
                if faults.failures.isEmpty { continue }
                XCTAssertEqual(result.status, 1, "\(plan): \(call)")
                XCTAssertEqual(
                    try FileManager.default.subpathsOfDirectory(atPath: folder), [], "\(plan): \(call)")
                try faults.set([])
                XCTAssertEqual(try faults.run(call).status, 0, "\(call)")
            }
        }
    }

    func testAFailedPublicationLeavesTheServedFolderAsItWas() throws {
        let folder = try temporaryFolder() + "/public"
        XCTAssertEqual(try Tool.run(["venue", "publish", folder, "Fixtures/office"]).status, 0)
        let before = try contents(folder)
        // The catalogue is written last.
        let faults = try FaultyFiles(in: try temporaryFolder(), "rename EIO -1 catalogue.json")
        let museum = "Fixtures/packets/accepted/every-field"
        XCTAssertEqual(try faults.run(["venue", "publish", folder, museum]).status, 1)
        XCTAssertFalse(faults.failures.isEmpty)
        XCTAssertEqual(try contents(folder), before)
    }

    /// The rename of the catalogue succeeds, and the disk fails afterwards: clients read the new catalogue.
    func testAPublicationThatFailsAfterItsCatalogueKeepsTheFilesThatItNames() throws {
        let folder = try temporaryFolder() + "/public"
        XCTAssertEqual(try Tool.run(["venue", "publish", folder, "Fixtures/office"]).status, 0)
        let faults = try FaultyFiles(in: try temporaryFolder(), "sync EIO -1 /public$")
        let museum = "Fixtures/packets/accepted/every-field"
        XCTAssertEqual(try faults.run(["venue", "publish", folder, museum]).status, 1)
        XCTAssertFalse(faults.failures.isEmpty)
        let catalogue = try String(contentsOfFile: folder + "/catalogue.json", encoding: .utf8)
        let paths = catalogue.matches(of: /"path":"([^"]+)"/).map { String($0.output.1) }
        XCTAssertGreaterThan(paths.count, 2)
        for path in paths { XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/" + path), path) }
    }

    /// Other files that appear in the folder meanwhile are not those of the command.
    func testAFailedPacketRemovesOnlyItsOwnFiles() throws {
        let folder = try temporaryFolder()
        try Data("mine".utf8).write(to: URL(filePath: folder + "/notes.txt"))
        var placed = PlacedFiles()
        for name in ["notes.txt", "venue.json", "plans/a.png"] { placed.note(folder + "/" + name) }
        try FileManager.default.createDirectory(atPath: folder + "/plans", withIntermediateDirectories: true)
        for name in ["venue.json", "plans/a.png", "download.part"] {
            try Data().write(to: URL(filePath: folder + "/" + name))
        }
        placed.remove()
        XCTAssertEqual(
            try FileManager.default.subpathsOfDirectory(atPath: folder).sorted(), ["download.part", "notes.txt"])
    }

    func testAFullDiskIsNotAnErrorOfThePublishedPacket() throws {
        let folder = try temporaryFolder()
        let publish = ["venue", "publish", folder + "/public", "Fixtures/office"]
        XCTAssertEqual(try Tool.run(publish).status, 0)
        let catalogue = try bytes(folder + "/public/catalogue.json")
        for (plan, message) in [
            ("write ENOSPC -1 .publishing", "No space left on device"),
            ("sync EIO -1 .publishing", "Input/output error"), ("rename EIO -1 public", "Input/output error"),
        ] {
            let faults = try FaultyFiles(in: try temporaryFolder(), plan)
            let museum = "Fixtures/packets/accepted/every-field"
            let result = try faults.run(["venue", "publish", folder + "/public", museum])
            XCTAssertEqual(result.status, 1, plan)
            XCTAssertTrue(result.errors.hasPrefix("indoorloc: \(folder)/public/"), result.errors)
            XCTAssertTrue(
                result.errors.hasSuffix("\(message); check the folder, its permissions and the free space\n"),
                result.errors)
            XCTAssertEqual(try bytes(folder + "/public/catalogue.json"), catalogue, plan)
        }
        let last = try Tool.run(publish)
        XCTAssertEqual(last.output, "venue 1: Office, version 1, unchanged\n")
    }
}
