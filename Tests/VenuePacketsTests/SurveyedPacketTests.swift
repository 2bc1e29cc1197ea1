import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import TextFormats
import VenuePackets
import XCTest

/// Editions of a packet with radio maps, which are adopted and taken back.
final class SurveyedPacketTests: XCTestCase {
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    /// A radio map with one fingerprint.
    private func map(_ power: Double = -60) -> RadioMap {
        RadioMap(
            beacons: [.init(identity: Self.beacon, mapID: 1, point: MapPoint(x: 2, y: 3), power: power)],
            fingerprints: [
                .init(
                    mapID: 1, point: MapPoint(x: 4, y: 5), duration: 2,
                    readings: [.init(beacon: 0, rssi: -70, count: 4)])
            ], pathLossExponent: 2)
    }

    /// A packet of version 3 without a radio map.
    private func packet() throws -> String {
        let folder = try temporaryFolder() + "/packet"
        var venue = Venue(
            id: 9, name: "House", version: 3, maps: [VenueMap(id: 1, name: "Ground", level: 0, width: 20, height: 10)])
        venue.beacons = [VenueBeacon(identity: Self.beacon, mapID: 1, point: MapPoint(x: 2, y: 3))]
        try VenuePacketWriter().write(venue, toFolder: folder)
        return folder
    }

    private func venue(_ folder: String) throws -> Venue { try VenuePacketReader().read(folder).venue }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func text(_ folder: String) throws -> String {
        try String(contentsOf: URL(filePath: folder + "/venue.json"), encoding: .utf8)
    }

    private func problem(_ operation: () throws -> some Any) -> SurveyedPacket.Problem? {
        do { _ = try operation() } catch { return error as? SurveyedPacket.Problem }
        return nil
    }

    func testAnAdoptedMapIsTheNextEditionAndTheEarlierOneStaysBesideIt() throws {
        let folder = try packet()
        let (packet, text) = (SurveyedPacket(folder: folder), try text(folder))
        let edition = try packet.adopt(map(), after: try venue(folder))
        XCTAssertEqual(edition.venue, try venue(folder))
        XCTAssertEqual(edition.venue.version, 4)
        XCTAssertEqual(edition.venue.radioMap?.beacons.first?.power, -60)
        XCTAssertEqual(edition.previous, 3)
        XCTAssertEqual(edition.mapHash, SurveyedPacket.hash(of: map()))
        XCTAssertNotEqual(edition.mapHash, SurveyedPacket.hash(of: map(-50)))
        XCTAssertEqual(try packet.current, edition, "also after the next start")
        XCTAssertEqual(try packet.unsurveyed.version, 3)
        XCTAssertEqual(
            try String(contentsOf: URL(filePath: folder + "/venue-edition-3.json"), encoding: .utf8), text)
        XCTAssertEqual(try names(folder).count, 3)
    }

    func testTakingBackRestoresTheSameBytesAndNoVersionIsUsedTwice() throws {
        let folder = try packet()
        let (packet, text) = (SurveyedPacket(folder: folder), try text(folder))
        let first = try packet.adopt(map(), after: try venue(folder))
        let second = try packet.adopt(map(-50), after: first.venue)
        XCTAssertEqual(second.venue.version, 5)
        XCTAssertEqual(try packet.unsurveyed.version, 3)
        XCTAssertEqual(try packet.takeBack(from: second.venue), first)
        let original = try packet.takeBack(from: first.venue)
        XCTAssertEqual(original.venue.version, 3)
        XCTAssertNil(original.previous)
        XCTAssertEqual(try self.text(folder), text)
        XCTAssertEqual(problem { try packet.takeBack(from: original.venue) }, .hasNoEarlierEdition)
        XCTAssertEqual(try packet.adopt(map(), after: original.venue).venue.version, 6)
    }

    func testThePacketsOwnRadioMapIsRestored() throws {
        let folder = try packet()
        var venue = try venue(folder)
        venue.radioMap = map(-44)
        try VenuePacketWriter().write(venue, toFolder: folder)
        let packet = SurveyedPacket(folder: folder)
        let adopted = try packet.adopt(map(), after: venue)
        XCTAssertEqual(try packet.unsurveyed.radioMap?.beacons.first?.power, -44)
        XCTAssertEqual(try packet.takeBack(from: adopted.venue).venue, venue)
    }

    func testADocumentThatAnotherProgramChangedIsNotReplaced() throws {
        let folder = try packet()
        let (packet, venue) = (SurveyedPacket(folder: folder), try venue(folder))
        let adopted = try packet.adopt(map(), after: venue)
        let changed = try text(folder).replacing("\"House\"", with: "\"Home\"")
        try Data(changed.utf8).write(to: URL(filePath: folder + "/venue.json"))
        XCTAssertEqual(problem { try packet.adopt(self.map(), after: adopted.venue) }, .isChanged)
        XCTAssertEqual(problem { try packet.takeBack(from: adopted.venue) }, .isChanged)
        XCTAssertEqual(try text(folder), changed)
        XCTAssertNil(try packet.current.previous)
        XCTAssertNil(try packet.unsurveyed.radioMap, "the map of the survey isn't part of the packet before it")
    }

    func testAPacketThatAnotherProgramSavesIsBusy() throws {
        let folder = try packet()
        let lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        XCTAssertTrue(lock.lock())
        let venue = try venue(folder)
        XCTAssertEqual(problem { try SurveyedPacket(folder: folder).adopt(self.map(), after: venue) }, .isBusy)
        withExtendedLifetime(lock) {}
    }

    func testAMapOfAnotherVenueIsRefused() throws {
        let folder = try packet()
        let venue = try venue(folder)
        var map = map()
        map.beacons[0].mapID = 5
        map.fingerprints[0].mapID = 5
        guard case .isInvalid = problem({ try SurveyedPacket(folder: folder).adopt(map, after: venue) }) else {
            return XCTFail("adopted")
        }
        XCTAssertEqual(try names(folder), ["venue.json"], "no file remains")
    }

    func testAFullDiskLeavesThePacketUnchanged() throws {
        let folder = try packet()
        let (packet, venue, text) = (SurveyedPacket(folder: folder), try venue(folder), try text(folder))
        // A limit of the size of files has the same effect as a full disk: a write ends in the middle.
        let earlier = signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        var reasons: [SurveyedPacket.Problem?] = []
        for size in [10, text.utf8.count + 20] {
            var small = limit
            small.rlim_cur = rlim_t(size)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
            reasons.append(problem { try packet.adopt(map(), after: venue) })
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        }
        signal(SIGXFSZ, earlier)
        for reason in reasons {
            XCTAssertTrue(
                reason?.description.contains("can't be written") == true
                    && reason?.description.contains("free") == true
                    && reason?.description.contains(folder) == false,
                "\(String(describing: reason))")
        }
        XCTAssertEqual(try names(folder), ["venue.json"])
        XCTAssertEqual(try self.text(folder), text)
    }
}
