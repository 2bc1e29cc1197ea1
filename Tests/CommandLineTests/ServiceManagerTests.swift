import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// The messages of `serve` to a service manager, over a socket such as systemd's.
final class ServiceManagerTests: XCTestCase {
    /// The time of a watchdog in microseconds. The service sends no message while its session is late by half of it.
    private static let patience = "4000000"

    private func start(
        _ socket: NotifySocket, watchdog: String? = nil, readsOutput: Bool = true, _ arguments: [String] = []
    ) throws -> ServiceProcess {
        var environment = ["NOTIFY_SOCKET": socket.path]
        environment["WATCHDOG_USEC"] = watchdog
        return try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 3) + ["--state-directory", try temporaryFolder()] + arguments,
            environment: environment, readsOutput: readsOutput)
    }

    func testTheServiceReportsReadyWatchdogAndStopping() throws {
        let socket = try NotifySocket(in: temporaryFolder())
        let service = try start(socket, watchdog: Self.patience)
        try socket.wait(for: "READY=1")
        for _ in 0..<3 { try socket.wait(for: "WATCHDOG=1") }
        try service.wait(for: "\"localizationRunning\"")
        // The status follows the line, and may be among the messages that were awaited above.
        try socket.wait(forAny: "on Ground floor")
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
            socket, watchdog: Self.patience, readsOutput: false,
            [
                "--set", "positionInterval=0.05", "--set", "positioning.particleCount=100", "--save-every", "0.1",
                "--state-directory", folder,
            ])
        try socket.wait(for: "STATUS=in ")
        for _ in 0..<10 { try socket.wait(for: "WATCHDOG=1") }
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/memory.json"))
        service.send(SIGTERM)
        // A service that waited for the reader would never end, as nothing reads.
        XCTAssertEqual(try service.end(), 0)
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

/// A service that is killed and restarted.
final class ServiceKillTests: XCTestCase {
    private func number(_ name: String, of line: String) throws -> Double {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try XCTUnwrap(object?[name] as? Double, "\(name) of \(line)")
    }

    func testAKillLeavesTheOldOrTheNewMemory() throws {
        let folder = try temporaryFolder()
        let seed: UInt64 = 20_261_121
        var generator = SeededGenerator(seed: seed)
        var (kept, amid, last) = (0, 0, 0.0)
        for turn in 1...60 {
            let socketFolder = try temporaryFolder()
            let socket = try NotifySocket(in: socketFolder)
            let service = try ServiceProcess(
                ServiceProcess.endlessWalk("one-floor", from: 5)
                    + ["--state-directory", folder, "--save-every", "0.01", "--set", "positioning.particleCount=100"],
                environment: ["NOTIFY_SOCKET": socket.path])
            try socket.wait(for: "READY=1")
            // On a busy machine, the first memory may be later than all kills.
            try service.wait(forLines: "\"position\"") {
                turn > 1 || FileManager.default.fileExists(atPath: folder + "/memory.json")
            }
            // Waits for a random time on the socket.
            let pause = Double(generator.next() % 400_000) / 1e6
            let until = ContinuousClock.now + .seconds(pause)
            while ContinuousClock.now < until {
                socket.next(within: ContinuousClock.now.duration(to: until) / .seconds(1))
            }
            service.send(SIGKILL)
            XCTAssertEqual(try service.end(), 128 + SIGKILL)
            if FileManager.default.fileExists(atPath: folder + "/memory.json.new") { amid += 1 }
            switch try SessionMemoryStore(folder: folder).read() {
            case .none: XCTAssertEqual(kept, 0, "turn \(turn), seed \(seed): the memory is gone")
            case .unusable(let reason, _): XCTFail("turn \(turn), seed \(seed): \(reason)")
            case .memory(let memory, _):
                kept += 1
                if kept > 1 { XCTAssertNotNil(memory.age >= .zero ? memory : nil) }
                let text = String(decoding: try bytes(folder + "/memory.json"), as: UTF8.self)
                let saved = try number("savedAt", of: text)
                XCTAssertGreaterThanOrEqual(saved, last, "turn \(turn): never an older one")
                last = saved
            }
        }
        print("killed 60 times: \(kept) memories left, \(amid) times while one was being replaced")
        XCTAssertGreaterThan(kept, 40)
        XCTAssertLessThanOrEqual(
            Set(try FileManager.default.contentsOfDirectory(atPath: folder)), ["memory.json", "memory.json.new"])
    }

