import Foundation
import IndoorLocalization
import LoopbackServers
import XCTest

@testable import VenuePackets

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
        let address = try VenueServer(server.url())
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
