import Foundation
import GPSDReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A serial receiver that gpsd's test harness emulates from a log.
final class GPSFakeTests: XCTestCase {
    /// Starts gpsfake, which starts gpsd and plays the log once a client connects.
    private func start(_ log: URL, port: UInt16) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/gpsfake")
        process.arguments = ["-P", "\(port)", "-c", "0.01", "-q", log.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Returns the first position. Retries until gpsd listens.
    private static func firstFix(of source: GPSDSource) async throws -> GNSSFix {
        while true {
            do {
                for try await fix in source.fixes() { return fix }
            } catch GPSDError.unreachable { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    func testPositionsFromALogThatGpsfakePlaysArrive() async throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString).nmea")
        defer { try? FileManager.default.removeItem(at: log) }
        let receiver = NMEAReceiver(isSearching: 3)
        try (0..<60).map(receiver.cycle).joined().write(to: log, atomically: true, encoding: .utf8)
        let port = try LoopbackListener().port
        let process = try start(log, port: port)
        defer {
            // gpsfake leads a process group that its gpsd belongs to.
            kill(-process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try? FileManager.default.removeItem(atPath: "/tmp/gpsfake-\(process.processIdentifier).sock")
        }
        let source = GPSDSource(host: "127.0.0.1", port: port)
        let fix = try await Bounded.wait(for: "a position") { try await Self.firstFix(of: source) }
        XCTAssertEqual(fix.coordinate.latitude, 52.52, accuracy: 1e-7)
        XCTAssertEqual(fix.coordinate.longitude, 13.41, accuracy: 1e-7)
        XCTAssertEqual(fix.accuracy, 19 * 1.2 * 0.6167, accuracy: 0.01)
    }
}
