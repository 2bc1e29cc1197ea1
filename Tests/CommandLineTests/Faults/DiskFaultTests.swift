import Foundation
import GeofenceLogging
import IndoorLocalization
import IndoorLocalizationTesting
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
        let scan = ["scan"] + (try ServiceProcess.endlessWalk("one-floor")).dropFirst(2)
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

    /// A shared folder of VirtualBox has no operation for it, and some network file systems don't support it.
    func testAFileSystemThatCannotSynchronizeFoldersIsUsed() throws {
        let calls: [(arguments: [String], name: String)] = [
            (["venue", "import", "Fixtures/imdf/museum", "-o"], "museum"), (["venue", "publish"], "public"),
        ]
        for error in ["EINVAL", "ENOTSUP"] {
            for (arguments, name) in calls {
                let output = try temporaryFolder() + "/" + name
                let faults = try FaultyFiles(in: try temporaryFolder(), "sync \(error) -1 /\(name)$")
                let result = try faults.run(arguments + [output] + (name == "public" ? ["Fixtures/office"] : []))
                XCTAssertEqual(result.status, 0, "\(error): \(result.errors)")
                XCTAssertFalse(faults.failures.isEmpty, "\(error): \(arguments)")
                XCTAssertNotEqual(try contents(output), [:], "\(error): \(arguments)")
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

/// `serve` on a disk that fails, and recovers while it runs.
final class ServiceFaultTests: XCTestCase {
    private func serve(_ faults: FaultyFiles, _ options: [String]) throws -> ServiceProcess {
        try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--set", "positioning.particleCount=100"] + options,
            environment: faults.environment)
    }

    /// Returns the folder of a service that has saved its memory.
    private func savedMemory() throws -> String {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "0.05"])
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        return folder
    }

    func testTheEarlierMemoryStaysUntilTheDiskRecovers() throws {
        let folder = try savedMemory()
        for (plan, message) in [
            ("write ENOSPC -1", "No space left on device"), ("write EIO -1", "Input/output error"),
            ("sync EIO -1", "Input/output error"), ("rename EIO -1", "Input/output error"),
            ("open EROFS -1", "Read-only file system"),
        ] {
            let before = try bytes(folder + "/memory.json")
            let faults = try FaultyFiles(in: try temporaryFolder(), plan + " memory.json")
            let service = try serve(faults, ["--state-directory", folder, "--save-every", "0.05"])
            try service.waitForError("the memory can't be saved: \(folder)/memory.json")
            let failed = faults.failures.count
            // Positions continue, while further attempts fail.
            for _ in 0..<3 { try service.wait(for: "\"position\"", from: service.told.count) }
            try service.wait(forLines: "\"position\"") { faults.failures.count > failed }
            XCTAssertGreaterThan(faults.failures.count, failed, plan)
            XCTAssertEqual(try bytes(folder + "/memory.json"), before, plan)
            let reports = service.errors.filter { $0.contains("can't be saved") }
            XCTAssertEqual(reports.count, 1, "it is reported once")
            XCTAssertTrue(
                reports.allSatisfy {
                    $0.contains("\(message); check the folder, its permissions and the free space")
                }, "\(reports)")
            try faults.set([])
            try service.waitForError("the memory is saved again")
            XCTAssertNotEqual(try bytes(folder + "/memory.json"), before, plan)
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, plan)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["memory.json"], plan)
        }
    }

    func testAMemoryIsSavedByShortAndInterruptedWrites() throws {
        let folder = try temporaryFolder()
        let faults = try FaultyFiles(
            in: try temporaryFolder(), "write EINTR 5 memory.json", "sync EINTR 5 memory.json",
            "write SHORT -1 memory.json")
        let service = try serve(faults, ["--state-directory", folder, "--save-every", "0.05"])
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertFalse(service.errors.contains { $0.contains("can't be saved") }, "\(service.errors)")
        XCTAssertGreaterThan(faults.failures.count, 10)
        guard case .memory(let memory, _) = try SessionMemoryStore(folder: folder).read() else {
            return XCTFail("no memory")
        }
        XCTAssertNotNil(memory.stay)
    }

    func testLinesOnAFullDiskAreCountedAndWritingResumes() throws {
        let folder = try temporaryFolder()
        let file = folder + "/positions.jsonl"
        let before = Data("{\"earlier\":true}\n".utf8)
        try before.write(to: URL(filePath: file))
        for (error, message) in [("ENOSPC", "No space left on device"), ("EIO", "Input/output error")] {
            let faults = try FaultyFiles(in: try temporaryFolder(), "write \(error) -1 positions.jsonl")
            let earlier = try bytes(file)
            let service = try serve(faults, ["--state-directory", try temporaryFolder(), "--output", file])
            try service.waitForError("\(file): \(message); the service continues, and lines are lost")
            XCTAssertEqual(try bytes(file), earlier)
            try faults.set([])
            try service.waitForError("\(file): writing resumed")
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0)
            let text = String(decoding: try bytes(file), as: UTF8.self)
            XCTAssertTrue(text.hasPrefix(String(decoding: earlier, as: UTF8.self)), "earlier lines stay")
            for line in text.split(separator: "\n") {
                XCTAssertNoThrow(try JSONSerialization.jsonObject(with: Data(line.utf8)), "only whole lines: \(line)")
            }
        }
    }

    func testLinesAreWholeAfterShortWritesAndAFullDisk() throws {
        let file = try temporaryFolder() + "/positions.jsonl"
        let faults = try FaultyFiles(
            in: try temporaryFolder(), "write SHORT 3 positions.jsonl", "write ENOSPC 40 positions.jsonl")
        let service = try serve(faults, ["--state-directory", try temporaryFolder(), "--output", file])
        try service.waitForError("writing resumed")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertGreaterThan(faults.failures.count, 40)
        for line in String(decoding: try bytes(file), as: UTF8.self).split(separator: "\n") {
            XCTAssertNoThrow(try JSONSerialization.jsonObject(with: Data(line.utf8)), "only whole lines: \(line)")
        }
    }

    func testRecordsForTheServerWaitForTheDiskAndNoneIsLost() async throws {
        for (plan, message) in [
            ("write ENOSPC -1", "the disk is full; free some space for the upload queue"),
            ("write EIO -1", "the upload queue could not be written or read; check the disk"),
            ("sync EIO -1", "the upload queue could not be written or read; check the disk"),
        ] {
            let server = try UploadServer("204 No Content")
            addTeardownBlock { server.stop() }
            let queue = try temporaryFolder() + "/uploads.db"
            let faults = try FaultyFiles(in: try temporaryFolder())
            let service = try serve(
                faults,
                [
                    "--state-directory", try temporaryFolder(), "--upload-url", server.url, "--upload-beacons",
                    "--upload-queue", queue, "--set", "upload.interval=0.2", "--set", "heartbeat.interval=0.5",
                ])
            try await server.wait { !$0.isEmpty }
            try faults.set([plan + " uploads.db"])
            try service.waitForError("upload: \(queue): \(message)")
            try service.wait(for: "\"position\"", from: service.told.count)
            try faults.set([])
            let before = server.records.count
            try await server.wait { $0.count > before }
            try service.waitForError("heartbeat: up", from: service.errors.count)
            let heartbeat = try XCTUnwrap(service.errors.last { $0.contains("heartbeat: up") })
            XCTAssertTrue(heartbeat.contains(" 0 dropped, 0 rejected"), heartbeat)
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            let numbers = Set(server.records.map(\.number))
            XCTAssertEqual(numbers, Set(1...(numbers.max() ?? 1)), "none is missing")
            XCTAssertFalse(faults.failures.isEmpty)
            XCTAssertLessThanOrEqual(
                service.errors.count { $0.contains(message) }, 2, "not at each attempt: \(service.errors)")
        }
    }
}

