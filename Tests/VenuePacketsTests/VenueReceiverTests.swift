import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TextFormats
import VenuePackets
import XCTest

/// The receivers of a venue packet, which locate tags.
final class VenueReceiverTests: XCTestCase {
    private func venue(_ beacons: String) -> (venue: Venue?, problems: [VenueProblem]) {
        VenuePacketReader.parse(
            Array(
                """
                {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "Kiosk", "version": 1,
                 "maps": [{"id": 1, "name": "G", "level": 0, "widthMeters": 20, "heightMeters": 10}],
                 "beacons": [\(beacons)]}
                """.utf8))
    }

    private func receiver(_ id: String, _ more: String = "") -> String {
        #"{"role": "receiver", "id": "\#(id)", "mapId": 1, "x": 1, "y": 2\#(more)}"#
    }

    func testAReceiverIsReadWithAllItsFields() throws {
        let venue = try VenuePacketReader().read(FixtureFolder("packets/accepted/receivers").path).venue
        XCTAssertEqual(venue.receivers.map(\.id), ["kitchen", "door"])
        XCTAssertEqual(
            venue.receivers.first,
            VenueReceiver(
                id: "kitchen", aliases: ["C8:25:2D:8E:9C:2C", "küche"],
                identity: VenueReceiver.identity(for: "kitchen"), mapID: 1, point: MapPoint(x: 2, y: 3), z: 2.4,
                measuredPower: -58.5, pathLossExponent: 2.2))
        XCTAssertEqual(venue.receivers.last?.identity.minor, 2)
        XCTAssertEqual(venue.beacons.map(\.identity.minor), [1], "a session of a device uses the beacons only")
        XCTAssertEqual(venue.forTags.beacons.map(\.point), venue.receivers.map(\.point))
    }

    func testTheDerivedIdentityDependsOnTheNameAlone() throws {
        let first = try XCTUnwrap(venue(receiver("a") + "," + receiver("b")).venue)
        let second = try XCTUnwrap(venue(receiver("b") + "," + receiver("c")).venue)
        XCTAssertEqual(first.receivers[1].identity, second.receivers[0].identity)
        XCTAssertNotEqual(first.receivers[0].identity, first.receivers[1].identity)
        // Pinned, because radio maps name receivers by their identity. The halves follow the FNV-1a hash of "a",
        // 0xaf63dc4c8601ec8c, from its published test vectors.
        XCTAssertEqual(VenueReceiver.identity(for: "a").uuid.description.prefix(18), "AF63DC4C-8601-8C8C")
    }

    func testADerivedIdentityEvadesAGivenOne() throws {
        let taken = VenueReceiver.identity(for: "a")
        let beacon = #"{"uuid": "\#(taken.uuid)", "major": 0, "minor": 0, "mapId": 1, "x": 1, "y": 2}"#
        let (read, problems) = venue(receiver("a") + "," + beacon)
        XCTAssertEqual(problems, [])
        let venue = try XCTUnwrap(read)
        XCTAssertEqual(venue.receivers.map(\.identity.minor), [1])
        XCTAssertEqual(VenuePacketReader.parse(try VenuePacketWriter().document(of: venue)).venue, venue)
    }

    func testAnUnknownRoleIsReportedWithTheAllowedOnes() {
        let problems = venue(#"{"role": "repeater", "id": "a", "mapId": 1, "x": 1, "y": 2}"#).problems
        XCTAssertEqual(
            problems.map(\.description),
            [#"error: $.beacons[0].role: is "repeater"; give "beacon" or "receiver""#])
    }

    func testADuplicateNameIsReportedWithTheOtherOne() {
        let problems = venue(receiver("a") + "," + receiver("b", #", "aliases": ["a"]"#)).problems
        XCTAssertEqual(
            problems.map(\.description),
            [
                #"error: $.beacons[1].aliases[0]: "a" is already the name at $.beacons[0].id; "#
                    + "give each receiver its own names"
            ])
    }

    func testAMisspelledKeyOfAReceiverIsReported() {
        let problems = venue(receiver("a", #", "aliase": ["b"]"#)).problems
        XCTAssertEqual(problems.map(\.path), ["$.beacons[0].aliase"])
    }

    func testAVenueWithReceiversOnlyHasNoProblem() throws {
        let folder = try temporaryFolder()
        let map = VenueMap(id: 1, name: "G", level: 0, width: 10, height: 10)
        let receiver = VenueReceiver(
            id: "a", identity: VenueReceiver.identity(for: "a"), mapID: 1, point: MapPoint(x: 1, y: 1))
        try VenuePacketWriter().write(Venue(id: 1, name: "K", maps: [map], receivers: [receiver]), toFolder: folder)
        XCTAssertEqual(VenuePacketReader().check(folder), [])
    }

    func testReceiversCountToTheLimitOfBeacons() throws {
        let entries = (0...30_000).map { receiver("r\($0)") }.joined(separator: ",")
        let problems = venue(entries).problems
        XCTAssertEqual(problems.map(\.path), ["$.beacons"])
        XCTAssertTrue(problems.first?.message.contains("30001 entries") == true, "\(problems)")
    }

    func testARadioMapOfReceiversBelongsToTheVenue() throws {
        let folder = try temporaryFolder()
        let map = VenueMap(id: 1, name: "G", level: 0, width: 10, height: 10)
        let identity = VenueReceiver.identity(for: "a")
        let receiver = VenueReceiver(id: "a", identity: identity, mapID: 1, point: MapPoint(x: 1, y: 1))
        var venue = Venue(id: 1, name: "K", maps: [map], receivers: [receiver])
        let surveyed = RadioMap.Beacon(identity: identity, mapID: 1, point: MapPoint(x: 1, y: 1), power: -60)
        venue.radioMap = RadioMap(beacons: [surveyed], fingerprints: [], pathLossExponent: 2)
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(VenuePacketReader().check(folder), [])
        venue.receivers[0].identity = VenueReceiver.identity(for: "b")
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(VenuePacketReader().check(folder).map(\.path), ["$.radioMap"])
    }

    func testAReceiverIsAFeatureOfGeoJSON() throws {
        var venue = try VenuePacketReader().read(FixtureFolder("packets/accepted/receivers").path).venue
        venue.maps[0].georeference = .center(Coordinate(latitude: 48.1, longitude: 11.5), bearing: 90)
        let document = try JSONTree(GeoJSONWriter().document(of: venue))
        let receivers = document["features"].values.filter { $0["properties"]["kind"].text == "receiver" }
        XCTAssertEqual(receivers.map { $0["properties"]["name"].text }, ["kitchen", "door"])
    }
}
