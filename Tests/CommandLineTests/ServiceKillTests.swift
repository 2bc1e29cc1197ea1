import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

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
                ServiceProcess.walk("one-floor", from: 5)
                    + ["--state-directory", folder, "--save-every", "0.01", "--set", "positioning.particleCount=100"],
                environment: ["NOTIFY_SOCKET": socket.path])
            try socket.wait(for: "READY=1")
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

    func testTheServiceContinuesItsSessionAfterAKill() throws {
        let folder = try temporaryFolder()
        let state = ["--state-directory", folder, "--save-every", "0.1"]
        let first = try ServiceProcess(ServiceProcess.walk("stairs", from: 42) + state)
        try first.wait(for: "\"position\"", "\"mapId\":2", "\"floorCertainty\":1.000")
        // The memory is saved every tenth of a second, so that two more positions give time to save it.
        for _ in 0..<3 { try first.wait(for: "\"position\"", from: first.told.count) }
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

        let warm = try ServiceProcess(ServiceProcess.walk("stairs", from: 46) + state)
        let cold = try ServiceProcess(
            ServiceProcess.walk("stairs", from: 46) + ["--state-directory", try temporaryFolder()])
        let (sooner, later) = (try warm.wait(for: "\"position\""), try cold.wait(for: "\"position\""))
        for service in [warm, cold] {
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0)
        }
        print("warm: \(sooner)\ncold: \(later)")
        XCTAssertTrue(warm.errors.contains { $0.contains("restored the memory of venue 1") }, "\(warm.errors)")
        XCTAssertEqual(try number("venueId", of: sooner), 1)
        XCTAssertEqual(try number("mapId", of: sooner), 2)
        // Four seconds of the walk later, at 1.2 m/s.
        let place = try XCTUnwrap(learned.stay?.places.first { $0.mapID == 2 }).point
        let point = MapPoint(x: try number("x", of: sooner), y: try number("y", of: sooner))
        XCTAssertLessThan(point.distance(to: place), 7, "\(sooner) after \(place), and without a memory \(later)")
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
