import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import Synchronization
import TemporaryFiles
import VenuePackets
import XCTest

/// Downloads that end in the middle, are of a wrong length, or do not end at all.
final class RepositoryCutTests: XCTestCase {
    private let imageSize = 400_000

    /// How the rude server sends the image.
    private typealias Manner = @Sendable (_ attempt: Int, _ request: String, _ image: [UInt8]) -> RudeServer.Answer

    /// A repository over a server that sends all files well but the image, which it sends in that manner.
    ///
    /// - Parameter isImpatient: whether a transfer that is slow for five seconds ends; on a busy machine, the server may
    ///   need some of them for its other files.
    private func repository(
        attempts: Int = 1, isImpatient: Bool = false, _ manner: @escaping Manner
    ) throws -> (repository: VenueRepository, server: RudeServer, clock: ManualClock, cache: String) {
        let root = try publishedFolder(imageSize: imageSize)
        let images = Mutex(0)
        let server = try rudeServer { path, request in
            guard let bytes = try? [UInt8](Data(contentsOf: URL(filePath: root + path))) else {
                return .with("HTTP/1.1 404 Not Found\nContent-Length: 0")
            }
            if path.hasSuffix(".png") {
                let attempt = images.withLock { images in
                    images += 1
                    return images
                }
                return manner(attempt, request, bytes)
            }
            return .with("HTTP/1.1 200 OK\nContent-Length: \(bytes.count)", bytes)
        }
        var patience = RetryPolicy()
        patience.attempts = attempts
        if isImpatient { (patience.stallTimeout, patience.slowestRate) = (.seconds(5), 1_000_000) }
        let (cache, clock) = (try temporaryFolder(), ManualClock())
        let address = try awaitedServer(server.url, patience)
        return (VenueRepository(cache: cache, server: address, clock: clock, seed: 2), server, clock, cache)
    }

    /// Runs the body while the clock advances to each sleeper's wake-up time.
    private func ticking<Success>(_ clock: ManualClock, _ body: () async throws -> Success) async rethrows -> Success {
        let ticking = Task { while true { clock.advance(to: try await clock.waitForSleeper()) } }
        defer { ticking.cancel() }
        return try await body()
    }

    private func heads(_ server: RudeServer) -> [String] { server.requests.filter { $0.contains(".png ") } }

    func testAnInterruptedDownloadResumesWhereItEnded() async throws {
        let (repository, server, clock, _) = try repository(attempts: 3) { attempt, _, image in
            let tag = "ETag: \"abc\""
            switch attempt {
            case 1:
                return .with("HTTP/1.1 200 OK\n\(tag)\nContent-Length: \(image.count)", Array(image.prefix(100_000)))
            case 2:
                let range = "Content-Range: bytes 100000-\(image.count - 1)/\(image.count)"
                let length = "Content-Length: \(image.count - 100_000)"
                return .with(
                    "HTTP/1.1 206 Partial Content\n\(tag)\n\(range)\n\(length)", Array(image[100_000..<300_000]))
            default:
                let range = "Content-Range: bytes 300000-\(image.count - 1)/\(image.count)"
                let length = "Content-Length: \(image.count - 300_000)"
                return .with("HTTP/1.1 206 Partial Content\n\(tag)\n\(range)\n\(length)", Array(image[300_000...]))
            }
        }
        let told = Collected<Double>()
        let venue = try await ticking(clock) { try await repository.venue(1) { told.append($0) } }
        try assertWhole(venue, version: 3, imageSize: imageSize)
        XCTAssertEqual(told.all, told.all.sorted())
        let heads = heads(server)
        XCTAssertEqual(heads.count, 3)
        XCTAssertFalse(heads[0].contains("Range:"), heads[0])
        for (head, offset) in zip(heads.dropFirst(), [100_000, 300_000]) {
            XCTAssertTrue(head.contains("\r\nRange: bytes=\(offset)-\r\n"), head)
            XCTAssertTrue(head.contains("\r\nIf-Range: \"abc\"\r\n"), head)
        }
    }

    func testAFileThatChangedMeanwhileIsFetchedFromTheStart() async throws {
        let (repository, _, clock, _) = try repository(attempts: 2) { attempt, _, image in
            let length = "Content-Length: \(image.count)"
            if attempt == 1 {
                let other = [UInt8](repeating: 0, count: 1_000)
                return .with("HTTP/1.1 200 OK\nETag: \"old\"\n\(length)", other)
            }
            return .with("HTTP/1.1 200 OK\nETag: \"new\"\n\(length)", image)
        }
        let venue = try await ticking(clock) { try await repository.venue(1) }
        try assertWhole(venue, version: 3, imageSize: imageSize)
    }

