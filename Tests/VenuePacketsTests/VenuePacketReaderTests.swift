import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import TemporaryFiles
import VenuePackets
import XCTest

/// Reads every packet of Fixtures/packets; the folder's name describes its special feature.
final class PacketFixtureTests: XCTestCase {
    func testEveryAcceptedPacketIsReadWithTheExpectedWarnings() throws {
        for packet in try packets(in: "packets/accepted") {
            let read = try VenuePacketReader().read(packet)
            XCTAssertEqual(read.warnings.map(Self.line), try expected(of: packet, orElse: []), packet)
        }
    }

    func testEveryRejectedPacketHasExactlyTheExpectedProblems() throws {
        for packet in try packets(in: "packets/rejected") {
            let expected = try expected(of: packet)
            XCTAssertThrowsError(try VenuePacketReader().read(packet), packet) { error in
                let problems = (error as? VenuePacketError)?.problems ?? []
                XCTAssertEqual(problems.map(Self.line).sorted(), expected.sorted(), packet)
            }
            XCTAssertEqual(VenuePacketReader().check(packet).map(Self.line).sorted(), expected.sorted(), packet)
        }
    }

    func testEveryProblemNamesItsRemedy() throws {
        for packet in try packets(in: "packets/rejected") {
            for problem in VenuePacketReader().check(packet) where problem.path != "$" {
                XCTAssertTrue(problem.message.contains(";"), "\(packet): \(problem)")
            }
        }
    }

    func testAChangedDocumentIsReadOrRefusedButNeverTraps() throws {
        let seed: UInt64 = 77
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let file = try FixtureFolder("packets/accepted/every-field").file("venue.json")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        let replacements = Array("{}[]\",:-.e0919NaN\\tn ".utf8)
        for round in 0..<1_500 {
            var changed = bytes
            for _ in 0...round % 4 {
                let index = Int.random(in: changed.indices, using: &random)
                changed[index] = replacements[Int.random(in: replacements.indices, using: &random)]
            }
            let (venue, problems) = VenuePacketReader.parse(changed)
            XCTAssertTrue(venue != nil || !problems.isEmpty, "round \(round) of seed \(seed)")
        }
    }

    func testADocumentThatIsTooLargeIsRefused() throws {
        let folder = try temporaryFolder()
        try write(["venue.json": String(repeating: " ", count: (16 << 20) + 1)], to: folder)
        let problems = VenuePacketReader().check(folder)
        XCTAssertEqual(problems.map(\.path), ["$"])
        XCTAssertTrue(problems.first?.message.contains("more than the limit of 16777216") ?? false, "\(problems)")
    }

    func testAMissingPacketIsRefused() {
        XCTAssertEqual(VenuePacketReader().check("/nowhere/at all").map(\.path), ["$"])
    }

    /// Public data sets are kept beside the repository, not in it.
    func testEveryDataSetBesideTheRepositoryIsReadWithoutErrors() throws {
        let fixtures = URL(filePath: try FixtureFolder("packets").path)
        let data = fixtures.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "shared/data").path
        guard FileManager.default.fileExists(atPath: data) else {
            print("testEveryDataSetBesideTheRepositoryIsReadWithoutErrors: no \(data), no data set was read")
            return
        }
        let packets = try FileManager.default.contentsOfDirectory(atPath: data).map { data + "/" + $0 }
            .filter { FileManager.default.fileExists(atPath: $0 + "/venue.json") }
        XCTAssertFalse(packets.isEmpty, "\(data) holds no venue.json")
        for packet in packets.sorted() {
            XCTAssertEqual(VenuePacketReader().check(packet).filter { $0.severity == .error }, [], packet)
        }
        print("testEveryDataSetBesideTheRepositoryIsReadWithoutErrors: read \(packets.count) data sets")
    }

    private static func line(_ problem: VenueProblem) -> String { "\(problem.severity.rawValue) \(problem.path)" }

    private func packets(in name: String) throws -> [String] {
        let folder = try FixtureFolder(name).path
        let packets = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
        XCTAssertFalse(packets.isEmpty, folder)
        return packets
    }

    private func expected(of packet: String, orElse standard: [String]? = nil) throws -> [String] {
        let file = packet + "/expected.txt"
        if let standard, !FileManager.default.fileExists(atPath: file) { return standard }
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }
}

