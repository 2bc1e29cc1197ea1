import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import ScanRecording
import VenuePackets
import XCTest

/// What a repository does without a network: the server's port is closed.
final class RepositoryOfflineTests: XCTestCase {
    private func deadServer() throws -> VenueServer {
        var patience = RetryPolicy()
        patience.attempts = 1
        return try VenueServer("http://127.0.0.1:\(try TestPort.free())", patience: patience)
    }

    func testWithoutCacheAndNetworkThereIsNoVenue() async throws {
        let repository = VenueRepository(cache: try temporaryFolder(), server: try deadServer())
        let error = await repositoryError { try await repository.venue(1) }
        guard case .unreachable = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertEqual(error?.kind, .noNetwork)
        XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
    }

    func testWithACacheAVenueNeedsNoNetwork() async throws {
        let cache = try temporaryFolder()
        let server = try nginx(serving: try publishedFolder())
        let address = try VenueServer(server.url())
        _ = try await VenueRepository(cache: cache, server: address).venue(1)
        server.stop()
        try assertWhole(try await VenueRepository(cache: cache, server: address).venue(1), version: 3)
        try assertWhole(try await VenueRepository(cache: cache).venue(1), version: 3)
    }

    func testABundledVersionThatIsNotGreaterIsIgnored() async throws {
        let cache = try temporaryFolder()
        let stored = try bundledPacket(version: 5)
        _ = try await VenueRepository(cache: cache, bundled: [stored]).venue(1)
        for version in [4, 5] {
            var bundle = try bundledPacket(version: version)
            // It is not even opened: were it, this would be an error.
            bundle.path += "/missing"
            let errors = try await reportedErrors(of: VenueRepository(cache: cache, bundled: [bundle])) { repository in
                try assertWhole(try await repository.venue(1), version: 5)
            }
            XCTAssertEqual(errors, [], "version \(version)")
        }
        let newer = try bundledPacket(version: 6)
        try assertWhole(try await VenueRepository(cache: cache, bundled: [newer]).venue(1), version: 6)
    }

    func testABundledPacketAllowsAFirstStartWithoutANetwork() async throws {
        for isZip in [false, true] {
            var bundle = try bundledPacket(version: 2)
            if isZip {
                let zip = try temporaryFolder() + "/kiosk.zip"
                try VenuePacketWriter().pack(folder: bundle.path, toZip: zip)
                bundle = try BundledPacket(path: zip)
            }
            let repository = VenueRepository(
                cache: try temporaryFolder(), server: try deadServer(), bundled: [bundle])
            let catalogue = try await repository.catalogue()
            XCTAssertEqual(catalogue.map(\.id), [1])
            XCTAssertEqual(catalogue.first?.regions.count, 2)
            try assertWhole(try await repository.packet(for: 1) { _ in }, version: 2)
        }
    }

    func testTheServersNewerVersionIsUsedInsteadOfTheBundledOne() async throws {
        let server = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(
            cache: try temporaryFolder(), server: try VenueServer(server.url()),
            bundled: [try bundledPacket(version: 2)])
        // Not asked for the catalogue, it gives what it has.
        try assertWhole(try await repository.venue(1), version: 2)
        XCTAssertEqual(try server.stopAndTellRequests(), [])
        let other = try nginx(serving: try publishedFolder())
        let online = VenueRepository(
            cache: try temporaryFolder(), server: try VenueServer(other.url()),
            bundled: [try bundledPacket(version: 2)])
        _ = try await online.catalogue()
        try assertWhole(try await online.venue(1), version: 3)
    }

    func testABrokenBundleIsReportedAndTheServerAsked() async throws {
        let server = try nginx(serving: try publishedFolder())
        let bundle = BundledPacket(path: try temporaryFolder(), venueID: 1, version: 9)
        let cache = try temporaryFolder()
        let address = try VenueServer(server.url())
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address, bundled: [bundle])) {
            try assertWhole(try await $0.venue(1), version: 3)
        }
        XCTAssertEqual(errors.map(\.code), [.generic])
        XCTAssertTrue(errors.first?.description.contains("there is no venue.json") ?? false, "\(errors)")
    }

    func testTheStoredCatalogueStartsASessionAndTheFailureIsReported() async throws {
        let root = try publishedFolder()
        try publish(id: 2, version: 1, in: root)
        let cache = try temporaryFolder()
        let server = try nginx(serving: root)
        var patience = RetryPolicy()
        patience.attempts = 1
        let address = try VenueServer(server.url(), patience: patience)
        let known = try await VenueRepository(cache: cache, server: address).catalogue()
        XCTAssertEqual(known.map(\.id), [1, 2])
        server.stop()
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
            let offline = try await repository.catalogue()
            XCTAssertEqual(offline, known)
            // Known but not stored, so it cannot be fetched now.
            do throws(LocalizationError) {
                _ = try await repository.packet(for: 2) { _ in }
                XCTFail("nothing was thrown")
            } catch { XCTAssertEqual(error.code, .network) }
        }
        XCTAssertEqual(errors.map(\.code), [.network])
        XCTAssertTrue(errors.first?.message.hasSuffix("; going on with the stored catalogue") ?? false, "\(errors)")
    }

    func testTheCatalogueOfAnotherServerIsNotUsed() async throws {
        let cache = try temporaryFolder()
        let server = try nginx(serving: try publishedFolder())
        _ = try await VenueRepository(cache: cache, server: try VenueServer(server.url())).catalogue()
        let other = VenueRepository(cache: cache, server: try deadServer())
        do throws(LocalizationError) {
            _ = try await other.catalogue()
            XCTFail("nothing was thrown")
        } catch { XCTAssertEqual(error.code, .network) }
    }

    func testASessionGetsItsVenueFromTheServerWithTilesThatCanBeOpened() async throws {
        let root = try temporaryFolder()
        _ = try VenuePublisher(folder: root).publish([try FixtureFolder("office").path])
        let server = try nginx(serving: root)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let walk = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        let localizer = Localizer(source: RecordingSource(path: walk), venues: repository)
        let states = localizer.states
        await localizer.start()
        var progress: [Double] = []
        var tiles: String?
        for await state in states.dropFirst() {
            if case .getPacket(_, let fraction) = state { progress.append(fraction) }
            if case .localizationRunning(let running) = state { tiles = tiles ?? running.tilesPath }
            if state == .idle { break }
        }
        XCTAssertEqual(progress.last, 1)
        XCTAssertEqual(progress, progress.sorted())
        let bytes = try Data(contentsOf: URL(filePath: try XCTUnwrap(tiles)))
        XCTAssertEqual(bytes, try Data(contentsOf: URL(filePath: FixtureFolder("office").file("tiles/ground.zip"))))
    }
}
