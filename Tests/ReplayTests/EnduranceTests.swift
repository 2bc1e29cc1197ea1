import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// Work that is repeated many times in a separate process, whose memory, threads and descriptors no other test changes.
///
/// `.ci/soak` runs longer forms.
final class EnduranceTests: XCTestCase {
    private struct Usage: Decodable {
        var heapBytes, residentKilobytes, threads, descriptors: Int
    }

    private struct Cycles: Decodable {
        var cycles, survivors: Int
        var before, after: Usage
    }

    private struct Day: Decodable {
        var hours, heapBytesPerHour, firstError, lastError: Double
        var rounds, readings, positions, droppedElements: Int
        var errors: [String]
        var before, after: Usage
    }

    /// Runs the program, which is in the folder of the test program, and returns its report.
    private func report<Report: Decodable>(_ arguments: String...) throws -> Report {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "EnduranceRunner")
        process.currentDirectoryURL = URL(filePath: try FixtureFolder("office").path)
        process.arguments = arguments
        // glibc keeps freed memory for each thread, and counts it as allocated: up to 330 kB of it were seen with 2.43.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"]
        ) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        return try JSONDecoder().decode(Report.self, from: data)
    }

    /// - Parameter sleeps: the bytes of cancelled sleeps per cycle, which the runtime keeps until their deadlines.
    private func assertNothingRemains(of subject: String, _ cycles: Int, sleeps: Int = 0, line: UInt = #line) throws {
        // The smallest object has 32 bytes. One that is left by each cycle exceeds the limit.
        // What a library allocates once may fall into the measured part: up to 134 kB were seen, and 322 kB on a busy
        // machine. Such memory doesn't grow in each of three processes; what is left by the cycles does.
        let limit = max(192 * 1024, 16 * cycles) + sleeps * cycles
        var report: Cycles
        var attempts = 0
        repeat {
            report = try self.report("cycles", subject, "\(cycles)")
            attempts += 1
        } while report.after.heapBytes - report.before.heapBytes >= limit && attempts < 3
        XCTAssertEqual(report.cycles, cycles, line: line)
        XCTAssertEqual(report.survivors, 0, "objects of \(subject)", line: line)
        XCTAssertLessThan(report.after.heapBytes - report.before.heapBytes, limit, subject, line: line)
        XCTAssertLessThanOrEqual(report.after.threads, report.before.threads + 2, subject, line: line)
        XCTAssertLessThanOrEqual(report.after.descriptors, report.before.descriptors, subject, line: line)
    }

    func testAThousandSessionsLeaveNothingBehind() throws { try assertNothingRemains(of: "localizer", 1_000) }

    func testTwoThousandScansLeaveNothingBehind() throws { try assertNothingRemains(of: "scanner", 2_000) }

    func testFiveHundredHostsOfPluginsLeaveNothingBehind() throws { try assertNothingRemains(of: "plugins", 500) }

    func testFiveHundredLiveMapsLeaveNothingBehind() throws {
        try assertNothingRemains(of: "liveMap", 500, sleeps: 4096)
    }

    func testThirtyConnectionsToABrokerLeaveNothingBehind() throws {
        try assertNothingRemains(of: "sharing", 30, sleeps: 4096)
    }

    func testAQuarterOfAnHourOfWalkingNeedsNoMoreMemoryAndGivesTheSameAnswers() throws {
        let limit = 256 * 1024
        var report: Day
        var attempts = 0
        // As with the cycles, what a library allocates once may fall into the measured part.
        repeat {
            report = try self.report("day", "0.25", "200")
            attempts += 1
        } while report.after.heapBytes - report.before.heapBytes >= limit && attempts < 3
        XCTAssertGreaterThanOrEqual(report.rounds, 4)
        XCTAssertGreaterThan(report.positions, 800)
        XCTAssertEqual(report.droppedElements, 0)
        XCTAssertEqual(report.errors, [])
        XCTAssertLessThan(report.firstError, 3)
        XCTAssertEqual(report.lastError, report.firstError, accuracy: 0.5)
        XCTAssertLessThan(report.after.heapBytes - report.before.heapBytes, limit)
        XCTAssertEqual(report.after.threads, report.before.threads, accuracy: 2)
        XCTAssertEqual(report.after.descriptors, report.before.descriptors)
    }
}