/// The messages for packets that cannot be used, and their remedies.
final class PacketMessageTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private func message(_ path: String, radioMap: String? = nil) -> String {
        do throws(VenuePacketError) {
            _ = try VenuePacketReader().read(path, radioMap: radioMap)
            return "read"
        } catch { return error.description }
    }

    /// The smallest venue, with one beacon.
    private func packet(beacon identity: BeaconIdentity? = nil, in folder: String) throws -> String {
        let map = VenueMap(id: 1, name: "Ground", level: 0, width: 10, height: 10)
        let beacons = (identity.map { [$0] } ?? []).map {
            VenueBeacon(identity: $0, mapID: 1, point: MapPoint(x: 1, y: 2))
        }
        try VenuePacketWriter().write(Venue(id: 3, name: "Kiosk", maps: [map], beacons: beacons), toFolder: folder)
        return folder
    }

    private func radioMap(of identity: BeaconIdentity, in folder: String) throws -> String {
        let beacon = RadioMap.Beacon(identity: identity, mapID: 1, point: MapPoint(x: 1, y: 2), power: -60)
        let file = folder + "/map.json"
        try RadioMapFile.write(RadioMap(beacons: [beacon], fingerprints: [], pathLossExponent: 2), to: file)
        return file
    }

    func testAFileThatIsNotAPacketIsReportedInOneLine() throws {
        let folder = try temporaryFolder()
        let missing = folder + "/missing"
        XCTAssertEqual(message(missing), "\(missing): there is no \(missing); give a packet's folder or zip")
        XCTAssertEqual(message(""), ": the path is empty; give a packet's folder or zip")
        let document = folder + "/office.json"
        try Data("{}".utf8).write(to: URL(filePath: document))
        XCTAssertTrue(message(document).contains("is not named venue.json"), message(document))
    }

    func testAVenueThatNeedsTooMuchMemoryIsReportedWithItsMap() throws {
        let maps = (0..<40).map {
            VenueMap(id: MapID(rawValue: $0), name: "\($0)", level: $0, width: 1_000, height: 1_000)
        }
        let folder = try temporaryFolder()
        try VenuePacketWriter().write(Venue(id: 3, name: "Kiosk", maps: maps), toFolder: folder)
        let text = message(folder)
        XCTAssertTrue(text.contains("$.maps[32]"), text)
        XCTAssertTrue(text.contains("map cells"), text)
    }

    /// Whoever runs the tests may read everything: a link that leads to itself is refused to everybody.
    func testAFileWithoutPermissionIsNotReportedAsMissing() throws {
        let loop = try temporaryFolder() + "/loop"
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        for path in [loop, loop + "/venue.json"] {
            XCTAssertTrue(message(path).contains("cannot be read: Too many levels"), message(path))
        }
    }

    func testTheErrorOfAnUnwritablePacketDoesNotCallItUnusable() throws {
        let folder = try temporaryFolder()
        let packet = try packet(in: folder + "/packet")
        let zip = folder + "/none/a.zip"
        XCTAssertThrowsError(try VenuePacketWriter().pack(folder: packet, toZip: zip)) { error in
            XCTAssertEqual(
                "\(error)",
                "\(zip): cannot be written: No such file or directory; check the folder, its permissions and the free space"
            )
        }
    }

    func testTheErrorOfAnInvalidGivenRadioMapDoesNotBlameThePacket() throws {
        let folder = try temporaryFolder()
        let packet = try packet(beacon: beacon, in: folder)
        let document = folder + "/venue.json"
        XCTAssertEqual(
            message(packet, radioMap: document),
            """
            \(packet) cannot be used with this radio map:
              error: $.radioMap: \(document): $.format: is "indoor-localization-venue"; a radio map has \
            "indoor-localization-radio-map" here
            """)
        let missing = folder + "/none.json"
        XCTAssertTrue(
            message(packet, radioMap: missing).contains("$.radioMap: \(missing): there is no \(missing);"),
            message(packet, radioMap: missing))
    }

    func testARadioMapWithNoneOfTheVenuesBeaconsIsAWarning() throws {
        let folder = try temporaryFolder()
        let packet = try packet(beacon: beacon, in: folder)
        let own = try VenuePacketReader().read(packet, radioMap: radioMap(of: beacon, in: folder))
        XCTAssertEqual(own.warnings, [])
        let other = BeaconIdentity(uuid: beacon.uuid, major: 3, minor: 5)
        let foreign = try VenuePacketReader().read(packet, radioMap: radioMap(of: other, in: folder))
        XCTAssertEqual(foreign.warnings.map(\.path), ["$.radioMap"])
        XCTAssertTrue(try XCTUnwrap(foreign.warnings.first).message.hasSuffix("is it for another venue?"))
    }

    func testTheCheckWarnsOfAVenueWithoutBeacons() throws {
        let folder = try temporaryFolder()
        XCTAssertEqual(
            VenuePacketReader().check(try packet(in: folder + "/silent")).map(\.description),
            [
                "warning: $.beacons: there is none, and no radio map: no position can be estimated from beacons; add "
                    + "them, or survey the venue"
            ])
        XCTAssertEqual(VenuePacketReader().check(try packet(beacon: beacon, in: folder + "/heard")), [])
    }
}

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
