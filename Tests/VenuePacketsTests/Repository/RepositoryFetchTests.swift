import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import VenuePackets
import XCTest

/// A repository against a real nginx that has nothing to complain about.
final class RepositoryFetchTests: XCTestCase {
    func testAVenueIsFetchedWithFilesThatCanBeOpened() async throws {
        let server = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testProgressGoesFromZeroToOneAndNeverDecreases() async throws {
        let server = try nginx(serving: try publishedFolder(imageSize: 3_000_000))
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let told = Collected<Double>()
        _ = try await repository.venue(1) { told.append($0) }
        XCTAssertEqual(told.all.first, 0)
        XCTAssertEqual(told.all.last, 1)
        XCTAssertEqual(told.all, told.all.sorted())
        XCTAssertEqual(told.all.count, Set(told.all).count)
        XCTAssertGreaterThan(told.all.count, 10)
    }

    func testTheRepositoryReturnsTheServersCatalogue() async throws {
        let server = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url() + "/"))
        let catalogue = try await repository.catalogue()
        let uuid = BeaconUUID(high: 1, low: 1)
        let expected = VenueSummary(
            id: 1, name: "Kiosk 1", version: 3, coordinate: Coordinate(latitude: 50, longitude: 8), radius: 40,
            regions: [
                BeaconRegion(uuid: uuid, major: 5, minor: 1), BeaconRegion(uuid: uuid, major: 5, minor: 2),
            ])
        XCTAssertEqual(catalogue, [expected])
    }

    func testAStoredVenueIsNotFetchedAgain() async throws {
        let server = try nginx(serving: try publishedFolder())
        let cache = try temporaryFolder()
        for _ in 1...2 {
            let repository = VenueRepository(cache: cache, server: try VenueServer(server.url()))
            _ = try await repository.catalogue()
            try assertWhole(try await repository.venue(1), version: 3)
        }
        let requests = try server.stopAndTellRequests()
        XCTAssertEqual(requests.map(\.status), [200, 200, 200, 200, 304])
        XCTAssertEqual(requests.filter { $0.path == "/catalogue.json" }.count, 2)
    }

    func testTheCatalogueIsCompressedAndRequestedWithItsTag() async throws {
        let root = try publishedFolder()
        let gzip = NginxServer.Configuration(http: "gzip on; gzip_types application/json; gzip_min_length 1;")
        let server = try nginx(serving: root, gzip)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let first = try await repository.catalogue()
        let second = try await repository.catalogue()
        XCTAssertEqual(first.map(\.version), [3])
        XCTAssertEqual(first, second)
        let requests = try server.stopAndTellRequests()
        XCTAssertEqual(requests.map(\.status), [200, 304])
        XCTAssertEqual(requests.first?.encoding, "gzip")
        XCTAssertTrue(requests.last?.unless.hasPrefix("W/\"") ?? false, "\(requests)")
    }

    func testANewVersionReplacesTheOldOne() async throws {
        let root = try publishedFolder()
        let server = try nginx(serving: root)
        let cache = try temporaryFolder()
        let address = try VenueServer(server.url())
        _ = try await VenueRepository(cache: cache, server: address).venue(1)
        try publish(version: 4, in: root)
        let repository = VenueRepository(cache: cache, server: address)
        _ = try await repository.catalogue()
        try assertWhole(try await repository.venue(1), version: 4)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/venues/1"), ["4"])
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [])
        // The tiles are the same: they came once.
        let paths = try server.stopAndTellRequests().map(\.path)
        XCTAssertEqual(paths.filter { $0.hasSuffix(".png") }.count, 2, "\(paths)")
        XCTAssertEqual(paths.filter { $0.hasPrefix("/files/") && $0.hasSuffix(".zip") }.count, 1, "\(paths)")
    }

    func testAVersionThatIsNotNewerIsIgnored() async throws {
        let cache = try temporaryFolder()
        let newer = try temporaryFolder()
        try publish(version: 9, in: newer)
        let first = try nginx(serving: newer)
        _ = try await VenueRepository(cache: cache, server: try VenueServer(first.url())).venue(1)
        let second = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(cache: cache, server: try VenueServer(second.url()))
        let versions = try await repository.catalogue().map(\.version)
        XCTAssertEqual(versions, [9])
        try assertWhole(try await repository.venue(1), version: 9)
        XCTAssertEqual(try second.stopAndTellRequests().map(\.path), ["/catalogue.json"])
    }

    func testTheFilesOfAVenueInUseAreKeptWhileANewVersionIsFetched() async throws {
        let root = try publishedFolder()
        let server = try nginx(serving: root)
        let cache = try temporaryFolder()
        let address = try VenueServer(server.url())
        let user = VenueRepository(cache: cache, server: address)
        let inUse = try await user.packet(for: 1) { _ in }
        try publish(version: 4, in: root)
        let other = VenueRepository(cache: cache, server: address)
        _ = try await other.catalogue()
        try assertWhole(try await other.venue(1), version: 4)
        try assertWhole(inUse, version: 3)
        withExtendedLifetime(user) {}
    }

    func testAnUnknownVenueHasItsOwnError() async throws {
        let server = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let error = await repositoryError { try await repository.venue(99) }
        XCTAssertEqual(error, .unknownVenue(99))
    }

    func testConcurrentRequestsForAVenueShareOneDownload() async throws {
        let server = try nginx(serving: try publishedFolder(imageSize: 1_000_000))
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let versions = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<5 { group.addTask { try await repository.venue(1).version } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(versions, [3, 3, 3, 3, 3])
        let requests = try server.stopAndTellRequests()
        XCTAssertEqual(requests.filter { $0.path.hasSuffix(".png") }.count, 1)
    }

    func testAPacketWithAllFilesInItsZipIsAccepted() async throws {
        let root = try temporaryFolder()
        let packet = try temporaryFolder()
        try SampleVenue.write(version: 3, to: packet)
        try VenuePacketWriter().pack(folder: packet, toZip: root + "/kiosk.zip")
        let zip = try Data(contentsOf: URL(filePath: root + "/kiosk.zip"))
        let digest = try sha256(of: root + "/kiosk.zip")
        let catalogue = """
            {"format": "indoor-localization-catalogue", "formatVersion": 1, "venues": [{"id": 1, "name": "Kiosk",
             "version": 3, "regions": [], "packet": "kiosk.zip", "size": \(zip.count), "sha256": "\(digest)"}]}
            """
        try write(["catalogue.json": catalogue], to: root)
        let server = try nginx(serving: root)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }
}
