import Foundation
import GPSDReceiving
import Glibc
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

    /// gpsd without a receiver is silent, and may be restarted after an hour.
    func testThePatienceBeginsWithTheLossOfTheConnection() {
        var absence = GPSDAbsence(patience: .seconds(30))
        XCTAssertFalse(absence.continues(after: false, at: Instant(seconds: 10)), "there was no connection")
        for loss in [3600.0, 7200] {
            XCTAssertTrue(absence.continues(after: true, at: Instant(seconds: loss)))
            XCTAssertTrue(absence.continues(after: false, at: Instant(seconds: loss + 29)))
            XCTAssertFalse(absence.continues(after: false, at: Instant(seconds: loss + 30)))
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
        let source = GPSDaemon.source(at: port)
        let gpsfake = process.processIdentifier
        let fix = try await Bounded.wait(for: "a position") {
            try await Self.firstFix(of: source, from: gpsfake, errors: errors)
        }
        XCTAssertEqual(fix.coordinate.latitude, 52.52, accuracy: 1e-7)
        XCTAssertEqual(fix.coordinate.longitude, 13.41, accuracy: 1e-7)
        XCTAssertEqual(fix.accuracy, 19 * 1.2 * 0.6167, accuracy: 0.01)
    }
}

/// The real gpsd on loopback, with a receiver that the test controls.
final class GPSDaemon {
    let port: UInt16
    private let receiver: LoopbackListener
    private var process: Process?
    private var feed: Task<Void, Never>?

    init() throws {
        receiver = try LoopbackListener()
        port = try TestPort.free()
    }

    /// The source that connects to the daemon.
    var source: GPSDSource { Self.source(at: port) }

    static func source(at port: UInt16) -> GPSDSource {
        var source = GPSDSource(host: "127.0.0.1", port: port)
        // On a busy machine, gpsd may take long to greet, and to start again.
        source.greetingTime = Bounded.longest
        source.patience = Bounded.longest
        return source
    }

    /// Starts gpsd and waits until it has opened the receiver; it already listens at that time.
    func start(_ content: NMEAReceiver) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/gpsd")
        process.arguments = ["-N", "-n", "-S", "\(port)", "tcp://127.0.0.1:\(receiver.port)"]
        process.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try process.run() }
        self.process = process
        deliver(content, over: try receiver.accept())
    }

    /// Sends cycles at a rate that gpsd can process.
    private func deliver(_ content: NMEAReceiver, over connection: LoopbackConnection) {
        feed = Task {
            for second in 0... {
                guard connection.send(content.cycle(second % 86_400)) else { return }
                do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
            }
        }
    }

    /// Kills gpsd without notice to its clients.
    func kill() {
        feed?.cancel()
        guard let process, process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// A socket that listens on loopback, on a port that the kernel chooses. Its waits have a time limit.
final class LoopbackListener {
    /// The time limit of a wait in milliseconds.
    private static let patience = Int32(Bounded.longest.seconds * 1000)

    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | listen(descriptor, 8) | getsockname(descriptor, $0, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard result == 0 else { throw StageError("no port on loopback: error \(errno)") }
    }

    deinit { close(descriptor) }

    /// Returns the next connection.
    func accept() throws -> LoopbackConnection {
        guard Self.isReadable(descriptor) else { throw StageError("no client connects") }
        return LoopbackConnection(descriptor: Glibc.accept(descriptor, nil, nil))
    }

    static func isReadable(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, patience) == 1
    }
}

/// One end of a connection on loopback.
final class LoopbackConnection: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Sends a text. Returns false if the other end has closed the connection.
    @discardableResult func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads until the other end closes the connection, and returns the received text.
    func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard LoopbackListener.isReadable(descriptor) else { throw StageError("the connection stays open") }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }
}

/// An error in the setup of a test.
struct StageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A satellite receiver that sends NMEA 0183 sentences as fast as the client reads them.
struct NMEAReceiver: Sendable {
    var mode = 3
    /// The number of seconds without a fix at the start.
    var isSearching = 0
    /// Degrees and minutes in the form of the sentences: 52.52° north, 13.41° east.
    var place = "5231.2000,N,01324.6000,E"
    var horizontalDilution = 1.2

    /// Returns the sentences for one second of the receiver's time.
    func cycle(_ second: Int) -> String {
        let digits = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let time = digits.joined() + ".00"
        let satellites = (1...8).map { "0\($0)" }.joined(separator: ",")
        if second < isSearching {
            return Self.sentence("GPGGA,\(time),,,,,0,00,99.9,,M,,M,,")
                + Self.sentence("GPGSA,A,1,,,,,,,,,,,,,99.9,99.9,99.9")
                + Self.sentence("GPRMC,\(time),V,,,,,,,211126,,")
        }
        let height = mode == 3 ? "48.0,M,46.0,M" : ",M,,M"
        return Self.sentence("GPGGA,\(time),\(place),1,08,\(horizontalDilution),\(height),,")
            + Self.sentence("GPGSA,A,\(mode),\(satellites),,,,,2.0,\(horizontalDilution),1.6")
            + Self.sentence("GPRMC,\(time),A,\(place),2.00,045.0,211126,,")
    }

    private static func sentence(_ text: String) -> String {
        let sum = text.utf8.reduce(0, ^)
        let digits = String(sum, radix: 16, uppercase: true)
        return "$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n"
    }
}
