import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// A process that replaces a packet again and again is killed, and what it leaves is looked at.
final class CacheKillTests: XCTestCase {
    /// The program lies beside the one that the tests are in.
    private func start(_ cache: String, _ scratch: String, first: Int, count: Int) throws -> (Process, FileHandle) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let folder = tests.resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = folder.appending(path: "KilledProcess")
        process.arguments = ["cache", cache, scratch, "\(first)", "\(count)"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    /// A new empty folder in memory where there is one, as a disk makes each replacement wait.
    private func memoryFolder() throws -> String {
        let memory = "/dev/shm"
        guard FileManager.default.isWritableFile(atPath: memory) else { return try temporaryFolder() }
        let path = memory + "/venue-packets-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Asserts that the venue's files are those of its version.
    private func assertWhole(_ venue: Venue, _ context: String) throws {
        let plan = try Data(contentsOf: URL(filePath: try XCTUnwrap(venue.maps.first?.imagePath)))
        let expected = Data(String(repeating: "\(venue.version) ", count: 10_000).utf8)
        XCTAssertEqual(plan.count, expected.count, context)
        XCTAssertTrue(plan == expected, context)
    }

    func testAKillAtAnyInstantLeavesTheOldVersionOrTheNewOne() async throws {
        let seed: UInt64 = 4_711
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let (cache, scratch) = (try memoryFolder(), try memoryFolder())
        var version = 0
        var killsInBetween = 0
        var round = 0
        // On a busy machine, fewer of the kills come in the middle of a replacement.
        while round < 200 || killsInBetween <= 20 && round < 1_000 {
            round += 1
            let (process, output) = try start(cache, scratch, first: version + 1, count: 1_000_000)
            // It is running once it has printed two versions; the kill comes during the next replacement, or a bit
            // later.
            var told = output.availableData
            let start = ContinuousClock.now
            told += output.availableData
            let replacement = start.duration(to: .now).seconds
            let microseconds = UInt32((replacement * 1e6 * Double.random(in: 0..<1.5, using: &random)).rounded())
            usleep(min(microseconds, 200_000))
            kill(process.processIdentifier, SIGKILL)
            told += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            let context = "round \(round), killed after \(microseconds) µs, seed \(seed)"
            let stored = try XCTUnwrap(
                String(decoding: told, as: UTF8.self).split(separator: "\n").last.flatMap { Int($0) }, context)
            if try !FileManager.default.contentsOfDirectory(atPath: cache + "/staging").isEmpty { killsInBetween += 1 }
            let repository = VenueRepository(cache: cache)
            let venue = try await repository.venue(1)
            try assertWhole(venue, context)
            // The version that was printed last, or the next one if the kill came before it was printed.
            XCTAssertTrue((stored...stored + 1).contains(venue.version), "\(venue.version), told \(stored): \(context)")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [], context)
            XCTAssertEqual(
                try FileManager.default.contentsOfDirectory(atPath: cache + "/venues/1"), ["\(venue.version)"], context)
            version = venue.version
        }
        XCTAssertGreaterThan(version, 400)
        // Else the kills would prove nothing: so many came while something was being made or removed.
        print("\(killsInBetween) of \(round) kills came in the middle of a replacement")
        XCTAssertGreaterThan(killsInBetween, 20)
    }

    func testProcessesThatShareACacheDoNotHarmEachOther() async throws {
        let cache = try temporaryFolder()
        let writers = try (0..<3).map { _ in try start(cache, try temporaryFolder(), first: 1, count: 60) }
        // Each look at the cache below sweeps it too, while the writers make, place and remove.
        var seen: [Int] = []
        while writers.contains(where: { $0.0.isRunning }) {
            guard FileManager.default.fileExists(atPath: cache + "/venues/1") else { continue }
            let repository = VenueRepository(cache: cache)
            guard let venue = try? await repository.venue(1) else { continue }
            try assertWhole(venue, "version \(venue.version)")
            seen.append(venue.version)
        }
        for (process, output) in writers {
            let told = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            XCTAssertEqual(process.terminationStatus, 0, String(told.suffix(300)))
        }
        XCTAssertEqual(seen, seen.sorted())
        XCTAssertGreaterThan(Set(seen).count, 3, "\(seen)")
        let last = try await VenueRepository(cache: cache).venue(1)
        XCTAssertEqual(last.version, 60)
    }
}
