import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TemporaryFiles
import XCTest
@testable import VenuePackets

/// What a cache keeps, and what it removes.
final class CacheLimitTests: XCTestCase {
    /// Bytes of one version of a sample venue and a bit: the tiles have 5,000.
    private let oneVenue = 7_500

    private func venues(in cache: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: cache + "/venues").filter {
            try !FileManager.default.contentsOfDirectory(atPath: cache + "/venues/" + $0).isEmpty
        }.sorted()
    }

    private func bundles(_ ids: ClosedRange<Int>) throws -> [BundledPacket] {
        try ids.map { try bundledPacket(id: $0, version: 1) }
    }

    func testTheLeastRecentlyUsedVersionIsRemoved() async throws {
        let cache = try temporaryFolder()
        let bundles = try bundles(1...4)
        // Each with a repository of its own: none of them is in use any more.
        for id in [1, 2, 3] {
            let bundle = bundles[id - 1]
            _ = try await VenueRepository(cache: cache, bundled: [bundle], limit: 3 * oneVenue).venue(bundle.venueID)
        }
        XCTAssertEqual(try venues(in: cache), ["1", "2", "3"])
        _ = try await VenueRepository(cache: cache, limit: 3 * oneVenue).venue(1)
        _ = try await VenueRepository(cache: cache, bundled: [bundles[3]], limit: 3 * oneVenue).venue(4)
        XCTAssertEqual(try venues(in: cache), ["1", "3", "4"])
    }

    func testTheVenueInUseIsKeptHoweverSmallTheLimitIs() async throws {
        let cache = try temporaryFolder()
        let bundles = try bundles(1...3)
        let session = VenueRepository(cache: cache, bundled: [bundles[0]], limit: 1)
        let inUse = try await session.packet(for: 1) { _ in }
        for bundle in bundles.dropFirst() {
            let other = VenueRepository(cache: cache, bundled: [bundle], limit: 1)
            _ = try await other.venue(bundle.venueID)
        }
        XCTAssertEqual(try venues(in: cache), ["1", "3"])
        try assertWhole(inUse, version: 1)
        withExtendedLifetime(session) {}
    }

    func testASessionAndALookUpEachKeepAVenue() async throws {
        let cache = try temporaryFolder()
        let repository = VenueRepository(cache: cache, bundled: try bundles(1...4), limit: 1)
        let first = try await repository.packet(for: 1) { _ in }
        let second = try await repository.venue(2)
        let third = try await repository.venue(3)
        XCTAssertEqual(try venues(in: cache), ["1", "2", "3"])
        _ = try await repository.venue(4)
        XCTAssertEqual(try venues(in: cache), ["1", "3", "4"])
        try assertWhole(first, version: 1)
        XCTAssertEqual([second.id, third.id], [2, 3])
    }

    func testTheNextStartRemovesTheLeftoversOfAKilledProcess() async throws {
        let cache = try temporaryFolder()
        try write(
            [
                "staging/new-a1b2c3/packet/venue.json": "half", "staging/new-d4e5f6": "half",
                "staging/\(String(repeating: "a", count: 64)).part": "a download without a tag",
                "staging/.dat.nosync1234": "half",
            ], to: cache)
        _ = try await VenueRepository(cache: cache, bundled: try bundles(1...1)).venue(1)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [])
    }

    func testTheNewestUnfinishedDownloadIsKept() async throws {
        let cache = try temporaryFolder()
        let names = ["a", "b", "c"].map { String(repeating: $0, count: 64) + ".part" }
        for (age, name) in names.enumerated() {
            try write(["staging/\(name)": "bytes", "staging/\(name).tag": "\"tag\""], to: cache)
            let date = Date(timeIntervalSince1970: 1_000_000 - Double(age))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: cache + "/staging/" + name)
        }
        _ = try await VenueRepository(cache: cache, bundled: try bundles(1...1)).venue(1)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: cache + "/staging").sorted(),
            [names[0], names[0] + ".tag"])
    }

    func testADownloadInUseIsKeptWithItsTag() async throws {
        let cache = try temporaryFolder()
        let names = ["a", "b"].map { String(repeating: $0, count: 64) + ".part" }
        for (age, name) in names.enumerated() {
            try write(["staging/\(name)": "bytes", "staging/\(name).tag": "\"tag\""], to: cache)
            let date = Date(timeIntervalSince1970: 1_000_000 - Double(age))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: cache + "/staging/" + name)
        }
        let held = open(cache + "/staging/" + names[1], O_RDONLY | O_CLOEXEC)
        defer { close(held) }
        XCTAssertEqual(flock(held, LOCK_EX | LOCK_NB), 0)
        _ = try await VenueRepository(cache: cache, bundled: try bundles(1...1)).venue(1)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: cache + "/staging").sorted(),
            names.flatMap { [$0, $0 + ".tag"] })
    }

    func testADamagedPacketIsReportedAndStoredAgain() async throws {
        let cache = try temporaryFolder()
        let bundles = try bundles(1...1)
        _ = try await VenueRepository(cache: cache, bundled: bundles).venue(1)
        try write(["venues/1/1/packet/venue.json": "{"], to: cache)
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, bundled: bundles)) { repository in
            try assertWhole(try await repository.venue(1), version: 1)
        }
        XCTAssertEqual(errors.map(\.code), [.generic])
        XCTAssertTrue(errors.first?.cause?.contains("$: venue.json is not JSON") ?? false, "\(errors)")
    }

    func testAVersionWithoutItsRecordIsIgnored() async throws {
        let cache = try temporaryFolder()
        let bundles = try bundles(1...1)
        _ = try await VenueRepository(cache: cache, bundled: bundles).venue(1)
        for text in ["", "{}", "null"] {
            try write(["venues/1/1/stored.json": text], to: cache)
            let error = await repositoryError { try await VenueRepository(cache: cache).venue(1) }
            XCTAssertEqual(error, .unknownVenue(1))
        }
        try assertWhole(try await VenueRepository(cache: cache, bundled: bundles).venue(1), version: 1)
    }

    func testTheErrorOfAnUnwritableCacheNamesIt() async throws {
        let folder = try temporaryFolder()
        try write(["cache": "a file"], to: folder)
        let error = await repositoryError { try await VenueRepository(cache: folder + "/cache").venue(1) }
        guard case .storage(let path, _) = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertTrue(path.hasPrefix(folder + "/cache"), path)
    }
}

