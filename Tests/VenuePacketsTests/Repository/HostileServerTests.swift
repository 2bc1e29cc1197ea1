import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import ScanRecording
import XCTest

@testable import VenuePackets

/// Servers with endless, slow or missing responses: the stored venue is used, and the failure is reported.
final class HostileServerTests: XCTestCase {
    /// A behaviour of a server that makes its clients wait.
    private struct Manner {
        let name: String
        let answer: RudeServer.Answer
        /// A part of the message that is reported after a stored venue was returned.
        let report: String
        /// Whether the answer is over at its head.
        let isAnswered: Bool
    }

    private static let manners = [
        Manner(
            name: "a 404 without an end",
            answer: .endless("HTTP/1.1 404 Not Found", .init([UInt8](repeating: 65, count: 1 << 16))),
            report: "status 404", isAnswered: true),
        Manner(
            name: "a 503 that drips", answer: .endless("HTTP/1.1 503 Busy", .init([65, 66, 67], every: 5)),
            report: "status 503", isAnswered: true),
        Manner(
            name: "a 503 with a length and no body",
            answer: .with("HTTP/1.1 503 Busy\nContent-Length: 100", fallsSilent: true), report: "status 503",
            isAnswered: true),
        Manner(
            name: "300 bytes a second",
            answer: .endless("HTTP/1.1 200 OK", .init([UInt8](repeating: 32, count: 30), every: 100)),
            report: "within the timeout", isAnswered: false),
        Manner(
            name: "silence", answer: RudeServer.Answer(bytes: [], fallsSilent: true), report: "within the timeout",
            isAnswered: false),
        Manner(
            name: "a head and then silence",
            answer: .with("HTTP/1.1 200 OK\nContent-Length: 100", fallsSilent: true), report: "within the timeout",
            isAnswered: false),
        Manner(
            name: "a redirect without an end",
            answer: .endless(
                "HTTP/1.1 302 Found\nLocation: /other", .init([UInt8](repeating: 65, count: 30), every: 100)),
            report: "within the timeout", isAnswered: false),
    ]

    private func patience(_ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
        var patience = RetryPolicy()
        patience.attempts = 1
        patience.grace = .milliseconds(100)
        // An answer that waits for one of these misses the limit of the test.
        (patience.connectTimeout, patience.stallTimeout) = (.seconds(3600), .seconds(3600))
        patience.transferTimeout = .seconds(3600)
        change(&patience)
        return patience
    }

    /// A cache with version 3 of venue 1.
    private func filledCache() async throws -> String {
        let cache = try temporaryFolder()
        let server = try nginx(serving: try publishedFolder())
        _ = try await VenueRepository(cache: cache, server: try VenueServer(server.url())).venue(1)
        server.stop()
        return cache
    }

    func testAStoredVenueIsReturnedWhateverTheServerDoes() async throws {
        for manner in Self.manners {
            let cache = try await filledCache()
            let server = try rudeServer { _, _ in manner.answer }
            let address = try VenueServer(server.url, patience: patience())
            let repository = VenueRepository(cache: cache, server: address)
            let errors = repository.errors
            let venue = try await Bounded.wait(for: manner.name) {
                let known = try await repository.catalogue()
                XCTAssertEqual(known.map(\.version), [3], manner.name)
                return try await repository.packet(for: 1) { _ in }
            }
            try assertWhole(venue, version: 3)
            let told = try await Bounded.elements(of: errors, until: "\(manner.report) of \(manner.name)") {
                $0.message.contains(manner.report)
            }
            for error in told {
                XCTAssertEqual(error.code, .network, manner.name)
                XCTAssertTrue(error.message.contains("; going on with "), error.message)
            }
            await repository.endRefreshing()
        }
    }

    func testEachTransferEndsAtItsTimeoutAndIsReported() async throws {
        for manner in Self.manners {
            let server = try rudeServer { _, _ in manner.answer }
            let address = try VenueServer(
                server.url, patience: patience { $0.transferTimeout = .milliseconds(500) })
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            let error = try await Bounded.wait(for: manner.name) {
                do throws(VenueRepositoryError) {
                    _ = try await repository.venue(1)
                    return nil as VenueRepositoryError?
                } catch { return error }
            }
            if manner.isAnswered {
                XCTAssertNotNil(error?.statusCode, "\(manner.name): \(String(describing: error))")
            } else {
                guard case .timedOut = error else {
                    XCTFail("\(manner.name): \(String(describing: error))")
                    continue
                }
            }
        }
    }

    func testATimeoutInTheBackgroundIsReported() async throws {
        let cache = try await filledCache()
        let server = try rudeServer { _, _ in RudeServer.Answer(bytes: [], fallsSilent: true) }
        let address = try VenueServer(
            server.url, patience: patience { $0.transferTimeout = .seconds(2) })
        let repository = VenueRepository(cache: cache, server: address)
        let errors = repository.errors
        _ = try await repository.catalogue()
        let told = try await Bounded.first(2, of: errors).map(\.message)
        XCTAssertTrue(told[0].contains("no complete response within 0.1 s"), told[0])
        XCTAssertTrue(
            told[1].contains("within the timeout: ") && told[1].hasSuffix("; going on with the stored venues"), told[1])
    }

