import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

final class VenuePacketWriterTests: XCTestCase {
    func testTheReaderReturnsWhatWasWritten() throws {
        let seed: UInt64 = 20_260_201
        print("seed \(seed)")
        var venues = RandomVenue(seed: seed)
        for index in 0..<200 {
            let venue = venues.next()
            let bytes = try VenuePacketWriter().document(of: venue)
            let (read, problems) = VenuePacketReader.parse(bytes)
            XCTAssertEqual(read, venue, "venue \(index) of seed \(seed)")
            XCTAssertEqual(problems.filter { $0.severity == .error }, [], "venue \(index) of seed \(seed)")
        }
    }

    func testTheSameVenueGivesIdenticalOutput() throws {
        var venues = RandomVenue(seed: 7)
        for _ in 0..<20 {
            let venue = venues.next()
            XCTAssertEqual(try VenuePacketWriter().document(of: venue), try VenuePacketWriter().document(of: venue))
        }
    }

    func testEveryAcceptedPacketIsEqualAfterWritingAndReading() throws {
        let folder = try FixtureFolder("packets/accepted").path
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var venue = try VenuePacketReader().read(folder + "/" + name).venue
            venue.radioMap = nil  // a file of its own, not in the document
            XCTAssertEqual(VenuePacketReader.parse(try VenuePacketWriter().document(of: venue)).venue, venue, name)
        }
    }

    func testAnInvalidVenueIsNotWritten() throws {
        let folder = try temporaryFolder()
        var venue = Venue(id: 1, name: "a", maps: [VenueMap(id: 1, name: "b", level: 0, width: .nan, height: 1)])
        venue.beacons = [
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0, low: 0), major: 0, minor: 0), mapID: 2,
                point: MapPoint(x: 0, y: -.infinity))
        ]
        XCTAssertThrowsError(try VenuePacketWriter().write(venue, toFolder: folder)) { error in
            XCTAssertEqual(
                (error as? VenuePacketError)?.problems.map(\.path),
                ["$.maps[0].widthMeters", "$.beacons[0].mapId", "$.beacons[0].y"])
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [])
    }

    func testANumberTooLargeForJSONReadersIsRefused() {
        let map = VenueMap(id: 1, name: "b", level: 0, width: 1, height: 1)
        let venue = Venue(id: VenueID(rawValue: 1 << 53 + 1), name: "a", maps: [map])
        XCTAssertThrowsError(try VenuePacketWriter().document(of: venue)) { error in
            XCTAssertEqual((error as? VenuePacketError)?.problems.map(\.path), ["$.id"])
        }
    }

    func testAWrittenFolderIsReadBack() throws {
        let folder = try temporaryFolder() + "/new/packet"
        let map = VenueMap(id: 1, name: "b", level: 0, width: 1, height: 1)
        let venue = Venue(id: 3, name: "a", maps: [map])
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(try VenuePacketReader().read(folder).venue, venue)
    }
}
