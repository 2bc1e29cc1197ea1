import Foundation
import GeofenceLogging
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// `serve` on a disk that fails, and recovers while it runs.
final class ServiceFaultTests: XCTestCase {
    private func serve(_ faults: FaultyFiles, _ options: [String]) throws -> ServiceProcess {
        try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--set", "positioning.particleCount=100"] + options,
            environment: faults.environment)
    }

    /// Returns the folder of a service that has saved its memory.
    private func savedMemory() throws -> String {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "0.05"])
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
