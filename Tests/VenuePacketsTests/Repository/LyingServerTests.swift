import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

@testable import VenuePackets

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
        _ = try await VenueRepository(cache: cache, server: try VenueServer(good.url())).venue(1)
        let server = try lying(root, at: "= /catalogue.json")
        let repository = VenueRepository(cache: cache, server: try VenueServer(server.url()))
        let errors = repository.errors
        let known = try await repository.catalogue()
        XCTAssertEqual(known.map(\.version), [3])
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        let told = try await Bounded.first(1, of: errors)[0]
        XCTAssertTrue(told.message.contains("/catalogue.json"), told.message)
        XCTAssertEqual(told.kind, .badResponse)
        await repository.endRefreshing()
        let fresh = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let error = await repositoryError { try await fresh.venue(1) }
        guard case .brokenCatalogue = error else { return XCTFail("\(String(describing: error))") }
    }

    func testAPageInPlaceOfAPacketIsRefusedAndTheVenueIsFetchedLater() async throws {
        let root = try publishedFolder()
        let cache = try temporaryFolder()
        let server = try lying(root, at: "/venues/")
        let address = try VenueServer(server.url())
        let error = await repositoryError { try await VenueRepository(cache: cache, server: address).venue(1) }
        guard case .brokenPacket = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/staging"), [])
        let good = try nginx(serving: root)
        let repository = VenueRepository(cache: cache, server: try VenueServer(good.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testTheContentDecidesNotItsType() async throws {
        let wrong = NginxServer.Configuration(
            server: "location ~ (json|zip|png)$ { types { } default_type text/html; }")
        let server = try nginx(serving: try publishedFolder(), wrong)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        try assertWhole(try await repository.venue(1), version: 3)
    }
}
