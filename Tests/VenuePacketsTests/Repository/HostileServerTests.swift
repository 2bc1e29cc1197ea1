import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import ScanRecording
import TemporaryFiles
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

        /// The target of the redirect is silent: libcurl 8.23 follows at the head, and 7.88 waits for the body.
        func answer(to path: String) -> RudeServer.Answer {
            path == "/other" ? RudeServer.Answer(bytes: [], fallsSilent: true) : answer
        }
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
        _ = try await VenueRepository(cache: cache, server: try awaitedServer(server.url())).venue(1)
        server.stop()
        return cache
    }

    func testAStoredVenueIsReturnedWhateverTheServerDoes() async throws {
        for manner in Self.manners {
            let cache = try await filledCache()
            let server = try rudeServer { path, _ in manner.answer(to: path) }
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
            let server = try rudeServer { path, _ in manner.answer(to: path) }
            // An answer ends the transfer; only silence waits for the timeout.
            let address = try VenueServer(
                server.url, patience: patience { if !manner.isAnswered { $0.transferTimeout = .milliseconds(500) } })
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
        // Without grace, the wait for the server ends before the transfer begins, so that a late timer changes nothing.
        let address = try VenueServer(
            server.url,
            patience: patience { patience in
                (patience.grace, patience.transferTimeout) = (.zero, .seconds(1))
            })
        let repository = VenueRepository(cache: cache, server: address)
        let errors = repository.errors
        _ = try await repository.catalogue()
        let told = try await Bounded.first(2, of: errors).map(\.message)
        XCTAssertTrue(told[0].contains("no complete response within 0.0 s"), told[0])
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
        _ = try await VenueRepository(cache: cache, server: try awaitedServer(first.url())).venue(1)
        try publish(version: 4, in: root)
        let (slow, opener) = try gatedServer { path in
            let bytes = FileManager.default.contents(atPath: root + path).map(Array.init) ?? []
            return .with("HTTP/1.1 200 OK\nContent-Length: \(bytes.count)", bytes)
        }
        let repository = VenueRepository(
            cache: cache, server: try VenueServer(slow.url, patience: patience()))
        let updates = repository.updates
        let known = try await repository.catalogue()
        XCTAssertEqual(known.map(\.version), [3])
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        opener.finish()
        let told = try await Bounded.first(3, of: updates)
        guard case .failure(let late) = told[0], case .catalogue(let fresh) = told[1], case .packet(let venue) = told[2]
        else { return XCTFail("\(told)") }
        XCTAssertEqual(late.code, .network)
        XCTAssertEqual(fresh.map(\.version), [4])
        XCTAssertEqual(venue.version, 4)
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 4)
    }

    /// A server that answers with this head once the test finishes the continuation.
    private func gatedServer(
        answering head: String, _ bytes: [UInt8] = []
    ) throws -> (server: RudeServer, opener: AsyncStream<Never>.Continuation) {
        try gatedServer { _ in .with("\(head)\nContent-Length: \(bytes.count)", bytes) }
    }

    /// A server that answers once the test finishes the continuation.
    private func gatedServer(
        _ answer: @escaping @Sendable (_ path: String) -> RudeServer.Answer
    ) throws -> (server: RudeServer, opener: AsyncStream<Never>.Continuation) {
        let (gate, opener) = AsyncStream.makeStream(of: Never.self)
        let server = try rudeServer { path, _ in
            // The server's own thread waits for the test.
            let opened = DispatchSemaphore(value: 0)
            Task {
                for await _ in gate {}
                opened.signal()
            }
            opened.wait()
            return answer(path)
        }
        return (server, opener)
    }

    func testStatus403InTheBackgroundWithoutCredentialsKeepsTheSession() async throws {
        let (server, opener) = try gatedServer(answering: "HTTP/1.1 403 Forbidden")
        let repository = VenueRepository(
            cache: try await filledCache(), server: try VenueServer(server.url, patience: patience()))
        let localizer = Localizer(source: ScriptedSource(), venues: repository)
        let (states, errors) = (localizer.states, localizer.errors)
        await localizer.start()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        opener.finish()
        let told = try await Bounded.elements(of: errors, until: "status 403") { $0.message.contains("status 403") }
        XCTAssertEqual(told.map(\.code), [.network, .network])
        let state = await localizer.state
        XCTAssertEqual(state, .searchVenue)
        await localizer.stop()
    }

    func testASessionThatStopsLeavesTheRequestToTheNextSession() async throws {
        let root = try publishedFolder()
        try publish(version: 4, in: root)
        let catalogue = try [UInt8](Data(contentsOf: URL(filePath: root + "/catalogue.json")))
        let (server, opener) = try gatedServer(answering: "HTTP/1.1 200 OK", catalogue)
        let address = try VenueServer(server.url, patience: patience { $0.grace = .seconds(3600) })
        let repository = VenueRepository(cache: try await filledCache(), server: address)
        let updates = repository.updates
        let first = Task { try await repository.catalogue() }
        try await Bounded.wait(for: "the request") { while server.requests.isEmpty { await Task.yield() } }
        first.cancel()
        let ended = try await Bounded.wait(for: "the end of the first session") { await first.result }
        XCTAssertThrowsError(try ended.get()) { XCTAssertEqual(($0 as? LocalizationError)?.kind, .cancelled) }
        let known = try await repository.catalogue()
        XCTAssertEqual(known.map(\.version), [3])
        opener.finish()
        let told = try await Bounded.first(1, of: updates)
        guard case .catalogue(let fresh) = told.first else { return XCTFail("\(told)") }
        XCTAssertEqual(fresh.map(\.version), [4])
        XCTAssertEqual(server.requests.count, 1)
    }

    func testTheEndOfAProgramIsNotReportedAsAFailure() async throws {
        let (server, opener) = try gatedServer(answering: "HTTP/1.1 200 OK")
        let cache = try await filledCache()
        let address = try VenueServer(server.url, patience: patience())
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
            _ = try await repository.catalogue()
            await repository.endRefreshing()
        }
        XCTAssertEqual(errors.map(\.kind), [.timedOut], "\(errors)")
        opener.finish()
    }

    func testCredentialsRefusedInTheBackgroundEndTheSession() async throws {
        let cache = try await filledCache()
        let (server, opener) = try gatedServer(answering: "HTTP/1.1 401 Unauthorized")
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
        _ = try await VenueRepository(cache: cache, server: try awaitedServer(good.url())).venue(1)
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

/// Servers that answer with success and send something else, such as a page to log in to a hotel's network.
final class LyingServerTests: XCTestCase {
    private static let page = "return 200 '<!DOCTYPE html><html><body>Welcome to our hotel</body></html>';"

    /// Returns an nginx that answers requests of a location with a page.
    private func lying(_ root: String, at location: String) throws -> NginxServer {
        let lines = "location \(location) { default_type text/html; \(Self.page) }"
        return try nginx(serving: root, NginxServer.Configuration(server: lines))
    }

    func testAPageInPlaceOfTheCatalogueIsReportedAndTheStoredVenueStays() async throws {
        let (root, cache) = (try publishedFolder(), try temporaryFolder())
        let good = try nginx(serving: root)
        _ = try await VenueRepository(cache: cache, server: try awaitedServer(good.url())).venue(1)
        let server = try lying(root, at: "= /catalogue.json")
        let repository = VenueRepository(cache: cache, server: try awaitedServer(server.url()))
        let errors = repository.errors
        let known = try await repository.catalogue()
        XCTAssertEqual(known.map(\.version), [3])
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        let told = try await Bounded.first(1, of: errors)[0]
        XCTAssertTrue(told.message.contains("/catalogue.json"), told.message)
        XCTAssertEqual(told.kind, .badResponse)
        await repository.endRefreshing()
        let fresh = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        let error = await repositoryError { try await fresh.venue(1) }
        guard case .brokenCatalogue = error else { return XCTFail("\(String(describing: error))") }
    }

    func testAPageInPlaceOfAPacketIsRefusedAndTheVenueIsFetchedLater() async throws {
        let root = try publishedFolder()
        let cache = try temporaryFolder()
        // With and without the type, shorter and longer than the packet.
        for (length, type) in [(1, "text/html"), (1, "application/zip"), (100, "application/zip")] {
            let page = String(repeating: "<p>Welcome to our hotel</p>", count: length)
            let lines = "default_type \(type); return 200 '\n<!DOCTYPE html><html>\(page)</html>';"
            let server = try nginx(
                serving: root, NginxServer.Configuration(server: "location /venues/ { types { } \(lines) }"))
            var patience = RetryPolicy()
            patience.attempts = 1
            let address = try awaitedServer(server.url(), patience)
            let error = await repositoryError { try await VenueRepository(cache: cache, server: address).venue(1) }
            guard case .unreachable(_, let reason) = error else { return XCTFail("\(String(describing: error))") }
            XCTAssertTrue(reason.contains("answered with a web page") && reason.contains("login?"), reason)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [])
        let good = try nginx(serving: root)
        let repository = VenueRepository(cache: cache, server: try awaitedServer(good.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testAnAttemptAfterAPageGetsThePacket() async throws {
        let root = try publishedFolder()
        let isFirst = Guarded(true)
        let server = try rudeServer { path, _ in
            let bytes = FileManager.default.contents(atPath: root + path).map(Array.init) ?? []
            let isPage =
                path.hasPrefix("/venues/")
                && isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
            return isPage
                ? .with("HTTP/1.1 200 OK\nContent-Type: text/html", Array("<!DOCTYPE html><html>Welcome</html>".utf8))
                : .with("HTTP/1.1 200 OK\nContent-Length: \(bytes.count)", bytes)
        }
        var patience = RetryPolicy()
        (patience.attempts, patience.firstPause) = (2, .milliseconds(10))
        let address = try awaitedServer(server.url, patience)
        let repository = VenueRepository(cache: try temporaryFolder(), server: address)
        try assertWhole(try await repository.venue(1), version: 3)
        XCTAssertFalse(isFirst.withLock(\.self))
    }

    func testPacketsAreRequestedUncompressed() async throws {
        let picky = "location ~ (zip|png)$ { if ($http_accept_encoding != identity) { return 406; } }"
        let server = try nginx(serving: try publishedFolder(), NginxServer.Configuration(server: picky))
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testTheErrorOfACompressedPacketNamesTheServersSetting() async throws {
        let root = try publishedFolder()
        let zip = try XCTUnwrap(try FileManager.default.contentsOfDirectory(atPath: root + "/venues/1").first)
        let compressing = Process()
        compressing.executableURL = URL(filePath: "/usr/bin/env")
        compressing.arguments = ["gzip", "--keep", root + "/venues/1/" + zip]
        try compressing.run()
        compressing.waitUntilExit()
        let server = try nginx(
            serving: root, NginxServer.Configuration(server: "location /venues/ { gzip_static always; }"))
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        let error = await repositoryError { try await repository.venue(1) }
        let message = error?.problems.first?.message ?? ""
        XCTAssertTrue(message.hasPrefix("the server compresses it (gzip)"), "\(String(describing: error))")
        XCTAssertTrue(message.hasSuffix("switch that off for files such as .zip"), message)
    }

    func testTheContentDecidesNotItsType() async throws {
        let wrong = NginxServer.Configuration(
            server: "location ~ (json|zip|png)$ { types { } default_type text/html; }")
        let server = try nginx(serving: try publishedFolder(), wrong)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }
}

/// Catalogues and packets that cannot be used, as a real nginx sends them.
final class CatalogueProblemTests: XCTestCase {
    private let digest = String(repeating: "0", count: 64)

    private func repository(serving root: String) throws -> VenueRepository {
        let server = try nginx(serving: root)
        return VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
    }

    private func catalogue(_ venues: String) -> String {
        "{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 1, \"venues\": [\(venues)]}"
    }

    private func entry(_ fields: String) -> String {
        // The decoder uses the first of two fields with one name.
        """
        {\(fields), "id": 1, "name": "Kiosk", "version": 3, "regions": [], "packet": "a.zip", "size": 5,
         "sha256": "\(digest)"}
        """
    }

    func testAnInvalidCatalogueIsASingleProblem() async throws {
        let venues = "\"venues\": []"
        for (text, path) in [
            ("", "$"), ("[]", "$"), ("{\"format\": ", "$"), ("{}", "$.format"),
            ("{\"format\": \"x\", \"formatVersion\": 1, \(venues)}", "$.format"),
            ("{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 2, \(venues)}", "$.formatVersion"),
            ("{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 1, \"venues\": 3}", "$.venues"),
            ("{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 1}", "$.venues"),
        ] {
            let root = try temporaryFolder()
            try write(["catalogue.json": text], to: root)
            let error = await repositoryError { try await self.repository(serving: root).venue(1) }
            guard case .brokenCatalogue(_, let problems) = error else {
                return XCTFail("\(text): \(String(describing: error))")
            }
            XCTAssertEqual(problems.first?.path, path, text)
        }
    }

    func testAnEntryWithAnErrorIsIgnoredAndReported() async throws {
        for (fields, path) in [
            ("\"id\": \"one\"", "id"), ("\"packet\": \"../a.zip\"", "packet"), ("\"packet\": \"/a.zip\"", "packet"),
            ("\"size\": 0", "size"), ("\"size\": 1e300", "size"), ("\"sha256\": \"abc\"", "sha256"),
            ("\"regions\": [{\"uuid\": \"x\"}]", "regions[0].uuid"),
            ("\"regions\": [{\"uuid\": \"\(BeaconUUID(high: 1, low: 2))\", \"minors\": [1]}]", "regions[0].minors"),
            (
                "\"regions\": [{\"uuid\": \"\(BeaconUUID(high: 1, low: 2))\", \"major\": 1, \"minors\": [70000]}]",
                "regions[0].minors[0]"
            ),
            (
                "\"files\": [{\"name\": \"../x\", \"path\": \"x\", \"size\": 1, \"sha256\": \"\(digest)\"}]",
                "files[0].name"
            ),
            ("\"radius\": -1", "radius"),
            ("\"coordinate\": {\"latitude\": 91, \"longitude\": 0}", "coordinate.latitude"),
        ] {
            let root = try temporaryFolder()
            let good = entry("\"id\": 2")
            try write(["catalogue.json": catalogue(entry(fields) + ", " + good)], to: root)
            let server = try nginx(serving: root)
            let (cache, address) = (try temporaryFolder(), try awaitedServer(server.url()))
            let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
                let catalogue = try await repository.catalogue()
                XCTAssertEqual(catalogue.map(\.id), [2], fields)
            }
            XCTAssertEqual(errors.map(\.code), [.generic], fields)
            XCTAssertTrue(errors.first?.cause?.contains("$.venues[0].\(path)") ?? false, "\(fields): \(errors)")
        }
    }

    func testABrokenEntryIsReportedWheneverTheCatalogueIsUsed() async throws {
        let root = try temporaryFolder()
        try write(["catalogue.json": catalogue(entry("\"sha256\": \"abc\""))], to: root)
        let server = try nginx(serving: root)
        var patience = RetryPolicy()
        patience.attempts = 1
        let (cache, address) = (try temporaryFolder(), try awaitedServer(server.url(), patience))
        // New, unchanged, and from the cache.
        for (run, codes) in [("new", [.generic]), ("304", [.generic]), ("offline", [.generic, .network])]
            as [(String, [LocalizationError.Code])]
        {
            if run == "offline" { XCTAssertEqual(try server.stopAndTellRequests().last?.status, 304) }
            let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
                _ = try await repository.catalogue()
                let error = await repositoryError { try await repository.venue(1) }
                if run == "offline" {
                    XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
                } else {
                    guard case .brokenEntry(1, _, let problems) = error else {
                        return XCTFail("\(run): \(String(describing: error))")
                    }
                    XCTAssertEqual(problems.map(\.path), ["$.venues[0].sha256"], run)
                }
            }
            XCTAssertEqual(errors.map(\.code), codes, run)
            XCTAssertTrue(errors.first?.cause?.contains("$.venues[0].sha256") ?? false, "\(run): \(errors)")
        }
    }

    func testRegionsOfAWholeUUIDOrGroupAreAccepted() async throws {
        let (one, two) = (BeaconUUID(high: 1, low: 2), BeaconUUID(high: 3, low: 4))
        let regions = "\"regions\": [{\"uuid\": \"\(one)\"}, {\"uuid\": \"\(two)\", \"major\": 9}]"
        let root = try temporaryFolder()
        try write(["catalogue.json": catalogue(entry(regions))], to: root)
        let known = try await repository(serving: root).catalogue()
        XCTAssertEqual(known.first?.regions, [BeaconRegion(uuid: one), BeaconRegion(uuid: two, major: 9)])
    }

    /// Publishes a packet, then puts another file in the place of its zip and mends the catalogue's size and digest.
    private func rootWithPacket(_ make: (_ zip: String) throws -> Void) throws -> String {
        let root = try publishedFolder()
        let zip = try XCTUnwrap(try FileManager.default.contentsOfDirectory(atPath: root + "/venues/1").first)
        let path = root + "/venues/1/" + zip
        let old = try (sha256(of: path), Data(contentsOf: URL(filePath: path)).count)
        try FileManager.default.removeItem(atPath: path)
        try make(path)
        let new = try (sha256(of: path), Data(contentsOf: URL(filePath: path)).count)
        let catalogue = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        let mended = catalogue.replacing(
            "\"sha256\":\"\(old.0)\",\"size\":\(old.1)", with: "\"sha256\":\"\(new.0)\",\"size\":\(new.1)")
        XCTAssertNotEqual(mended, catalogue)
        try write(["catalogue.json": mended], to: root)
        return root
    }

    func testABrokenPacketIsAnErrorWithItsProblemsAndIsNotStored() async throws {
        let rejected = try FixtureFolder("packets/rejected/unknown-map").file("venue.json")
        for (make, path): ((String) throws -> Void, String) in [
            ({ try Data("no zip".utf8).write(to: URL(filePath: $0)) }, "$"),
            ({ try Self.zip(Data(contentsOf: URL(filePath: rejected)), to: $0) }, "$.paths.nodes[0].mapId"),
            ({ try Self.zip(Self.document(id: 2, version: 3), to: $0) }, "$.id"),
            ({ try Self.zip(Self.document(id: 1, version: 4), to: $0) }, "$.version"),
            ({ try Self.zip(Self.document(id: 1, version: 2), to: $0) }, "$.version"),
        ] {
            let root = try rootWithPacket(make)
            let server = try nginx(serving: root)
            let cache = try temporaryFolder()
            let repository = VenueRepository(cache: cache, server: try awaitedServer(server.url()))
            let error = await repositoryError { try await repository.venue(1) }
            guard case .brokenPacket(_, let problems) = error else {
                return XCTFail("\(path): \(String(describing: error))")
            }
            XCTAssertTrue(problems.contains { $0.path == path }, "\(path): \(problems)")
            XCTAssertEqual(error.map { LocalizationError($0).code }, .generic)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/venues"), [])
        }
    }

    /// A packet's document, with the files of a sample venue.
    private static func document(id: Int, version: Int) throws -> Data {
        let map = VenueMap(
            id: 1, name: "Ground", level: 0, width: 10, height: 10, imagePath: "plans/ground.png",
            tilesPath: "tiles.zip")
        let venue = Venue(id: VenueID(rawValue: id), name: "Kiosk", version: version, maps: [map])
        return Data(try VenuePacketWriter().document(of: venue))
    }

    /// A zip with that document alone.
    private static func zip(_ document: Data, to path: String) throws {
        let script =
            "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('venue.json', sys.stdin.buffer.read())"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path]
        let input = Pipe()
        process.standardInput = input
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: document)
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func testAnUnchangedPacketWithAHigherVersionIsReported() async throws {
        let root = try publishedFolder()
        let server = try nginx(serving: root)
        let (cache, address) = (try temporaryFolder(), try awaitedServer(server.url()))
        _ = try await VenueRepository(cache: cache, server: address).venue(1)
        let catalogue = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        try write(["catalogue.json": catalogue.replacing("\"version\":3", with: "\"version\":10")], to: root)
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
            _ = try await repository.catalogue()
            try assertWhole(try await repository.venue(1), version: 3)
        }
        XCTAssertTrue(errors.first?.cause?.contains("is still version 3") ?? false, "\(errors)")
        XCTAssertEqual(try server.stopAndTellRequests().last?.status, 304)
    }
}
