import Foundation
import GPSDReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// Satellite positions from the real gpsd.
final class GPSDSourceTests: XCTestCase {
    private func withDaemon(
        _ body: (GPSDaemon) async throws -> Void
    ) async throws {
        let daemon = try GPSDaemon()
        defer { daemon.kill() }
        try await body(daemon)
    }

    private func first(
        _ count: Int, of source: GPSDSource, where isWanted: @escaping @Sendable (GNSSFix) -> Bool = { _ in true }
    ) async throws -> [GNSSFix] {
        try await Bounded.wait(for: "\(count) positions") {
            var fixes: [GNSSFix] = []
            for try await fix in source.fixes() where isWanted(fix) {
                fixes.append(fix)
                if fixes.count == count { break }
            }
            return fixes
        }
    }

    private func failure(of source: GPSDSource) async throws -> GPSDError? {
        try await Bounded.wait(for: "the end of the stream") {
            do {
                for try await _ in source.fixes() {}
                return nil
            } catch { return error as? GPSDError }
        }
    }

    // MARK: - Positions

    func testPositionsArriveWithTheirCoordinatesAndAccuracy() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver())
            // gpsd may report a fix before it reads the sentence with the speed.
            let fixes = try await first(3, of: daemon.source) { $0.speed != nil }
            for fix in fixes {
                XCTAssertEqual(fix.coordinate.latitude, 52.52, accuracy: 1e-7)
                XCTAssertEqual(fix.coordinate.longitude, 13.41, accuracy: 1e-7)
                // gpsd 3.22: a 95 % error of 19 m times the horizontal dilution.
                XCTAssertEqual(fix.accuracy, 19 * 1.2 * 0.6167, accuracy: 0.01)
                XCTAssertEqual(
                    try XCTUnwrap(fix.altitude), 94, accuracy: 0.01, "48 m above the geoid, which is at 46 m")
                XCTAssertEqual(try XCTUnwrap(fix.speed), 2 * 1852 / 3600, accuracy: 0.01, "2 knots")
                XCTAssertEqual(try XCTUnwrap(fix.course), 45, accuracy: 0.1)
            }
            XCTAssertEqual(fixes.map(\.instant), fixes.map(\.instant).sorted())
            var now = timespec()
            clock_gettime(CLOCK_BOOTTIME, &now)
            let age = try XCTUnwrap(fixes.last).instant.duration(to: Instant(seconds: Double(now.tv_sec) + 1))
            XCTAssertTrue(age > .zero && age < Bounded.longest, "CLOCK_BOOTTIME: \(age) ago")
        }
    }

    func testATwoDimensionalFixHasNoAltitude() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver(mode: 2))
            let fix = try await first(1, of: daemon.source)[0]
            XCTAssertEqual(fix.coordinate.latitude, 52.52, accuracy: 1e-7)
            XCTAssertNil(fix.altitude)
        }
    }

    func testSouthAndWestAreNegative() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver(place: "3352.1160,S,07039.2840,W"))
            let fix = try await first(1, of: daemon.source)[0]
            XCTAssertEqual(fix.coordinate.latitude, -33.8686, accuracy: 1e-7)
            XCTAssertEqual(fix.coordinate.longitude, -70.6547333, accuracy: 1e-6)
        }
    }

    func testTheSourceDeliversNothingWithoutAFix() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver(isSearching: 20, place: "5231.2000,N,01324.6000,E"))
            let fix = try await first(1, of: daemon.source)[0]
            XCTAssertEqual(fix.coordinate.latitude, 52.52, accuracy: 1e-7, "the first delivered fix")
        }
    }

    // MARK: - Reconnection

    func testTheStreamContinuesAfterAGpsdRestart() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver())
            var fixes = daemon.source.fixes().makeAsyncIterator()
            _ = try await fixes.next()
            daemon.kill()
            try daemon.start(NMEAReceiver(place: "4807.0380,N,01131.0000,E"))
            // The stream may have more fixes of the first gpsd.
            let limit = ContinuousClock.now + Bounded.longest
            var fix = try await fixes.next()
            while let earlier = fix, earlier.coordinate.latitude > 50 {
                guard ContinuousClock.now < limit else { return XCTFail("no position of the later gpsd") }
                fix = try await fixes.next()
            }
            XCTAssertEqual(try XCTUnwrap(fix, "the stream ended").coordinate.latitude, 48.1173, accuracy: 1e-7)
        }
    }

    func testTheStreamThrowsIfGpsdDoesNotReturn() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver())
            var source = daemon.source
            source.patience = .zero
            var fixes = source.fixes().makeAsyncIterator()
            _ = try await fixes.next()
            daemon.kill()
            do {
                while try await fixes.next() != nil {}
                XCTFail("the stream ended without an error")
            } catch let error as GPSDError {
                guard case .connectionLost("127.0.0.1", daemon.port, _) = error else { return XCTFail("\(error)") }
                let text = error.description
                XCTAssertTrue(text.contains("127.0.0.1:\(daemon.port) was lost"), text)
                XCTAssertTrue(text.contains("systemctl status gpsd"), text)
            }
        }
    }

    func testTheErrorForAMissingGpsdNamesTheCommandToStartIt() async throws {
        let port = try TestPort.free()
        let error = try await failure(of: GPSDSource(host: "127.0.0.1", port: port))
        XCTAssertEqual(error, .unreachable(host: "127.0.0.1", port: port))
        let text = error?.description ?? ""
        XCTAssertTrue(text.contains("systemctl start gpsd.socket") && text.contains("gpsd -n /dev/"), text)
    }

    func testTheErrorNamesAnUnknownHost() async throws {
        let error = try await failure(of: GPSDSource(host: "no..host"))
        XCTAssertEqual(error, .unknownHost("no..host"))
        let text = error?.description ?? ""
        XCTAssertTrue(text.contains("'no..host'") && text.contains("correct the name"), text)
    }

    func testAServerWithoutAGreetingIsNoGpsd() async throws {
        let listener = try LoopbackListener()
        var source = GPSDSource(host: "127.0.0.1", port: listener.port)
        source.greetingTime = .milliseconds(100)
        let error = try await failure(of: source)
        XCTAssertEqual(error, .noAnswer(host: "127.0.0.1", port: listener.port))
        let text = error?.description ?? ""
        XCTAssertTrue(text.contains("127.0.0.1:\(listener.port) is not gpsd") && text.contains("2947"), text)
    }

    func testTheErrorNamesAFailedSystemCallAndTheReason() {
        let error = GPSDError.system(call: "pipe", number: EMFILE)
        XCTAssertEqual(error.description, "pipe failed: Too many open files (error 24).")
        let lost = GPSDError.connectionLost(host: "::1", port: 2947, reason: "Connection reset by peer")
        XCTAssertTrue(lost.description.contains("(Connection reset by peer)"), lost.description)
    }

    func testACancelledStreamEndsImmediatelyAndClosesTheConnection() async throws {
        let listener = try LoopbackListener()
        let source = GPSDSource(host: "127.0.0.1", port: listener.port)
        let task = Task { for try await _ in source.fixes() {} }
        let connection = try listener.accept()
        connection.send(#"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n")
        task.cancel()
        try await Bounded.wait(for: "the end of the stream") { try await task.value }
        let asked = try connection.readToEnd()
        XCTAssertTrue(asked.contains("?WATCH="), asked)
    }

    // MARK: - In a session

    func testASessionDeliversOutdoorPositions() async throws {
        try await withDaemon { daemon in
            try daemon.start(NMEAReceiver())
            let radio = ScriptedSource()
            let localizer = Localizer(source: radio, gnss: daemon.source, venues: VenueLibrary([]))
            let positions = localizer.outdoorPositions
            await localizer.start()
            let position = try await Bounded.wait(for: "an outdoor position") {
                for await position in positions { return position }
                throw StageError("the stream ended")
            }
            XCTAssertEqual(position.coordinate.latitude, 52.52, accuracy: 1e-7)
            XCTAssertEqual(position.radius, 19 * 1.2 * 0.6167, accuracy: 0.01)
            await localizer.stop()
        }
    }
}
