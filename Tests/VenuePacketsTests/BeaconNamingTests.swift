import IndoorLocalization
import IndoorLocalizationTesting
import TextFormats
import VenuePackets
import XCTest

/// The kinds of names that a venue packet has for its beacons.
final class BeaconNamingTests: XCTestCase {
    private func named() throws -> Venue {
        try VenuePacketReader().read(FixtureFolder("packets/accepted/beacon-names").path).venue
    }

    private func parse(_ beacons: String) -> (venue: Venue?, problems: [VenueProblem]) {
        VenuePacketReader.parse(
            Array(
                """
                {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "Kiosk", "version": 1,
                 "maps": [{"id": 1, "name": "G", "level": 0, "widthMeters": 20, "heightMeters": 10}],
                 "beacons": [\(beacons)]}
                """.utf8))
    }

    private func problems(_ beacons: String...) -> [String] {
        parse(beacons.map { "{\($0), \"mapId\": 1, \"x\": 1, \"y\": 2}" }.joined(separator: ",")).problems
            .map(\.description)
    }

    func testEachKindOfNameIsReadWithItsIdentity() throws {
        let venue = try named()
        let kinds: [BeaconNaming] = [.uuid, .eddystoneUID, .eddystoneUID, .altBeacon, .altBeacon]
        XCTAssertEqual(venue.beacons.map(\.naming), kinds + Array(repeating: .address, count: 5) + [.uuid])
        XCTAssertEqual(
            venue.beacons.map(\.name),
            [
                "3F2504E0-4F89-41D3-9A0C-0305E82C3301/1/1", "EDD1EBEAC04E5DEFA017/0BDB87539B67",
                "EDD1EBEAC04E5DEFA017/0BDB87539B68", "2F234454CF6D4A0FADF2F4911BA9FFA600010002",
                "2F234454CF6D4A0FADF2F4911BA9FFA600010003", "C4:7C:8D:00:01:01", "AC:23:3F:00:00:02",
                "D4:7C:8D:00:01:01", "02:00:00:00:00:01", "02:00:00:00:00:02",
                "3F2504E0-4F89-41D3-9A0C-0305E82C3301/1/2",
            ])
        XCTAssertEqual(
            venue.beacons[1].identity.description, "EDD1EBEA-C04E-5DEF-A017-0BDB87539B67/0/0")
        XCTAssertEqual(venue.beacons[3].identity.description, "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2")
        XCTAssertEqual(venue.beacons[5].identity.description, "42454143-4F4E-8000-8000-C47C8D000101/0/0")
        let types: [DeviceAddress.Kind?] = venue.beacons.map { $0.address?.kind }
        XCTAssertEqual(types, [.public, nil, nil, nil, nil, nil, nil, .random, .public, nil, .random])
        XCTAssertEqual(venue.beacons[5], VenueBeacon(address: DeviceAddress(rawValue: 0xC47C_8D00_0101), at: 6))
    }

    func testAnInteractionNamesItsBeaconAsThePacketDoes() throws {
        let venue = try named()
        let targets = venue.interactions.map(\.target)
        let expected = [1, 3, 5].map { Interaction.Target.beacon(BeaconRegion(venue.beacons[$0].identity)) }
        XCTAssertEqual(Array(targets.prefix(3)), expected)
        let text = String(decoding: try VenuePacketWriter().document(of: venue), as: UTF8.self)
        let written = try XCTUnwrap(text.replacing(" ", with: "").split(separator: "\"interactions\"").last)
        for name in [
            #""namespace":"EDD1EBEAC04E5DEFA017""#, #""altBeaconId":"2F234454CF6D4A0FADF2F4911BA9FFA600010002""#,
            #""address":"C4:7C:8D:00:01:01""#,
        ] {
            XCTAssertTrue(written.contains(name), "no \(name) in \(written)")
        }
        XCTAssertFalse(written.contains("42454143"))
    }