/// How often an install parses a packet, and which files it keeps.
final class InstallTests: XCTestCase {
    private let parsed = Collected<Int>()

    private func repository(
        cache: String, server: VenueServer? = nil, bundled: [BundledPacket] = []
    ) -> VenueRepository {
        VenueRepository(
            cache: cache, server: server, transport: server.map(CurlTransport.init), bundled: bundled, limit: nil,
            clock: ContinuousClock(), seed: 1, reader: VenuePacketReader { [parsed] in parsed.append($0) })
    }

    func testInstallingABundledPacketParsesItOnce() async throws {
        for isZip in [false, true] {
            var bundle = try bundledPacket(version: 2)
            if isZip {
                let zip = try temporaryFolder() + "/kiosk.zip"
                try VenuePacketWriter().pack(folder: bundle.path, toZip: zip)
                bundle.path = zip
            }
            let before = parsed.all.count
            let repository = repository(cache: try temporaryFolder(), bundled: [bundle])
            try assertWhole(try await repository.venue(1), version: 2)
            XCTAssertEqual(parsed.all.count - before, 1, "zip: \(isZip)")
        }
    }

    func testInstallingADownloadedPacketParsesItOnce() async throws {
        let server = try nginx(serving: try publishedFolder())
        let cache = try temporaryFolder()
        let address = try awaitedServer(server.url())
        try assertWhole(try await repository(cache: cache, server: address).venue(1), version: 3)
        XCTAssertEqual(parsed.all.count, 1)
        // A later repository knows the packet from its files only.
        try assertWhole(try await repository(cache: cache).venue(1), version: 3)
        XCTAssertEqual(parsed.all.count, 2)
    }

    private func parts(name: String, files: [String: String] = [:]) throws -> VenueCache.Parts {
        let folder = try temporaryFolder()
        let map = VenueMap(id: 1, name: "Ground", level: 0, width: 10, height: 10)
        try VenuePacketWriter().write(Venue(id: 1, name: name, version: 1, maps: [map]), toFolder: folder)
        return VenueCache.Parts(packet: folder, files: files, id: 1, version: 1, source: folder)
    }

    func testAVersionThatAnotherProcessHasStoredIsReadFromItsFiles() throws {
        let cache = VenueCache(path: try temporaryFolder(), limit: nil)
        try cache.prepare()
        let first = try cache.install(try parts(name: "first"))
        let second = try cache.install(try parts(name: "second"))
        XCTAssertEqual(try first.venue(VenuePacketReader()).name, "first")
        XCTAssertEqual(try second.venue(VenuePacketReader()).name, "first")
    }

    func testAFurtherFileDoesNotReplaceTheDocumentThatWasChecked() throws {
        let cache = VenueCache(path: try temporaryFolder(), limit: nil)
        try cache.prepare()
        let other = try temporaryFolder() + "/other.json"
        try Data("{}".utf8).write(to: URL(filePath: other))
        let stored = try cache.install(try parts(name: "checked", files: ["venue.json": other]))
        XCTAssertEqual(try VenuePacketReader().read(stored.packetPath).venue.name, "checked")
    }
}

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
        var (seen, written): ([Int], Int) = ([], 0)
        // On a busy machine, writers may end before the test has looked at the cache so often.
        while written == 0 || Set(seen).count <= 3 && written < 600 {
            let writers = try (0..<3).map { _ in
                try start(cache, try temporaryFolder(), first: written + 1, count: 60)
            }
            written += 60
            // Each look at the cache below sweeps it too, while the writers make, place and remove.
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
        }
        XCTAssertEqual(seen, seen.sorted())
        XCTAssertGreaterThan(Set(seen).count, 3, "\(seen)")
        let last = try await VenueRepository(cache: cache).venue(1)
        XCTAssertEqual(last.version, written)
    }
}
