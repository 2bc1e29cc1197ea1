import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

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