    func testContradictionsNameTheirRemedy() {
        let uuid = #""uuid": "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "major": 1, "minor": 1"#
        let address = #""address": "C4:7C:8D:00:01:01""#
        XCTAssertEqual(
            problems(uuid + #", "altBeaconId": "00""#),
            ["error: $.beacons[0]: has uuid, major and minor, and altBeaconId; give only one name of the beacon"])
        XCTAssertEqual(
            problems(#""z": 1"#),
            [
                "error: $.beacons[0]: has no name of a beacon; give uuid, major and minor, or namespace and instance, "
                    + "or altBeaconId, or address"
            ])
        XCTAssertEqual(
            problems(#""address": "44:7C:8D:00:01:01", "addressType": "random""#),
            [
                "error: $.beacons[0].address: is a random address that the device changes, because it is not static; "
                    + "give uuid, major and minor, or namespace and instance, or altBeaconId instead"
            ])
        XCTAssertEqual(
            problems(#""address": "02:00:00:00:00:01""#),
            [
                "warning: $.beacons[0].address: has not the form of a public or static address, so that the device may "
                    + "change it; give the addressType \"public\" if it is constant, or another name"
            ])
        XCTAssertEqual(
            problems(uuid + #", "address": "44:7C:8D:00:01:01", "addressType": "random""#),
            [
                "warning: $.beacons[0].address: has no effect, because the device changes a random address that is not "
                    + "static; remove it"
            ])
        XCTAssertEqual(
            problems(address, address),
            ["error: $.beacons[1]: has the identity of $.beacons[0]; give each beacon its own address"])
        for order in [[address, uuid + "," + address], [uuid + "," + address, address]] {
            XCTAssertEqual(
                problems(order[0], order[1]),
                [
                    "error: $.beacons[1].address: is also the address of $.beacons[0], and the only name of one of them"
                        + "; remove one entry, or correct its address"
                ])
        }
    }

    func testNamesOfOtherFormatsHaveNoEffectForAReceiver() {
        let names = #""namespace": "EDD1EBEAC04E5DEFA017", "altBeaconId": "0""#
        let found = problems(#""role": "receiver", "id": "a", "# + names)
        XCTAssertEqual(
            found,
            ["namespace", "altBeaconId"].map {
                "warning: $.beacons[0].\($0): has no effect for a receiver; give uuid, major and minor, or none"
            })
    }

    func testAMisspelledNameIsReported() {
        XCTAssertEqual(
            problems(#""address": "C4:7C:8D:00:01:01", "adressType": "random""#).map { $0.prefix(34) },
            ["warning: $.beacons[0].adressType: "])
    }

    func testASummaryRecognisesBeaconsByEachKindOfName() throws {
        let venue = try named()
        let summary = VenueSummary(of: venue)
        for beacon in venue.beacons {
            XCTAssertTrue(summary.regions.contains(BeaconRegion(beacon.identity)), beacon.name)
        }
        let alone = venue.beacons.filter { $0.naming == .address }
        XCTAssertEqual(alone.count, 5)
        for beacon in alone { XCTAssertEqual(summary.addresses[try XCTUnwrap(beacon.address)], beacon.identity) }
    }

    func testACatalogueKeepsTheKindOfAnAddress() async throws {
        let packet = try FixtureFolder("packets/accepted/beacon-names").path
        let root = try temporaryFolder()
        _ = try VenuePublisher(folder: root).publish([packet])
        let server = try nginx(serving: root)
        let repository = VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
        let known = try await repository.catalogue()
        XCTAssertEqual(known, [VenueSummary(of: try named())])
        let downloaded = try await repository.venue(7)
        XCTAssertEqual(downloaded, try named())
    }

    func testAnExportedBeaconHasTheNameOfItsPacket() throws {
        var venue = try named()
        venue.maps[0].georeference = .center(Coordinate(latitude: 48.1, longitude: 11.5), bearing: 90)
        let beacons = try JSONTree(GeoJSONWriter().document(of: venue))["features"].values
            .map { $0["properties"] }.filter { $0["kind"].text == "beacon" }
        XCTAssertEqual(
            [0, 1, 3, 5].map { beacons[$0]["name"].text },
            [
                "1 / 1", "EDD1EBEAC04E5DEFA017/0BDB87539B67", "2F234454CF6D4A0FADF2F4911BA9FFA600010002",
                "C4:7C:8D:00:01:01",
            ])
        XCTAssertEqual(beacons[1]["namespace"].text, "EDD1EBEAC04E5DEFA017")
        XCTAssertEqual(beacons[1]["instance"].text, "0BDB87539B67")
        XCTAssertEqual(beacons[3]["altBeaconId"].text, "2F234454CF6D4A0FADF2F4911BA9FFA600010002")
        XCTAssertEqual(beacons[5]["address"].text, "C4:7C:8D:00:01:01")
        XCTAssertEqual(beacons[5]["uuid"].text, "42454143-4F4E-8000-8000-C47C8D000101")
        XCTAssertEqual(beacons[0]["namespace"], .null)
    }

    func testARadioMapOfBeaconsWithoutIBeaconIdentityBelongsToItsVenue() throws {
        let folder = try temporaryFolder()
        var venue = try named()
        venue.radioMap = RadioMap(
            beacons: venue.beacons.map { .init(identity: $0.identity, mapID: $0.mapID, point: $0.point, power: -60) },
            fingerprints: [], pathLossExponent: 2)
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(try VenuePacketReader().read(folder).venue, venue)
        venue.radioMap?.beacons.removeAll { $0.identity.derivedAddress == nil }
        venue.beacons.removeAll { $0.naming == .address }
        venue.interactions = []
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertTrue(VenuePacketReader().check(folder).contains { $0.path == "$.radioMap" }, "none of its beacons")
    }
}

extension VenueBeacon {
    fileprivate init(address: DeviceAddress, at x: Double) {
        self.init(address: address, mapID: 1, point: MapPoint(x: x, y: 1))
    }
}
