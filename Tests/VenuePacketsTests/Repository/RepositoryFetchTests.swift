import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import ScanRecording
import TemporaryFiles
import VenuePackets
import XCTest

/// A repository against a real nginx that has nothing to complain about.
final class RepositoryFetchTests: XCTestCase {
    func testAVenueIsFetchedWithFilesThatCanBeOpened() async throws {
        let server = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testProgressGoesFromZeroToOneAndNeverDecreases() async throws {
        let server = try nginx(serving: try publishedFolder(imageSize: 3_000_000))
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
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
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url() + "/"))
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
            let repository = VenueRepository(cache: cache, server: try awaitedServer(server.url()))
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
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
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
        let address = try awaitedServer(server.url())
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
        _ = try await VenueRepository(cache: cache, server: try awaitedServer(first.url())).venue(1)
        let second = try nginx(serving: try publishedFolder())
        let repository = VenueRepository(cache: cache, server: try awaitedServer(second.url()))
        let versions = try await repository.catalogue().map(\.version)
        XCTAssertEqual(versions, [9])
        try assertWhole(try await repository.venue(1), version: 9)
        XCTAssertEqual(try second.stopAndTellRequests().map(\.path), ["/catalogue.json"])
    }

    func testTheFilesOfAVenueInUseAreKeptWhileANewVersionIsFetched() async throws {
        let root = try publishedFolder()
        let server = try nginx(serving: root)
        let cache = try temporaryFolder()
        let address = try awaitedServer(server.url())
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
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        let error = await repositoryError { try await repository.venue(99) }
        XCTAssertEqual(error, .unknownVenue(99))
    }

    func testConcurrentRequestsForAVenueShareOneDownload() async throws {
        let server = try nginx(serving: try publishedFolder(imageSize: 1_000_000))
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
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
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }
}

/// What the answers of a real nginx mean.
final class RepositoryStatusTests: XCTestCase {
    /// A repository over an nginx that answers everything, or only packets, with that line.
    private func repository(
        answering line: String, onlyPackets: Bool = false, attempts: Int = 1,
        credentials: VenueServerCredentials? = nil, clock: some Clock<Duration>
    ) throws -> (VenueRepository, NginxServer) {
        var configuration = NginxServer.Configuration()
        if onlyPackets { configuration.server = "location /venues/ { \(line) }" } else { configuration.location = line }
        let server = try nginx(serving: try publishedFolder(), configuration)
        var patience = RetryPolicy()
        patience.attempts = attempts
        let address = try awaitedServer(server.url(), patience, credentials: credentials)
        return (VenueRepository(cache: try temporaryFolder(), server: address, clock: clock, seed: 1), server)
    }

    func testRefusedCredentialsEndASession() async throws {
        for (status, credentials) in [(401, nil), (401, .bearer("old")), (403, .bearer("old"))]
            as [(Int, VenueServerCredentials?)]
        {
            for onlyPackets in [false, true] {
                let (repository, server) = try repository(
                    answering: "return \(status);", onlyPackets: onlyPackets, attempts: 3, credentials: credentials,
                    clock: ManualClock())
                let error = await repositoryError { try await repository.venue(1) }
                XCTAssertEqual(error?.statusCode, status)
                let told = error.map { LocalizationError($0) }
                XCTAssertEqual(told?.code, .credential)
                XCTAssertEqual(told?.kind, .invalidCredentials)
                XCTAssertEqual(told?.httpStatus, status)
                XCTAssertEqual(try server.stopAndTellRequests().filter { $0.status == status }.count, 1)
            }
        }
    }

    func testARefusalReportsWhetherCredentialsWereGiven() async throws {
        let server = try nginx(serving: try publishedFolder(), NginxServer.Configuration(location: "return 403;"))
        for (credentials, text) in [
            (nil, "no credentials were given"), (.bearer("wrong"), "correct the token or password"),
        ] as [(VenueServerCredentials?, String)] {
            let address = try awaitedServer(server.url(), credentials: credentials)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            let error = await repositoryError { try await repository.venue(1) }
            XCTAssertTrue(error?.description.contains(text) ?? false, "\(String(describing: error))")
        }
    }

    func testStatus403WithoutCredentialsIsANetworkErrorThatNamesBothCauses() async throws {
        for onlyPackets in [false, true] {
            let (repository, _) = try repository(
                answering: "return 403;", onlyPackets: onlyPackets, clock: ManualClock())
            let error = await repositoryError { try await repository.venue(1) }
            guard case .failed(403, _) = error else { return XCTFail("\(String(describing: error))") }
            let told = error.map { LocalizationError($0) }
            XCTAssertEqual(told?.code, .network)
            XCTAssertEqual(told?.kind, .contentUnavailable)
            XCTAssertEqual(told?.httpStatus, 403)
            XCTAssertTrue(
                told?.message.contains("has the file and may read it") ?? false, "\(String(describing: told))")
        }
    }

    func testTheErrorOfAMissingCatalogueQuestionsTheAddress() async throws {
        let (repository, _) = try repository(answering: "return 404;", clock: ManualClock())
        let error = await repositoryError { try await repository.venue(1) }
        let text = error?.description ?? ""
        XCTAssertTrue(text.contains("is the server's address right?"), text)
    }

