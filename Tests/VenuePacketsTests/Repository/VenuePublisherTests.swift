import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenuePackets
import XCTest

final class VenuePublisherTests: XCTestCase {
    private func files(in root: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: root + "/" + $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    private func packet(id: Int = 1, version: Int) throws -> String { try bundledPacket(id: id, version: version).path }

    func testAPublishedFolderHasTheCatalogueAndPacketsWithImagesAndTiles() throws {
        let root = try temporaryFolder() + "/public"
        let changes = try VenuePublisher(folder: root).publish([try packet(version: 3)])
        XCTAssertEqual(changes.map(\.change), [.added])
        XCTAssertEqual(changes.map(\.venue.name), ["Kiosk 1"])
        let files = try files(in: root)
        XCTAssertEqual(files.count, 4, "\(files)")
        XCTAssertEqual(files.first, "catalogue.json")
        XCTAssertTrue(files.last?.hasPrefix("venues/1/3-") ?? false, "\(files)")
        XCTAssertEqual(Set(files.map { URL(filePath: $0).pathExtension }), ["json", "png", "zip"])
    }

    func testExistingFilesAreKeptAndANewerVersionReplacesTheEntry() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(id: 1, version: 1), try packet(id: 2, version: 1)])
        let before = try files(in: root)
        let changes = try publisher.publish([try packet(id: 2, version: 2)])
        XCTAssertEqual(changes.map(\.change), [.updated])
        XCTAssertTrue(Set(try files(in: root)).isSuperset(of: before))
        let text = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        XCTAssertTrue(text.contains("\"packet\":\"venues/1/1-"), text)
        XCTAssertTrue(text.contains("\"packet\":\"venues/2/2-"), text)
        XCTAssertFalse(text.contains("venues/2/1-"), text)
    }

    func testTheSamePacketAgainChangesNothingAsAFolderOrAsAZip() throws {
        let root = try temporaryFolder()
        let folder = try packet(version: 3)
        let zip = try temporaryFolder() + "/kiosk.zip"
        try VenuePacketWriter().pack(folder: folder, toZip: zip)
        _ = try VenuePublisher(folder: root).publish([folder])
        let before =
            try FileManager.default.attributesOfItem(atPath: root + "/catalogue.json")[.modificationDate] as? Date
        let changes = try VenuePublisher(folder: root).publish([zip, folder])
        XCTAssertEqual(changes.map(\.change), [.unchanged, .unchanged])
        let after =
            try FileManager.default.attributesOfItem(atPath: root + "/catalogue.json")[.modificationDate] as? Date
        XCTAssertEqual(before, after)
        XCTAssertEqual(try files(in: root).count, 4)
    }

    func testAChangedPacketWithoutAHigherVersionIsRefused() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(version: 3)])
        let changed = try packet(version: 3)
        try write(["plans/ground.png": "another image"], to: changed)
        for path in [changed, try packet(version: 2)] {
            do throws(VenueRepositoryError) {
                _ = try publisher.publish([path])
                XCTFail("nothing was thrown")
            } catch { XCTAssertEqual(error.problems.map(\.path), ["$.version"]) }
        }
    }

    /// A version of venue 1 at another latitude or with other beacons: the number of their UUID.
    private func packet(version: Int, latitude: Double, beacons number: UInt64) throws -> String {
        let path = try packet(version: version)
        var venue = try VenuePacketReader().read(path).venue
        venue.coordinate = Coordinate(latitude: latitude, longitude: 8)
        for index in venue.beacons.indices {
            venue.beacons[index].identity.uuid = BeaconUUID(high: 1, low: number)
        }
        try VenuePacketWriter().write(venue, toFolder: path)
        return path
    }

    func testAnotherVenueWithTheSameIDIsRefusedUntilTheFirstIsWithdrawn() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(version: 1, latitude: 50, beacons: 1)])
        let before = try files(in: root)
        for version in 1...2 {
            let other = try packet(version: version, latitude: 51, beacons: 2)
            do throws(VenueRepositoryError) {
                _ = try publisher.publish([other])
                XCTFail("nothing was thrown")
            } catch {
                XCTAssertEqual(error.problems.map(\.path), ["$.id"])
                XCTAssertTrue(error.description.contains("\"Kiosk 1\" is published under this id"), error.description)
                XCTAssertTrue(error.description.contains("111 km away"), error.description)
                XCTAssertTrue(error.description.contains("--withdraw 1"), error.description)
            }
        }
        XCTAssertEqual(try files(in: root), before)
        try publisher.withdraw([1])
        let moved = try packet(version: 1, latitude: 51, beacons: 2)
        XCTAssertEqual(try publisher.publish([moved]).map(\.change), [.added])
    }

    func testTwoVenuesWithTheSameIDAreNotPublishedTogether() throws {
        let root = try temporaryFolder()
        let both = try [50, 51].map { try packet(version: Int($0), latitude: $0, beacons: UInt64($0)) }
        XCTAssertThrowsError(try VenuePublisher(folder: root).publish(both)) { error in
            XCTAssertEqual((error as? VenueRepositoryError)?.problems.map(\.path), ["$.id"])
        }
        XCTAssertEqual(try files(in: root), [])
    }

    func testANewVersionMayHaveOtherBeaconsOrACorrectedPlace() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(version: 1, latitude: 50, beacons: 1)])
        let versions: [(latitude: Double, beacons: UInt64)] = [(50, 2), (51, 2), (51.005, 3)]
        for (index, change) in versions.enumerated() {
            let next = try packet(version: index + 2, latitude: change.latitude, beacons: change.beacons)
            XCTAssertEqual(try publisher.publish([next]).map(\.change), [.updated], "\(change)")
        }
        // A region that a person has shortened has the beacon, too.
        let catalogue = root + "/catalogue.json"
        let text = try String(contentsOf: URL(filePath: catalogue), encoding: .utf8)
        let shortened = text.replacing("\"major\":5,\"minors\":[1,2],", with: "")
        XCTAssertNotEqual(shortened, text)
        try Data(shortened.utf8).write(to: URL(filePath: catalogue))
        let next = try packet(version: 5, latitude: 52, beacons: 3)
        XCTAssertEqual(try publisher.publish([next]).map(\.change), [.updated])
    }

    func testARefusedPacketLeavesNothingInTheServersFolder() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(version: 3)])
        let before = try files(in: root)
        let changed = try packet(version: 3)
        try write(["plans/ground.png": "another image"], to: changed)
        XCTAssertThrowsError(try publisher.publish([try packet(id: 2, version: 1), changed]))
        XCTAssertEqual(try files(in: root), before)
    }

    func testPacketsThatWereNeverInACatalogueAreRemovedAndOlderOnesKept() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(version: 3)])
        let before = try files(in: root)
        let left = [
            "venues/1/3-b6c6ea8c7154.zip": "refused", "venues/1/4-b6c6ea8c7154.zip": "from a process that was killed",
            ".publishing/new-AbCdEf": "from another one",
        ]
        let kept = ["venues/1/2-b6c6ea8c7154.zip": "replaced", "venues/1/3-notes.txt": "somebody's own"]
        try write(left, to: root)
        try write(kept, to: root)
        _ = try publisher.publish([try packet(version: 3)])
        XCTAssertEqual(try files(in: root), (before + kept.keys).sorted())
    }

    func testAWithdrawnVenueIsNotListedAndItsFilesAreKept() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        _ = try publisher.publish([try packet(id: 1, version: 1), try packet(id: 2, version: 1)])
        let before = try files(in: root)
        XCTAssertThrowsError(try publisher.withdraw([1, 9])) { XCTAssertTrue("\($0)".contains("has no venue 9")) }
        try publisher.withdraw([1])
        XCTAssertEqual(try files(in: root), before)
        let text = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        XCTAssertFalse(text.contains("venues/1/"), text)
        XCTAssertTrue(text.contains("venues/2/"), text)
        XCTAssertEqual(try publisher.publish([try packet(id: 1, version: 1)]).map(\.change), [.added])
    }

    func testABadPacketIsRefusedWithItsProblemsAndNothingIsPublished() throws {
        let root = try temporaryFolder()
        let bad = try FixtureFolder("packets/rejected/unknown-map").path
        let good = try packet(version: 1)
        do throws(VenueRepositoryError) {
            _ = try VenuePublisher(folder: root).publish([good, bad])
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual(error.problems, VenuePacketReader().check(bad))
            XCTAssertTrue(error.description.contains("$.paths.nodes[0].mapId"), error.description)
        }
        XCTAssertEqual(try files(in: root), [])
    }

    func testABrokenCatalogueIsNotOverwritten() throws {
        let root = try temporaryFolder()
        try write(["catalogue.json": "{\"venues\": []"], to: root)
        XCTAssertThrowsError(try VenuePublisher(folder: root).publish([try packet(version: 1)]))
        XCTAssertEqual(
            try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8), "{\"venues\": []")
    }

    func testACatalogueWithChangedBytesNeverTraps() throws {
        let seed: UInt64 = 1_903
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let root = try temporaryFolder()
        _ = try VenuePublisher(folder: root).publish([try packet(id: 1, version: 1), try packet(id: 2, version: 1)])
        let path = root + "/catalogue.json"
        let bytes = try Data(contentsOf: URL(filePath: path))
        var refused = 0
        for round in 0..<200 {
            var changed = bytes
            for _ in 0...round % 3 {
                changed[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try changed.write(to: URL(filePath: path))
            do throws(VenueRepositoryError) { _ = try VenuePublisher(folder: root).publish([]) } catch {
                refused += 1
                XCTAssertTrue(error.problems.allSatisfy { $0.path.hasPrefix("$") }, "round \(round): \(error)")
                XCTAssertFalse(error.problems.isEmpty, "round \(round): \(error)")
            }
        }
        XCTAssertGreaterThan(refused, 100)
    }

    func testCataloguesWrittenInTheSameSecondHaveDifferentTimes() throws {
        let root = try temporaryFolder()
        var times: [Date] = []
        for version in 1...3 {
            _ = try VenuePublisher(folder: root).publish([try packet(version: version)])
            let attributes = try FileManager.default.attributesOfItem(atPath: root + "/catalogue.json")
            times.append(try XCTUnwrap(attributes[.modificationDate] as? Date))
        }
        for (earlier, later) in zip(times, times.dropFirst()) {
            XCTAssertGreaterThanOrEqual(later.timeIntervalSince(earlier), 1)
        }
    }

    /// A packet with an interaction that has these images.
    private func packet(withImages images: [String]) throws -> String {
        let packet = try temporaryFolder()
        try SampleVenue.write(id: 1, version: 3, to: packet)
        var venue = try VenuePacketReader().read(packet).venue
        let contents = images.enumerated().map { index, image in
            Interaction.Content(id: index, text: "text", image: image)
        }
        let region = BeaconRegion(venue.beacons[0].identity)
        venue.interactions = [Interaction(id: 1, name: "Cup", target: .beacon(region), contents: contents)]
        try VenuePacketWriter().write(venue, toFolder: packet)
        return packet
    }

    func testImagesOfInteractionsArePublishedAndFetched() async throws {
        let images = [
            "pictures/cup.jpg", "https://example.org/a.jpg", "missing.jpg", "link.jpg", "../secret.jpg", "venue.json",
        ]
        let packet = try packet(withImages: images)
        let outside = try temporaryFolder()
        try write(["pictures/cup.jpg": "a cup"], to: packet)
        try write(["secret.jpg": "a secret"], to: outside)
        try FileManager.default.createSymbolicLink(
            atPath: packet + "/link.jpg", withDestinationPath: outside + "/secret.jpg")
        let problems = VenuePacketReader().check(packet).filter { $0.path.hasPrefix("$.interactions") }
        XCTAssertEqual(Set(problems.map(\.severity)), [.warning])
        XCTAssertEqual(problems.map(\.path), [4, 2, 3].map { "$.interactions[0].contents[\($0)].image" })
        let zip = try temporaryFolder() + "/kiosk.zip"
        try VenuePacketWriter().pack(folder: packet, toZip: zip)
        for source in [packet, zip] {
            let root = try temporaryFolder()
            XCTAssertEqual(try VenuePublisher(folder: root).publish([source]).map(\.change), [.added])
            XCTAssertEqual(try files(in: root).filter { $0.hasSuffix(".jpg") }.count, 1)
            let server = try awaitedServer(try nginx(serving: root).url())
            let repository = VenueRepository(cache: try temporaryFolder(), server: server)
            let fetched = try await repository.venue(1).interactions[0].contents.map(\.image)
            let cup = try XCTUnwrap(fetched[0])
            XCTAssertEqual(try String(contentsOf: URL(filePath: cup), encoding: .utf8), "a cup")
            XCTAssertEqual(
                Array(fetched.dropFirst()),
                ["https://example.org/a.jpg", "missing.jpg", "link.jpg", nil, nil])
        }
    }

    func testAnEmptyImageIsRefusedBecauseACatalogueCannotHaveIt() throws {
        let root = try temporaryFolder()
        let publisher = VenuePublisher(folder: root)
        let packet = try packet(withImages: ["cup.jpg"])
        try write(["cup.jpg": ""], to: packet)
        XCTAssertThrowsError(try publisher.publish([packet])) { error in
            XCTAssertTrue("\(error)".contains("cup.jpg has 0 bytes"), "\(error)")
        }
        XCTAssertEqual(try files(in: root), [])
        try write(["cup.jpg": "a cup"], to: packet)
        XCTAssertEqual(try publisher.publish([packet]).map(\.change), [.added])
    }

    func testTheCatalogueContainsTheAddressesOfBeacons() async throws {
        let packet = try temporaryFolder()
        try SampleVenue.write(id: 1, version: 3, to: packet)
        var venue = try VenuePacketReader().read(packet).venue
        let address = try XCTUnwrap(DeviceAddress("C4:7C:8D:00:01:01"))
        venue.beacons[1].address = address
        try VenuePacketWriter().write(venue, toFolder: packet)
        let root = try temporaryFolder()
        _ = try VenuePublisher(folder: root).publish([packet])
        let server = try nginx(serving: root)
        let cache = try temporaryFolder()
        let repository = VenueRepository(cache: cache, server: try awaitedServer(server.url()))
        let known = try await repository.catalogue()
        XCTAssertEqual(known.first?.addresses, [address: venue.beacons[1].identity])
        XCTAssertEqual(known, [VenueSummary(of: venue)])
        _ = try await repository.venue(1)
        let stored = try await VenueRepository(cache: cache).catalogue()
        XCTAssertEqual(stored, known)
    }

    func testAnAddressOfTwoBeaconsIsAWarning() throws {
        let packet = try temporaryFolder()
        try SampleVenue.write(id: 1, version: 3, to: packet)
        var venue = try VenuePacketReader().read(packet).venue
        for index in venue.beacons.indices { venue.beacons[index].address = DeviceAddress("C4:7C:8D:00:01:01") }
        try VenuePacketWriter().write(venue, toFolder: packet)
        let problems = VenuePacketReader().check(packet).filter { $0.path.hasPrefix("$.beacons") }
        XCTAssertEqual(problems.map(\.severity), [.warning])
        XCTAssertEqual(problems.first?.path, "$.beacons[1].address")
        XCTAssertTrue(problems.first?.message.hasPrefix("is also the address of $.beacons[0]") ?? false, "\(problems)")
    }
}