    func testADownloadWithoutAStrongTagStartsOver() async throws {
        for tag in ["", "\nETag: W/\"weak\""] {
            let (repository, server, clock, _) = try repository(attempts: 2) { attempt, _, image in
                let body = attempt == 1 ? Array(image.prefix(1_000)) : image
                return .with("HTTP/1.1 200 OK\(tag)\nContent-Length: \(image.count)", body)
            }
            let venue = try await ticking(clock) { try await repository.venue(1) }
            try assertWhole(venue, version: 3, imageSize: imageSize)
            XCTAssertFalse(heads(server).joined().contains("Range:"))
        }
    }

    func testARangeThatWasNotRequestedIsRefused() async throws {
        let (repository, _, _, _) = try repository { _, _, image in
            let range = "Content-Range: bytes 7-\(image.count - 1)/\(image.count)"
            return .with(
                "HTTP/1.1 206 Partial Content\n\(range)\nContent-Length: \(image.count - 7)", Array(image.dropFirst(7)))
        }
        let error = await repositoryError { try await repository.venue(1) }
        XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
    }

    func testATruncatedResponseIsANetworkError() async throws {
        for head in ["Content-Length: 400000000", "X-Length: none"] {
            let (repository, _, _, cache) = try repository { _, _, image in
                .with("HTTP/1.1 200 OK\n\(head)", Array(image.prefix(1_000)))
            }
            let error = await repositoryError { try await repository.venue(1) }
            XCTAssertEqual(error.map { LocalizationError($0).code }, .network, head)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [], head)
        }
    }

    func testAFileShorterThanTheCatalogueSaysIsABrokenPacketInEveryRun() async throws {
        let root = try publishedFolder(imageSize: imageSize)
        let image = try XCTUnwrap(
            try FileManager.default.subpathsOfDirectory(atPath: root).first { $0.hasSuffix(".png") })
        let digest = try XCTUnwrap(try digest(of: image, in: root))
        let short = Data(try Data(contentsOf: URL(filePath: root + "/" + image)).prefix(1_000))
        try short.write(to: URL(filePath: root + "/" + image))
        let server = try nginx(serving: root)
        let cache = try temporaryFolder()
        for run in 1...3 {
            if run == 3 {
                // All that the server has is here already, as from a process that was killed: it answers 416.
                let tag = try await tag(of: server.url() + "/" + image)
                try short.write(to: URL(filePath: cache + "/staging/\(digest).part"))
                try Data(tag.utf8).write(to: URL(filePath: cache + "/staging/\(digest).part.tag"))
            }
            let repository = VenueRepository(cache: cache, server: try awaitedServer(server.url()))
            let error = await repositoryError { try await repository.venue(1) }
            guard case .brokenPacket = error else { return XCTFail("run \(run): \(String(describing: error))") }
            let message = error?.problems.first?.message ?? ""
            XCTAssertTrue(message.hasPrefix("has 1000 bytes, not "), "run \(run): \(message)")
        }
        let statuses = try server.stopAndTellRequests().filter { $0.path.hasSuffix(".png") }.map(\.status)
        XCTAssertEqual(statuses, [200, 200, 200, 416, 200])
    }

    func testAFileLongerThanTheCatalogueSaysIsRefused() async throws {
        let (repository, _, _, _) = try repository { _, _, image in
            .with("HTTP/1.1 200 OK\nContent-Length: \(image.count + 9)", image + Array(repeating: 0, count: 9))
        }
        let error = await repositoryError { try await repository.venue(1) }
        XCTAssertEqual(error?.problems.map(\.path), ["$"])
        XCTAssertTrue(error?.description.contains("more than the") ?? false, "\(String(describing: error))")
    }

    func testAFileWithOtherBytesOfTheSameLengthIsRefused() async throws {
        let (repository, _, _, _) = try repository { _, _, image in
            .with("HTTP/1.1 200 OK\nETag: \"x\"\nContent-Length: \(image.count)", Array(image.dropLast()) + [0])
        }
        let error = await repositoryError { try await repository.venue(1) }
        XCTAssertTrue(error?.problems.first?.message.contains("SHA-256") ?? false, "\(String(describing: error))")
    }

    func testAStalledServerIsATimeout() async throws {
        let repositories = try [0, 1_000].map { count in
            try repository(isImpatient: true) { _, _, image in
                let answer = RudeServer.Answer.with(
                    "HTTP/1.1 200 OK\nContent-Length: \(image.count)", Array(image.prefix(count)), fallsSilent: true)
                return count == 0 ? RudeServer.Answer(bytes: [], fallsSilent: true) : answer
            }.repository
        }
        // At once, as each of them takes some seconds of real time: libcurl measures them.
        async let first = repositoryError { try await repositories[0].venue(1) }
        async let second = repositoryError { try await repositories[1].venue(1) }
        for error in [await first, await second] {
            guard case .timedOut = error else { return XCTFail("\(String(describing: error))") }
            XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
        }
    }

    func testRequestsToASilentServerAreRetriedAsOftenAsFailedOnes() async throws {
        let (repository, server, clock, _) = try repository(attempts: 3, isImpatient: true) { _, _, _ in
            RudeServer.Answer(bytes: [], fallsSilent: true)
        }
        let error = await ticking(clock) { await repositoryError { try await repository.venue(1) } }
        guard case .timedOut = error else { return XCTFail("\(String(describing: error))") }
        // The server may read a request after the client has given up.
        try await Bounded.poll(for: "three requests") { server.requests.count { $0.contains(".png ") } >= 3 }
        XCTAssertEqual(heads(server).count, 3)
    }

    func testACancelledTaskEndsTheTransferAtOnce() async throws {
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let (_, server, _, _) = try repository { _, _, image in
            arrival.yield()
            return .with("HTTP/1.1 200 OK\nContent-Length: \(image.count)", [], fallsSilent: true)
        }
        // Without the cancellation, the transfer would last longer than the limit of the test.
        var patience = RetryPolicy()
        (patience.stallTimeout, patience.transferTimeout) = (.seconds(3600), .seconds(3600))
        let address = try awaitedServer(server.url, patience)
        let repository = VenueRepository(cache: try temporaryFolder(), server: address)
        let fetching = Task { await repositoryError { try await repository.venue(1) } }
        _ = await arrived.first { true }
        fetching.cancel()
        let error = try await Bounded.wait(for: "the end of the transfer") { await fetching.value }
        XCTAssertEqual(error, .cancelled)
    }

    func testALaterProcessResumesADownload() async throws {
        let (repository, server, _, cache) = try repository { attempt, request, image in
            if attempt == 1 {
                return .with(
                    "HTTP/1.1 200 OK\nETag: \"abc\"\nContent-Length: \(image.count)", Array(image.prefix(250_000)))
            }
            let range = "Content-Range: bytes 250000-\(image.count - 1)/\(image.count)"
            return .with(
                "HTTP/1.1 206 Partial Content\n\(range)\nContent-Length: \(image.count - 250_000)",
                Array(image[250_000...]))
        }
        _ = await repositoryError { try await repository.venue(1) }
        let later = VenueRepository(cache: cache, server: try awaitedServer(server.url))
        try assertWhole(try await later.venue(1), version: 3, imageSize: imageSize)
        XCTAssertTrue(heads(server).last?.contains("\r\nRange: bytes=250000-\r\n") ?? false)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [])
    }

    func testNginxSendsTheRequestedRestOfAFile() async throws {
        let root = try publishedFolder(imageSize: imageSize)
        // The first image ends in the middle: the connection to it goes through a server that cuts it.
        let whole = try nginx(serving: root)
        let cache = try temporaryFolder()
        let image = try XCTUnwrap(
            try FileManager.default.subpathsOfDirectory(atPath: root).first { $0.hasSuffix(".png") })
        let tag = try await tag(of: whole.url() + "/" + image)
        let digest = try XCTUnwrap(try digest(of: image, in: root))
        // What an earlier process left: the first 123,456 bytes, and the tag that nginx had given.
        let bytes = try Data(contentsOf: URL(filePath: root + "/" + image))
        try FileManager.default.createDirectory(atPath: cache + "/staging", withIntermediateDirectories: true)
        try bytes.prefix(123_456).write(to: URL(filePath: cache + "/staging/\(digest).part"))
        try Data(tag.utf8).write(to: URL(filePath: cache + "/staging/\(digest).part.tag"))
        let repository = VenueRepository(cache: cache, server: try awaitedServer(whole.url()))
        try assertWhole(try await repository.venue(1), version: 3, imageSize: imageSize)
        let request = try XCTUnwrap(try whole.stopAndTellRequests().last { $0.path.hasSuffix(".png") })
        XCTAssertEqual(request.status, 206)
        XCTAssertEqual(request.range, "bytes=123456-")
    }

    private func tag(of url: String) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).headers['ETag'])", url,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func digest(of path: String, in root: String) throws -> String? {
        let catalogue = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        guard let place = catalogue.range(of: "\"\(path)\",\"sha256\":\"") else { return nil }
        return String(catalogue[place.upperBound...].prefix(64))
    }
}
