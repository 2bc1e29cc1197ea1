import Foundation
import XCTest

/// The messages of `serve` to a service manager, over a socket such as systemd's.
final class ServiceManagerTests: XCTestCase {
    private func start(
        _ socket: NotifySocket, watchdog: String? = nil, readsOutput: Bool = true, _ arguments: [String] = []
    ) throws -> ServiceProcess {
        var environment = ["NOTIFY_SOCKET": socket.path]
        environment["WATCHDOG_USEC"] = watchdog
        return try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 3) + ["--state-directory", try temporaryFolder()] + arguments,
            environment: environment, readsOutput: readsOutput)
    }

    func testTheServiceReportsReadyWatchdogAndStopping() throws {
        let socket = try NotifySocket(in: temporaryFolder())
        let service = try start(socket, watchdog: "400000")
        try socket.wait(for: "READY=1")
        for _ in 0..<3 { try socket.wait(for: "WATCHDOG=1") }
        try service.wait(for: "\"localizationRunning\"")
        service.send(SIGTERM)
        try socket.wait(for: "STOPPING=1")
        XCTAssertEqual(try service.end(), 0)
        try socket.finish()
        let statuses = socket.messages.filter { $0.contains("STATUS=") }
        XCTAssertTrue(statuses.contains { $0.contains("searching for a venue") }, "\(statuses)")
        XCTAssertTrue(statuses.contains { $0.contains("on Ground floor") }, "\(statuses)")
        XCTAssertEqual(socket.messages.count { $0.contains("READY=1") }, 1)
        let last = try XCTUnwrap(statuses.last)
        XCTAssertTrue(last.contains("STATUS=ended; "), last)
        XCTAssertFalse(last.contains("so far"), last)
        let stopping = try XCTUnwrap(socket.messages.firstIndex { $0.contains("STOPPING=1") })
        XCTAssertFalse(
            socket.messages[stopping...].contains { $0.contains("WATCHDOG=1") }, "whoever stops is not watched")
    }

    func testWithoutAWatchdogNoWatchdogMessageIsSent() throws {
        let socket = try NotifySocket(in: temporaryFolder())
        let service = try start(socket)
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        try socket.finish()
        XCTAssertFalse(socket.messages.contains { $0.contains("WATCHDOG") }, "\(socket.messages)")
    }

    func testAServiceWithAStoppedReaderStaysAliveSavesItsMemoryAndEndsOnASignal() throws {
        let folder = try temporaryFolder()
        let socket = try NotifySocket(in: folder)
        // The pipe holds a page of lines, and the tool buffers another mebibyte for the reader.
        let service = try start(
            socket, watchdog: "400000", readsOutput: false,
            ["--set", "positionInterval=0.05", "--save-every", "0.1", "--state-directory", folder])
        try socket.wait(for: "STATUS=in ")
        for _ in 0..<10 { try socket.wait(for: "WATCHDOG=1") }
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/memory.json"))
        let begun = ContinuousClock.now
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertLessThan(begun.duration(to: .now), .seconds(20), "the reader was waited for")
        XCTAssertTrue(
            service.errors.contains { $0.contains("standard output: ") && $0.contains("lost") }, "\(service.errors)")
    }

    func testAFullDiskIsReportedOnceAndTheServiceContinues() throws {
        let socket = try NotifySocket(in: temporaryFolder())
        let service = try start(socket, ["--output", "/dev/full"])
        try service.waitForError("/dev/full: No space left on device; the service continues")
        // The first position comes some time after the first line.
        try socket.wait(for: "STATUS=in ")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(service.errors.count { $0.contains("No space left") }, 1, "\(service.errors)")
        XCTAssertTrue(service.errors.contains { $0.contains("lines were lost") }, "\(service.errors)")
    }

    func testSIGHUPReloadsTheSettings() throws {
        let folder = try temporaryFolder()
        let settings = URL(filePath: folder + "/settings.json")
        let file = folder + "/positions.jsonl"
        try Data("{\"positionInterval\": 3600}".utf8).write(to: settings)
        let socket = try NotifySocket(in: folder)
        let service = try start(socket, ["--settings", settings.path, "--output", file])
        try socket.wait(for: "STATUS=in ")

        try Data("{\"positionInterval\": 0.05}".utf8).write(to: settings)
        try FileManager.default.moveItem(atPath: file, toPath: file + ".1")
        service.send(SIGHUP)
        try socket.wait(for: "RELOADING=1")
        let reloading = try XCTUnwrap(socket.latest)
        XCTAssertTrue(reloading.contains("\nMONOTONIC_USEC="), reloading)
        try socket.wait(for: "READY=1")
        XCTAssertTrue(FileManager.default.fileExists(atPath: file), "the output is opened anew")

        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        service.send(SIGHUP)
        try service.waitForError("positions.jsonl cannot be written: Is a directory; the earlier file stays open")
        try socket.wait(for: "READY=1")

        try Data("{\"positionInterval\": -1}".utf8).write(to: settings)
        service.send(SIGHUP)
        try service.waitForError("the earlier settings and geofences stay in effect")
        try socket.wait(for: "READY=1")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testAServiceWithAnUnreadableVenueNeverReportsReady() throws {
        let socket = try NotifySocket(in: temporaryFolder())
        let service = try ServiceProcess(
            ["--venue", "Fixtures/packets/rejected", "--state-directory", try temporaryFolder()],
            environment: ["NOTIFY_SOCKET": socket.path])
        XCTAssertEqual(try service.end(), 1)
        try socket.finish()
        XCTAssertFalse(socket.messages.contains { $0.contains("READY") }, "\(socket.messages)")
    }
}