    func testEachAttemptIsReportedWhileNothingIsStored() async throws {
        let server = try rudeServer { _, _ in .with("HTTP/1.1 503 Busy", fallsSilent: true) }
        let address = try VenueServer(
            server.url,
            patience: patience { patience in
                patience.attempts = 3
                patience.firstPause = .milliseconds(10)
            })
        let source = ScriptedSource()
        let localizer = Localizer(
            source: source, venues: VenueRepository(cache: try temporaryFolder(), server: address))
        let errors = localizer.errors
        await localizer.start()
        let told = try await Bounded.first(3, of: errors)
        XCTAssertEqual(told.map(\.code), [.network, .network, .network])
        XCTAssertEqual(told.map { $0.message.contains("status 503") }, [true, true, true])
        XCTAssertEqual(told.map { $0.message.contains("; retrying in 0.0 s") }, [true, true, false])
        await localizer.stop()
    }

    func testTheTimeoutOfALargeFileDependsOnItsSize() {
        let patience = RetryPolicy()
        XCTAssertEqual(patience.deadline(for: nil), .seconds(60))
        XCTAssertEqual(patience.deadline(for: 100 << 20), .seconds(60 + 6400))
    }

    func testAnEndlessHeadIsNotRead() async throws {
        let lines = Array("X-More: \(String(repeating: "x", count: 500))\r\n".utf8)
        let server = try rudeServer { _, _ in
            var answer = RudeServer.Answer(bytes: Array("HTTP/1.1 200 OK\r\n".utf8))
            answer.endless = .init(lines)
            return answer
        }
        let repository = VenueRepository(
            cache: try temporaryFolder(), server: try VenueServer(server.url, patience: patience()))
        let error = try await Bounded.wait(for: "the end of the transfer") {
            await repositoryError { try await repository.venue(1) }
        }
        guard case .unreachable(_, let reason) = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertTrue(reason.contains("head"), reason)
    }

    func testALateCatalogueAndVersionBecomeUpdates() async throws {
        let root = try publishedFolder()
        let cache = try temporaryFolder()
        let first = try nginx(serving: root)
        _ = try await VenueRepository(cache: cache, server: try VenueServer(first.url())).venue(1)
        try publish(version: 4, in: root)
        // nginx sends the first second's share at once: more than a second for all of it.
        let slow = try nginx(
            serving: root, NginxServer.Configuration(server: "location = /catalogue.json { limit_rate 300; }"))
        let repository = VenueRepository(
            cache: cache, server: try VenueServer(slow.url(), patience: patience()))
        let updates = repository.updates
        let known = try await repository.catalogue()
        XCTAssertEqual(known.map(\.version), [3])
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        let told = try await Bounded.first(3, of: updates)
        guard case .failure(let late) = told[0], case .catalogue(let fresh) = told[1], case .packet(let venue) = told[2]
        else { return XCTFail("\(told)") }
        XCTAssertEqual(late.code, .network)
        XCTAssertEqual(fresh.map(\.version), [4])
        XCTAssertEqual(venue.version, 4)
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 4)
    }

    func testCredentialsRefusedInTheBackgroundEndTheSession() async throws {
        let cache = try await filledCache()
        let (gate, opener) = AsyncStream.makeStream(of: Never.self)
        let server = try rudeServer { _, _ in
            // The server's own thread waits for the test.
            let opened = DispatchSemaphore(value: 0)
            Task {
                for await _ in gate {}
                opened.signal()
            }
            opened.wait()
            return .with("HTTP/1.1 401 Unauthorized\nContent-Length: 0")
        }
        let repository = VenueRepository(cache: cache, server: try VenueServer(server.url, patience: patience()))
        let source = ScriptedSource()
        let localizer = Localizer(source: source, venues: repository)
        let (states, errors) = (localizer.states, localizer.errors)
        await localizer.start()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        opener.finish()
        let told = try await Bounded.elements(of: errors, until: "credential error") { $0.code == .credential }
        XCTAssertEqual(told.map(\.code), [.network, .credential])
        _ = try await Bounded.elements(of: localizer.states, until: "error") {
            if case .error = $0 { true } else { false }
        }
    }

    func testAFloorPlanLocalizerStartsFromTheCacheAndReportsTheFailure() async throws {
        let cache = try await filledCache()
        let server = try rudeServer { _, _ in RudeServer.Answer(bytes: [], fallsSilent: true) }
        let repository = VenueRepository(cache: cache, server: try VenueServer(server.url, patience: patience()))
        let plan = try await repository.fetchFloorPlan(1, of: 1).value
        let positioner = FloorPlanLocalizer(on: plan, source: ScriptedSource(), venues: repository)
        let (states, errors) = (positioner.states, positioner.errors)
        await positioner.prepare()
        _ = try await Bounded.elements(of: states, until: "ready") { $0 == .ready }
        let told = try await Bounded.first(1, of: errors)
        XCTAssertEqual(told.first?.code, .network)
        await positioner.stop()
        await repository.endRefreshing()
    }

    func testASessionOnARecordingStartsFromTheCacheAndReportsTheFailure() async throws {
        let root = try temporaryFolder()
        _ = try VenuePublisher(folder: root).publish([try FixtureFolder("office").path])
        let cache = try temporaryFolder()
        let good = try nginx(serving: root)
        _ = try await VenueRepository(cache: cache, server: try VenueServer(good.url())).venue(1)
        let server = try rudeServer { _, _ in RudeServer.Answer(bytes: [], fallsSilent: true) }
        let repository = VenueRepository(cache: cache, server: try VenueServer(server.url, patience: patience()))
        let walk = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        let localizer = Localizer(source: RecordingSource(path: walk), venues: repository)
        let (positions, errors) = (localizer.positions, localizer.errors)
        await localizer.start()
        _ = try await Bounded.first(1, of: positions)
        let told = try await Bounded.first(1, of: errors)
        XCTAssertEqual(told.first?.code, .network)
        await localizer.stop()
        await repository.endRefreshing()
    }
}
