import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import VenuePackets
import XCTest

/// What the answers of a real nginx mean.
final class RepositoryStatusTests: XCTestCase {
    /// A repository over an nginx that answers everything, or only packets, with that line.
    private func repository(
        answering line: String, onlyPackets: Bool = false, attempts: Int = 1, clock: some Clock<Duration>
    ) throws -> (VenueRepository, NginxServer) {
        var configuration = NginxServer.Configuration()
        if onlyPackets { configuration.server = "location /venues/ { \(line) }" } else { configuration.location = line }
        let server = try nginx(serving: try publishedFolder(), configuration)
        var patience = RetryPolicy()
        patience.attempts = attempts
        let address = try VenueServer(server.url(), patience: patience)
        return (VenueRepository(cache: try temporaryFolder(), server: address, clock: clock, seed: 1), server)
    }

    func testRefusedCredentialsEndASession() async throws {
        for status in [401, 403] {
            for onlyPackets in [false, true] {
                let (repository, server) = try repository(
                    answering: "return \(status);", onlyPackets: onlyPackets, attempts: 3, clock: ManualClock())
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
            let address = try VenueServer(server.url(), credentials: credentials)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            let error = await repositoryError { try await repository.venue(1) }
            XCTAssertTrue(error?.description.contains(text) ?? false, "\(String(describing: error))")
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
        let limited = NginxServer.Configuration(
            http: "limit_req_zone $binary_remote_addr zone=once:1m rate=1r/m;",
            server: "location /venues/ { limit_req zone=once; limit_req_status 503; }")
        // One packet a minute: the first one comes, the next one does not.
        let server = try nginx(serving: root, limited)
        let cache = try temporaryFolder()
        let address = try VenueServer(server.url())
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
            try assertWhole(try await repository.venue(1), version: 3)
            try publish(version: 4, in: root)
            _ = try await repository.catalogue()
            try assertWhole(try await repository.venue(1), version: 3)
        }
        XCTAssertEqual(errors.map(\.code), [.network])
        XCTAssertTrue(errors.first?.message.contains("status 503") ?? false, "\(errors)")
        XCTAssertTrue(errors.first?.message.hasSuffix("; going on with stored version 3") ?? false, "\(errors)")
    }

    func testAReplacedPacketIsFoundInTheNewCatalogue() async throws {
        let root = try publishedFolder()
        let server = try nginx(serving: root)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        _ = try await repository.catalogue()
        try FileManager.default.removeItem(atPath: root + "/venues/1")
        try publish(version: 4, in: root)
        try assertWhole(try await repository.venue(1), version: 4)
    }

    func testARedirectIsFollowed() async throws {
        let target = try nginx(serving: try publishedFolder())
        let moved = NginxServer.Configuration(location: "return 302 \(target.url())$request_uri;")
        let server = try nginx(serving: try temporaryFolder(), moved)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testRedirectsInACircleAreANetworkError() async throws {
        let (repository, server) = try repository(answering: "return 302 /again;", clock: ManualClock())
        let error = await repositoryError { try await repository.venue(1) }
        XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
        XCTAssertEqual(try server.stopAndTellRequests().count, 6)
    }
}