    func testAStatusOtherThanSuccessIsANetworkErrorWithTheStatus() async throws {
        let answers: [(Int, Int, LocalizationError.Kind)] = [
            (400, 1, .badRequest), (404, 1, .contentUnavailable), (407, 1, .proxyRefused),
            (500, 3, .serviceUnavailable), (503, 3, .serviceUnavailable), (504, 3, .timedOut),
        ]
        for (status, expectedAttempts, kind) in answers {
            let clock = ManualClock()
            let (repository, server) = try repository(answering: "return \(status);", attempts: 3, clock: clock)
            let ticking = Task { while true { clock.advance(to: try await clock.waitForSleeper()) } }
            let error = await repositoryError { try await repository.venue(1) }
            ticking.cancel()
            XCTAssertEqual(error, .failed(status: status, url: server.url() + "/catalogue.json"))
            let told = try XCTUnwrap(error.map { LocalizationError($0) })
            XCTAssertEqual(told.code, .network)
            XCTAssertEqual(told.kind, kind, "status \(status)")
            XCTAssertEqual(told.httpStatus, status)
            XCTAssertTrue(told.message.contains("status \(status)"), told.message)
            XCTAssertEqual(try server.stopAndTellRequests().count, expectedAttempts, "status \(status)")
        }
    }

    func testPausesBetweenAttemptsDoubleWithinTheirRange() async throws {
        let clock = ManualClock()
        let (repository, _) = try repository(answering: "return 503;", attempts: 4, clock: clock)
        let pauses = Task {
            var pauses: [Double] = []
            while pauses.count < 3 {
                let due = try await clock.waitForSleeper()
                pauses.append(clock.now.duration(to: due).seconds)
                clock.advance(to: due)
            }
            return pauses
        }
        _ = await repositoryError { try await repository.venue(1) }
        for (pause, longest) in zip(try await pauses.value, [1.0, 2, 4]) {
            XCTAssertGreaterThanOrEqual(pause, longest / 2)
            XCTAssertLessThanOrEqual(pause, longest)
        }
    }

    func testTheStoredVersionIsUsedIfANewerOneCannotBeFetched() async throws {
        let root = try publishedFolder()
        let busy = try temporaryFolder() + "/busy"
        // The first packet comes, the next one does not.
        let server = try nginx(
            serving: root, NginxServer.Configuration(server: "location /venues/ { if (-f \(busy)) { return 503; } }"))
        let cache = try temporaryFolder()
        let address = try awaitedServer(server.url())
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
            try assertWhole(try await repository.venue(1), version: 3)
            try publish(version: 4, in: root)
            try Data().write(to: URL(filePath: busy))
            _ = try await repository.catalogue()
            try assertWhole(try await repository.venue(1), version: 3)
        }
        XCTAssertEqual(errors.map(\.code), [.network])
        XCTAssertTrue(errors.first?.message.contains("status 503") ?? false, "\(errors)")
        XCTAssertTrue(errors.first?.message.hasSuffix("; going on with stored version 3") ?? false, "\(errors)")
    }

    func testAReplacedPacketIsFoundInTheNewCatalogue() async throws {
        // Object stores answer with 403 for a missing file.
        for missing in ["", "if (!-f $request_filename) { return 403; }", "if (!-f $request_filename) { return 410; }"]
        {
            let root = try publishedFolder()
            let server = try nginx(serving: root, NginxServer.Configuration(location: missing))
            let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
            _ = try await repository.catalogue()
            try FileManager.default.removeItem(atPath: root + "/venues/1")
            try publish(version: 4, in: root)
            try assertWhole(try await repository.venue(1), version: 4)
        }
    }

    func testARedirectIsFollowed() async throws {
        let target = try nginx(serving: try publishedFolder())
        let moved = NginxServer.Configuration(location: "return 302 \(target.url())$request_uri;")
        let server = try nginx(serving: try temporaryFolder(), moved)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testRedirectsInACircleAreANetworkError() async throws {
        let (repository, server) = try repository(answering: "return 302 /again;", clock: ManualClock())
        let error = await repositoryError { try await repository.venue(1) }
        XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
        XCTAssertEqual(try server.stopAndTellRequests().count, 6)
    }
}

/// What a repository does without a network: the server's port is closed.
final class RepositoryOfflineTests: XCTestCase {
    private func deadServer() throws -> VenueServer {
        var patience = RetryPolicy()
        patience.attempts = 1
        return try awaitedServer("http://127.0.0.1:\(try TestPort.free())", patience)
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
        let address = try awaitedServer(server.url())
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
            cache: try temporaryFolder(), server: try awaitedServer(server.url()),
            bundled: [try bundledPacket(version: 2)])
        // Not asked for the catalogue, it gives what it has.
        try assertWhole(try await repository.venue(1), version: 2)
        XCTAssertEqual(try server.stopAndTellRequests(), [])
        let other = try nginx(serving: try publishedFolder())
        let online = VenueRepository(
            cache: try temporaryFolder(), server: try awaitedServer(other.url()),
            bundled: [try bundledPacket(version: 2)])
        _ = try await online.catalogue()
        try assertWhole(try await online.venue(1), version: 3)
    }

    func testABrokenBundleIsReportedAndTheServerAsked() async throws {
        let server = try nginx(serving: try publishedFolder())
        let bundle = BundledPacket(path: try temporaryFolder(), venueID: 1, version: 9)
        let cache = try temporaryFolder()
        let address = try awaitedServer(server.url())
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
        let address = try awaitedServer(server.url(), patience)
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
        _ = try await VenueRepository(cache: cache, server: try awaitedServer(server.url())).catalogue()
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
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
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
