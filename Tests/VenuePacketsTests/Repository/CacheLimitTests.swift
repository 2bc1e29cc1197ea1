import Foundation
import IndoorLocalization
import VenuePackets
import XCTest

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
