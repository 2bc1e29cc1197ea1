import Foundation
import IndoorLocalization
import LoopbackServers
import Synchronization
import TemporaryFiles
import VenuePackets
import XCTest

/// Small packets whose files contain their version.
enum SampleVenue {
    /// Writes a packet's folder: two beacons, an image, and tiles that are the same in all versions.
    ///
    /// - Parameter imageSize: bytes of the image, at least.
    static func write(id: Int = 1, version: Int, imageSize: Int = 100, to folder: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/plans", withIntermediateDirectories: true)
        try Data(image(version: version, size: imageSize)).write(to: URL(filePath: folder + "/plans/ground.png"))
        try Data(repeating: UInt8(truncatingIfNeeded: id), count: 5_000).write(to: URL(filePath: folder + "/tiles.zip"))
        let map = VenueMap(
            id: 1, name: "Ground", level: 0, width: 10, height: 10, imagePath: "plans/ground.png",
            tilesPath: "tiles.zip")
        let beacons = (1...2).map { minor in
            let identity = BeaconIdentity(
                uuid: BeaconUUID(high: 1, low: UInt64(truncatingIfNeeded: id)), major: 5, minor: UInt16(minor))
            return VenueBeacon(identity: identity, mapID: 1, point: MapPoint(x: Double(minor), y: 1))
        }
        let venue = Venue(
            id: VenueID(rawValue: id), name: "Kiosk \(id)", version: version,
            coordinate: Coordinate(latitude: 50, longitude: 8), radius: 40, maps: [map], beacons: beacons)
        try VenuePacketWriter().write(venue, toFolder: folder)
    }

    /// The image of a version: its number again and again.
    static func image(version: Int, size: Int = 100) -> [UInt8] {
        let text = Array("\(version) ".utf8)
        return (0..<(size / text.count + 1)).flatMap { _ in text }
    }
}

extension XCTestCase {
    /// Publishes a version of a sample venue in a server's folder.
    func publish(id: Int = 1, version: Int, imageSize: Int = 100, in root: String) throws {
        let packet = try temporaryFolder()
        try SampleVenue.write(id: id, version: version, imageSize: imageSize, to: packet)
        _ = try VenuePublisher(folder: root).publish([packet])
    }

    /// A server's folder with version 3 of venue 1.
    func publishedFolder(imageSize: Int = 100) throws -> String {
        let root = try temporaryFolder()
        try publish(version: 3, imageSize: imageSize, in: root)
        return root
    }

    /// A packet's folder, as a program bundles it.
    func bundledPacket(id: Int = 1, version: Int) throws -> BundledPacket {
        let folder = try temporaryFolder()
        try SampleVenue.write(id: id, version: version, to: folder)
        return try BundledPacket(path: folder)
    }

    /// Asserts that the venue is that version, with files of that version which can be opened.
    func assertWhole(
        _ venue: Venue, version: Int, imageSize: Int = 100, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        XCTAssertEqual(venue.version, version, file: file, line: line)
        let map = try XCTUnwrap(venue.maps.first, file: file, line: line)
        let image = try Data(contentsOf: URL(filePath: try XCTUnwrap(map.imagePath)))
        XCTAssertEqual([UInt8](image), SampleVenue.image(version: version, size: imageSize), file: file, line: line)
        let tiles = try Data(contentsOf: URL(filePath: try XCTUnwrap(map.tilesPath)))
        XCTAssertEqual(tiles.count, 5_000, file: file, line: line)
    }
}

extension XCTestCase {
    /// Returns the digest that coreutils compute, as an independent check of the catalogue.
    func sha256(of path: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/sha256sum")
        process.arguments = [path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return String(text.prefix(64))
    }
}

/// The error that the body throws; nil if none, which is a failure.
func repositoryError<Result>(
    file: StaticString = #filePath, line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async -> VenueRepositoryError? {
    do {
        _ = try await body()
        XCTFail("nothing was thrown", file: file, line: line)
        return nil
    } catch {
        XCTAssertTrue(error is VenueRepositoryError, "\(error)", file: file, line: line)
        return error as? VenueRepositoryError
    }
}

/// What a repository reports while the body runs.
func reportedErrors(
    of repository: @autoclosure () throws -> VenueRepository, isolation: isolated (any Actor)? = #isolation,
    _ body: (VenueRepository) async throws -> Void
) async throws -> [LocalizationError] {
    // The stream ends with the repository, which lives only within this function.
    func run() async throws -> AsyncStream<LocalizationError> {
        let repository = try repository()
        let errors = repository.errors
        try await body(repository)
        return errors
    }
    return try await run().reduce(into: []) { $0.append($1) }
}

/// Collects values from any thread.
final class Collected<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])
    var all: [Element] { state.withLock { $0 } }
    func append(_ element: Element) { state.withLock { $0.append(element) } }
}

/// A server for whose answers a repository waits, although a version is stored: a test of what it answers must not depend
/// on the time that it needs.
func awaitedServer(
    _ url: String, _ patience: RetryPolicy = RetryPolicy(), credentials: VenueServerCredentials? = nil
) throws -> VenueServer {
    var patience = patience.unhurried
    patience.grace = .seconds(3600)
    return try VenueServer(url, credentials: credentials, patience: patience)
}

extension RetryPolicy {
    /// The policy with the limits of time that a test has set. The others are as long as possible, because a busy machine
    /// may exceed the usual ones, and another attempt is another request.
    fileprivate var unhurried: RetryPolicy {
        let (usual, longest) = (RetryPolicy(), Duration.seconds(3600))
        var policy = self
        if connectTimeout == usual.connectTimeout { policy.connectTimeout = longest }
        if stallTimeout == usual.stallTimeout { policy.stallTimeout = longest }
        if transferTimeout == usual.transferTimeout { policy.transferTimeout = longest }
        return policy
    }
}

extension XCTestCase {
    /// An nginx that serves the folder until the end of the test.
    func nginx(
        serving root: String, _ configuration: NginxServer.Configuration = NginxServer.Configuration()
    ) throws -> NginxServer {
        let server = try NginxServer(root: root, folder: try temporaryFolder(), configuration)
        addTeardownBlock { server.stop() }
        return server
    }

    /// A rude server until the end of the test.
    func rudeServer(_ answer: @escaping @Sendable (_ path: String, _ request: String) -> RudeServer.Answer) throws
        -> RudeServer
    {
        let server = try RudeServer(answer)
        addTeardownBlock { server.stop() }
        return server
    }
}
