import Foundation
import GPSDReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// A serial receiver that gpsd's test harness emulates from a log.
final class GPSFakeTests: XCTestCase {
    /// Starts gpsfake, which starts gpsd and plays the log once a client connects.
    ///
    /// - Parameter errors: the file for what gpsfake and gpsd report.
    private func start(_ log: URL, port: UInt16, errors: URL) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/gpsfake")
        process.arguments = ["-P", "\(port)", "-c", "0.01", "-q", log.path]
        process.standardOutput = FileHandle.nullDevice
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        try ProcessSignals.withAll { try process.run() }
        return process
    }

    /// Returns the first position. Retries until gpsd listens, and throws if gpsfake ends.
    private static func firstFix(of source: GPSDSource, from gpsfake: pid_t, errors: URL) async throws -> GNSSFix {
        while true {
            do {
                for try await fix in source.fixes() { return fix }
            } catch GPSDError.unreachable {
                guard kill(gpsfake, 0) == 0 else {
                    throw StageError("gpsfake ended: \(try String(contentsOf: errors, encoding: .utf8))")
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    func testPositionsFromALogThatGpsfakePlaysArrive() async throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString).nmea")
        let errors = log.appendingPathExtension("errors")
        defer { for file in [log, errors] { try? FileManager.default.removeItem(at: file) } }
        let receiver = NMEAReceiver(isSearching: 3)
        try (0..<60).map(receiver.cycle).joined().write(to: log, atomically: true, encoding: .utf8)
        let port = try TestPort.free()
        let process = try start(log, port: port, errors: errors)
        defer {
            // gpsfake leads a process group that its gpsd belongs to.
            kill(-process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try? FileManager.default.removeItem(atPath: "/tmp/gpsfake-\(process.processIdentifier).sock")
        }
        let source = GPSDSource(host: "127.0.0.1", port: port)
        let gpsfake = process.processIdentifier
        let fix = try await Bounded.wait(for: "a position") {
            try await Self.firstFix(of: source, from: gpsfake, errors: errors)
        }
        XCTAssertEqual(fix.coordinate.latitude, 52.52, accuracy: 1e-7)
        XCTAssertEqual(fix.coordinate.longitude, 13.41, accuracy: 1e-7)
        XCTAssertEqual(fix.accuracy, 19 * 1.2 * 0.6167, accuracy: 0.01)
    }
}