/// The log of geofences on a disk that fails, and recovers while a program writes to it.
final class GeofenceLogFaultTests: XCTestCase {
    func testEachReportedRecordIsInTheLogAfterTheDiskRecovers() async throws {
        for (plan, message) in [
            ("write ENOSPC 20", "the disk is full; free some space for the log"),
            ("write EIO 20", "the log could not be written or read; check the disk"),
            ("sync EIO 20", "the log could not be written or read; check the disk"),
        ] {
            let path = try temporaryFolder() + "/fences.db"
            let faults = try FaultyFiles(in: try temporaryFolder())
            let program = URL(filePath: try Tool.path()).deletingLastPathComponent().appending(path: "KilledProcess")
            let service = try ServiceProcess(
                ["1000000"], command: path, environment: faults.environment, wrapper: [program.path, "fences"])
            try service.wait(for: "2")
            try faults.set([plan + " fences.db-wal"])
            try service.waitForError("\(path): \(message)")
            // The failures may begin after many lines that are not read yet.
            try service.wait(forLines: "0") { faults.failures.count >= 20 }
            // Each of the 20 failures is over: writing resumes.
            let failed = service.told.count
            try service.wait(for: "0", from: failed + 100)
            service.send(SIGKILL)
            XCTAssertEqual(try service.end(), 128 + SIGKILL)
            XCTAssertEqual(faults.failures.count, 20, plan)
            XCTAssertLessThanOrEqual(service.errors.count, 20, plan)
            let log = try GeofenceLog(path: path)
            let kept = Set(try await log.records().map(\.id))
            await log.close()
            let reported = Set(service.told.compactMap { Int64($0) })
            XCTAssertTrue(reported.isSubset(of: kept), "\(plan): \(reported.subtracting(kept).sorted())")
            XCTAssertEqual(kept, Set(1...Int64(kept.count)), "\(plan): no gap")
            XCTAssertEqual(kept.count % 2, 0, "pairs are whole")
        }
    }
}