    /// The memory that a running service has saved last; nil for none. The service locks its folder, so a copy is read.
    private func savedMemory(in folder: String) throws -> SessionMemory? {
        let copy = try temporaryFolder()
        let isCopied: Void? = try? FileManager.default.copyItem(
            atPath: folder + "/memory.json", toPath: copy + "/memory.json")
        guard isCopied != nil, case .memory(let memory, _) = try SessionMemoryStore(folder: copy).read() else {
            return nil
        }
        return memory
    }

    private func isUpstairs(_ memory: SessionMemory?) -> Bool {
        guard let memory, let stay = memory.stay, memory.calibration != nil else { return false }
        return stay.mapID == 2 && stay.places.contains { $0.mapID == 2 }
    }

    func testTheServiceContinuesItsSessionAfterAKill() throws {
        let folder = try temporaryFolder()
        let state = ["--state-directory", folder, "--save-every", "0.1"]
        // The person stays at one place from here on, however much later a position comes.
        let (begin, later) = (51.5, 53.5)
        let first = try ServiceProcess(ServiceProcess.endlessWalk("stairs", from: begin) + state)
        try first.wait(for: "\"position\"", "\"mapId\":2", "\"floorCertainty\":1.000")
        try first.wait(forLines: "\"position\"") { try isUpstairs(savedMemory(in: folder)) }
        first.send(SIGKILL)
        XCTAssertEqual(try first.end(), 128 + SIGKILL)
        let learned: SessionMemory
        do {
            guard case .memory(let memory, let age) = try SessionMemoryStore(folder: folder).read() else {
                return XCTFail("no memory")
            }
            XCTAssertLessThan(age, .seconds(Tool.bound))
            learned = memory
        }
        XCTAssertEqual(learned.stay?.mapID, 2)

        let warm = try ServiceProcess(ServiceProcess.endlessWalk("stairs", from: later) + state)
        let cold = try ServiceProcess(
            ServiceProcess.endlessWalk("stairs", from: later) + ["--state-directory", try temporaryFolder()])
        let (known, unknown) = (try warm.wait(for: "\"position\""), try cold.wait(for: "\"position\""))
        for service in [warm, cold] {
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0)
        }
        print("warm: \(known)\ncold: \(unknown)")
        XCTAssertTrue(warm.errors.contains { $0.contains("restored the memory of venue 1") }, "\(warm.errors)")
        XCTAssertEqual(try number("venueId", of: known), 1)
        XCTAssertEqual(try number("mapId", of: known), 2)
        let place = try XCTUnwrap(learned.stay?.places.first { $0.mapID == 2 }).point
        let point = MapPoint(x: try number("x", of: known), y: try number("y", of: known))
        XCTAssertLessThan(point.distance(to: place), 7, "\(known) after \(place), and without a memory \(unknown)")
        guard case .memory(let now, _) = try SessionMemoryStore(folder: folder).read() else {
            return XCTFail("no memory")
        }
        let (before, after) = (try XCTUnwrap(learned.calibration), try XCTUnwrap(now.calibration))
        XCTAssertEqual(after.rssiOffset, before.rssiOffset, accuracy: 3, "what was learned of the radio goes on")
        XCTAssertLessThan(after.rssiDeviation, Calibration().rssiDeviation)
    }
}

private func XCTAssertLessThanOrEqual(_ set: Set<String>, _ other: Set<String>, line: UInt = #line) {
    XCTAssertTrue(set.isSubset(of: other), "\(set)", line: line)
}
