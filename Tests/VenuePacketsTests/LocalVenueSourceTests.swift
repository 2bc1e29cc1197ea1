import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import VenuePackets
import XCTest

final class LocalVenueSourceTests: XCTestCase {
    private let otherVenue = """
        {"format": "indoor-localization-venue", "formatVersion": 1, "id": 8, "name": "Other", "version": 1,
         "maps": [{"id": 1, "name": "a", "level": 0, "widthMeters": 20, "heightMeters": 10}], "beacons": []}
        """

    func testTheCatalogueListsEveryPacketWithItsBeacons() async throws {
        let folder = try temporaryFolder()
        try write(["venue.json": otherVenue], to: folder)
        let everyField = try FixtureFolder("packets/accepted/every-field").path
        let catalogue = try await LocalVenueSource(paths: [everyField, folder]).catalogue()
        XCTAssertEqual(catalogue.map(\.name), ["Museum", "Other"])
        XCTAssertEqual(catalogue.map(\.regions.count), [2, 0])
    }

    func testAPacketHasPathsThatCanBeOpenedAndTheProgressEndsAtOne() async throws {
        let folder = try FixtureFolder("packets/accepted/every-field").path
        let progress = Mutex<[Double]>([])
        let venue = try await LocalVenueSource(paths: [folder]).packet(for: 7) { fraction in
            progress.withLock { $0.append(fraction) }
        }
        XCTAssertEqual(venue.maps.first?.tilesPath, folder + "/tiles/ground.zip")
        XCTAssertEqual(progress.withLock(\.self), [0, 1])
    }

    func testASessionSurvivesAnUnknownVenue() async throws {
        let folder = try FixtureFolder("packets/accepted/smallest").path
        await assertThrows(.generic) { _ = try await LocalVenueSource(paths: [folder]).packet(for: 99) { _ in } }
    }

    func testABadPacketEndsTheSession() async throws {
        let folder = try FixtureFolder("packets/rejected/bad-uuid").path
        await assertThrows(.critical) { _ = try await LocalVenueSource(paths: [folder]).catalogue() }
    }

    func testTwoPacketsOfOneVenueAreRefused() async throws {
        let folder = try FixtureFolder("packets/accepted/smallest").path
        await assertThrows(.critical) { _ = try await LocalVenueSource(paths: [folder, folder]).catalogue() }
    }

    private func assertThrows(_ code: LocalizationError.Code, _ body: () async throws -> Void) async {
        do {
            try await body()
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual((error as? LocalizationError)?.code, code, "\(error)")
        }
    }
}