/// `track --state` on a disk that fails, and recovers while it runs.
final class TrackFaultTests: XCTestCase {
    private let tag = "C3:00:00:12:AB:01"

    /// Publishes readings of the tag until another line with a position arrives.
    private func advance(_ stage: GatewayStage, _ service: ServiceProcess) async throws {
        try await stage.publish(tag: tag, at: MapPoint(x: 30, y: 6), until: service, from: service.told.count)
    }

    /// Asserts that the command can use a state: a failed write has damaged none of its files.
    private func assertRestores(_ state: [String: Data], _ words: [String]) throws {
        let folder = try temporaryFolder()
        for (name, bytes) in state { try bytes.write(to: URL(filePath: folder + "/" + name)) }
        // The last one of an option counts. Nobody listens at this port, so that the first process keeps its connection.
        let service = try ServiceProcess(
            words + ["--state", folder, "--broker", "mqtt://127.0.0.1:9"], command: "track")
        try service.waitForError("1 tag restored")
        service.send(SIGKILL)
        _ = try service.end()
    }

    func testTheEarlierStateStaysUntilTheDiskRecovers() async throws {
        let broker = try broker()
        let venue = try FixtureFolder("tags/office").path
        let stage = GatewayStage(
            client: try await GatewayClient(port: broker.port), venue: try VenuePacketReader().read(venue).venue)
        let folder = try temporaryFolder()
        let words = [
            "--broker", "mqtt://127.0.0.1:\(broker.port)", "--venue", venue, "--class", "light", "--state", folder,
            "--tags", try register(of: tag),
        ]
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        try await advance(stage, first)
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        for (plan, message) in [
            ("write ENOSPC -1", "No space left on device"), ("sync EIO -1", "Input/output error"),
            ("open EROFS -1", "Read-only file system"),
        ] {
            let faults = try FaultyFiles(in: try temporaryFolder())
            let service = try ServiceProcess(words, command: "track", environment: faults.environment)
            try service.waitForError("1 tag restored")
            try service.waitForError("receiving from")
            try faults.set([plan + " .state"])
            try await advance(stage, service)
            try service.waitForError("the state isn't saved: \(folder)/")
            // From the first failure on, no earlier saving is on its way.
            let before = try savedState(in: folder)
            XCTAssertGreaterThan(before.count, 1, plan)
            try assertRestores(before, words)
            let failed = faults.failures.count
            // Positions continue, while further attempts fail.
            while faults.failures.count == failed { try await advance(stage, service) }
            let during = try savedState(in: folder)
            for (name, bytes) in before { XCTAssertEqual(during[name], bytes, "\(plan): \(name)") }
            let reports = service.errors.filter { $0.contains("isn't saved") }
            XCTAssertEqual(reports.count, 1, "it is reported once: \(reports)")
            XCTAssertTrue(
                reports.allSatisfy { $0.contains("\(message); check the folder, its permissions and the free space") },
                "\(reports)")
            try faults.set([])
            try service.waitForError("the state is saved again")
            XCTAssertNotEqual(try savedState(in: folder), before, plan)
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, plan)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            XCTAssertEqual(Set(names), Set(before.keys), "\(plan): no other file remains")
        }
    }

    func testADiskThatIsFullAtTheStartEndsTheCommandWithTheReason() async throws {
        let folder = try temporaryFolder()
        let faults = try FaultyFiles(in: try temporaryFolder(), "write ENOSPC -1 fleet.json")
        let result = try faults.run([
            "track", "--broker", "mqtt://127.0.0.1:9", "--venue", "Fixtures/tags/office", "--state", folder,
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(
            result.errors.contains(
                "\(folder)/fleet.json.new can't be used: No space left on device; check the folder, its permissions "
                    + "and the free space"), result.errors)
        XCTAssertEqual(faults.failures.count, 1)
    }
}

/// Failing file operations of a program: a plan that a test can change while the program runs.
///
/// The library in `Tests/FaultyFiles` makes the operations fail. Each line of a plan is: OPERATION ERROR COUNT PART.
final class FaultyFiles {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The library, compiled once for all tests.
    private static let library = Result { try compiled() }

    /// The variables that load the library into a program.
    let environment: [String: String]
    private let plan: URL
    private let log: URL

    /// Creates an empty plan in a folder, which contains no other files.
    init(in folder: String, _ lines: String...) throws {
        plan = URL(filePath: folder + "/plan")
        log = URL(filePath: folder + "/log")
        environment = [
            "LD_PRELOAD": try Self.library.get(), "FAULTY_FILES": plan.path, "FAULTY_FILES_LOG": log.path,
            // Coverage counts are discarded: the library would have to let them pass.
            "LLVM_PROFILE_FILE": "/dev/null",
        ]
        try set(lines)
    }

    /// Replaces the plan.
    func set(_ lines: [String]) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: plan, options: .atomic)
    }

    /// The failures so far.
    var failures: [String] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Runs the tool with the plan.
    func run(_ arguments: [String]) throws -> Tool.Result {
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return try Tool.run(variables + [try Tool.path()] + arguments, program: "/usr/bin/env")
    }

    /// Compiles the library with the compiler that comes with Swift, or that of the system.
    private static func compiled() throws -> String {
        let source = try Checkout.root().appending(path: "Tests/FaultyFiles/FaultyFiles.c").path
        let folder = FileManager.default.temporaryDirectory.appending(path: "faulty-files-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let library = folder + "/libfaultyfiles.so"
        var texts: [String] = []
        for compiler in ["clang", "cc", "gcc"] {
            let result = try Tool.run(
                [compiler, "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, source],
                program: "/usr/bin/env")
            if result.status == 0 { return library }
            texts.append(result.errors)
        }
        throw Failure(description: "no compiler: \(texts)")
    }
}
