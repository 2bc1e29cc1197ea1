import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import TextFormats
import VenueExchange
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
        let repository = VenueRepository(cache: try temporaryFolder(), server: try awaitedServer(server.url()))
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

final class InteractionPacketTests: XCTestCase {
    /// A packet with these interactions, a beacon, a room, a point of interest and an event.
    private func packet(_ interactions: String) throws -> String {
        let folder = try temporaryFolder()
        let document = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "n", "version": 1,
             "maps": [{"id": 1, "name": "m", "level": 0, "widthMeters": 10, "heightMeters": 10}],
             "beacons": [{"uuid": "0000000a-0000-0000-0000-000000000001", "major": 1, "minor": 2, "mapId": 1, "x": 1,
                          "y": 1}],
             "rooms": [{"id": 3, "name": "r", "mapId": 1}],
             "pois": [{"id": 4, "name": "p", "mapId": 1, "x": 2, "y": 2}],
             "events": [{"id": 5, "name": "e", "mapId": 1, "x": 2, "y": 2, "radius": 1}],
             "interactions": \(interactions)}
            """
        try write(["venue.json": document], to: folder)
        return folder
    }

    private func problems(_ interactions: String) throws -> [String] {
        try VenuePacketReader().check(packet(interactions)).map { "\($0.severity) \($0.path): \($0.message)" }
    }

    func testAllPartsOfInteractionsAreRead() throws {
        let venue = try VenuePacketReader().read(
            packet(
                """
                [{"id": 1, "name": "a", "room": 3, "trigger": "enter", "genericContent": "g", "payload": {"k": 1},
                  "contents": [{"id": 1, "language": "en", "content": "c", "image": "i.png", "link": "l",
                                "displayLink": "d"}, {"id": 2, "content": "all"}]},
                 {"id": 2, "name": "b", "poi": 4, "distance": 2.5, "trigger": "exit"},
                 {"id": 3, "name": "c", "event": 5, "trigger": "both"},
                 {"id": 4, "name": "d", "beacon": {"uuid": "0000000a-0000-0000-0000-000000000001"}},
                 {"id": 5, "name": "e", "beacon": {"uuid": "0000000a-0000-0000-0000-000000000001", "major": 1,
                                                   "minor": 2}}]
                """)
        ).venue
        let uuid = try XCTUnwrap(BeaconUUID("0000000a-0000-0000-0000-000000000001"))
        XCTAssertEqual(
            venue.interactions,
            [
                Interaction(
                    id: 1, name: "a", target: .room(3), trigger: .enter, genericContent: "g",
                    contents: [
                        Interaction.Content(
                            id: 1, language: "en", text: "c", image: "i.png", link: "l", displayLink: "d"),
                        Interaction.Content(id: 2, text: "all"),
                    ], payload: .object(["k": .number(1)])),
                Interaction(id: 2, name: "b", target: .pointOfInterest(4), trigger: .exit, distance: 2.5),
                Interaction(id: 3, name: "c", target: .fence(5)),
                Interaction(id: 4, name: "d", target: .beacon(BeaconRegion(uuid: uuid))),
                Interaction(id: 5, name: "e", target: .beacon(BeaconRegion(uuid: uuid, major: 1, minor: 2))),
            ])
        let folder = try temporaryFolder()
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(try VenuePacketReader().read(folder).venue, venue)
    }

    func testAProblemOfAnInteractionHasItsPath() throws {
        let uuid = "0000000a-0000-0000-0000-000000000001"
        for (interaction, expected) in [
            (#""room": 4"#, "error $.interactions[0].room: is 4; give the id of one of the rooms"),
            (#""poi": 3"#, "error $.interactions[0].poi: is 3; give the id of one of the pois"),
            (#""event": 3"#, "error $.interactions[0].event: is 3; give the id of one of the events"),
            (
                #""trigger": "enter""#,
                "error $.interactions[0]: has none of them; give one of beacon, room, poi and event"
            ),
            (
                #""room": 3, "poi": 4"#,
                "error $.interactions[0]: has room and poi; give one of beacon, room, poi and event"
            ),
            (
                #""room": 3, "trigger": "leave""#,
                #"error $.interactions[0].trigger: is "leave"; give "enter", "exit" or "both""#
            ),
            (
                #""poi": 4, "distance": 0"#,
                "error $.interactions[0].distance: is 0; give a number of metres above 0 and up to 1,000,000"
            ),
            (
                #""beacon": {"uuid": "\#(uuid)", "minor": 2}"#,
                "error $.interactions[0].beacon.minor: needs a major; give both, or neither"
            ),
            (
                #""beacon": {"uuid": "\#(uuid)", "major": 9}"#,
                "warning $.interactions[0].beacon: is not one of the packet's beacons; correct it, unless the beacon "
                    + "has no position"
            ),
            (
                #""room": 3, "distance": 2"#,
                "warning $.interactions[0].distance: has no effect, because a room and an event have an outline; "
                    + "give it for a beacon or a poi"
            ),
            (
                #""room": 3, "contents": [{"id": 1}]"#,
                "error $.interactions[0].contents[0].content: is missing; give a text for display"
            ),
            (
                #""room": 3, "triger": "enter""#,
                #"warning $.interactions[0].triger: "triger" is not a known key and has no effect; did you mean "#
                    + #""trigger"?"#
            ),
        ] {
            let problems = try problems(#"[{"id": 1, "name": "a", \#(interaction)}]"#)
            XCTAssertTrue(problems.contains(expected), "\(interaction): \(problems)")
        }
        let twice = #"{"id": 1, "name": "a", "room": 3}"#
        XCTAssertEqual(
            try problems("[\(twice), \(twice)]").map { String($0.prefix(29)) }, ["error $.interactions[1].id: 1"])
    }
}

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

/// The elevations of maps are in the order of their levels.
final class ElevationTests: XCTestCase {
    /// The problems of maps with a level and an elevation each.
    private func problems(_ maps: (level: Int, elevation: Double?)...) throws -> [String] {
        let maps = maps.enumerated().map { index, map in
            VenueMap(
                id: MapID(rawValue: index + 1), name: "Map", level: map.level, width: 20, height: 10,
                elevation: map.elevation)
        }
        let bytes = try VenuePacketWriter().document(of: Venue(id: 1, name: "House", maps: maps))
        return VenuePacketReader.parse(bytes).problems.map(\.description)
    }

    func testElevationsThatIncreaseAreNoProblem() throws {
        XCTAssertEqual(try problems((0, 0), (1, 3.6), (-1, -4)), [])
        XCTAssertEqual(try problems((2, 400), (3, 404)), [], "above the sea")
        XCTAssertEqual(try problems((0, 0), (1, nil), (2, 7)), [])
        XCTAssertEqual(try problems((0, 0), (4, 120)), [], "30 m for each level")
        XCTAssertEqual(try problems((0, nil), (1, -3)), [])
    }

    func testAFloorBelowTheOneUnderItIsReported() throws {
        let advice = "give metres above the ground floor"
        XCTAssertEqual(
            try problems((0, 0), (1, -3)), ["warning: $.maps[1].elevation: level 1 is below level 0; \(advice)"])
        XCTAssertEqual(
            try problems((1, 0), (0, 0)), ["warning: $.maps[0].elevation: level 1 is as high as level 0; \(advice)"])
        XCTAssertEqual(
            try problems((-1, 3), (0, 0), (1, 4)),
            ["warning: $.maps[0].elevation: level -1 is above level 0; \(advice)"])
    }

    func testAnElevationInCentimetresIsReported() throws {
        let advice = "give metres above the ground floor"
        XCTAssertEqual(
            try problems((0, 0), (1, 360)),
            ["warning: $.maps[1].elevation: level 1 is 360 m above level 0, more than 50 m; \(advice)"])
        XCTAssertEqual(
            try problems((0, 0), (-2, -700)),
            ["warning: $.maps[1].elevation: level -2 is 700 m below level 0, more than 100 m; \(advice)"])
    }

    /// The ground floors of two buildings on a slope are 10 m apart.
    func testFloorsOfSeveralBuildingsAreComparedWithAnyOfThem() throws {
        XCTAssertEqual(try problems((0, 0), (1, 4), (0, 10), (1, 14), (-1, 6)), [])
        XCTAssertEqual(try problems((0, 0), (0, 10), (1, -4)).count, 1)
    }
}

/// Rooms and points of interest that no path reaches are warned of.
final class UnreachedPlaceTests: XCTestCase {
    private static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Area {
        .polygon([
            MapPoint(x: x, y: y), MapPoint(x: x + width, y: y), MapPoint(x: x + width, y: y + height),
            MapPoint(x: x, y: y + height),
        ])
    }

    private static func node(_ id: Int, _ map: MapID, _ x: Double, _ y: Double) -> PathGraph.Node {
        PathGraph.Node(id: id, mapID: map, point: MapPoint(x: x, y: y))
    }

    /// A corridor on map 1 with a branch, joined to map 2 by stairs, and a way of its own in a corner; map 3 has no ways.
    private static let venue: Venue = {
        var ground = VenueMap(id: 1, name: "ground", level: 0, width: 40, height: 20)
        // The vault has no door.
        let corners = [(0.0, 0.0), (10, 0), (10, 10), (0, 10), (0, 0)]
        ground.walls = [corners.map { MapPoint(x: $0.0, y: $0.1) }]
        var venue = Venue(
            id: 1, name: "House", version: 1,
            maps: [
                ground, VenueMap(id: 2, name: "first", level: 1, width: 100, height: 100),
                VenueMap(id: 3, name: "second", level: 2, width: 40, height: 20),
            ])
        venue.paths = PathGraph(
            nodes: [
                node(1, 1, 5, 15), node(2, 1, 25, 15), node(3, 1, 25, 5), node(4, 1, 35, 15), node(10, 2, 1, 1),
                node(11, 2, 5, 1), node(20, 1, 33, 3), node(21, 1, 38, 3),
            ],
            edges: [(1, 2), (2, 3), (2, 4), (10, 11), (20, 21)].map { PathGraph.Edge(from: $0, to: $1) }
                + [PathGraph.Edge(from: 4, to: 10, kind: .stairs)])
        return venue
    }()

    private func problems(_ change: (inout Venue) -> Void) throws -> [String] {
        var venue = Self.venue
        change(&venue)
        let folder = try temporaryFolder()
        try VenuePacketWriter().write(venue, toFolder: folder + "/packet")
        return VenuePacketReader().check(folder + "/packet").filter { $0.path != "$.beacons" }.map(\.description)
    }

    private func problems(ofRoom area: Area?, on map: MapID = 1) throws -> [String] {
        try problems { $0.rooms = [Room(id: 1, name: "Room", mapID: map, area: area)] }
    }

    private func problems(ofPointAt x: Double, _ y: Double, on map: MapID = 1) throws -> [String] {
        try problems {
            $0.pointsOfInterest = [PointOfInterest(id: 1, name: "Desk", mapID: map, point: MapPoint(x: x, y: y))]
        }
    }

    func testAPathReachesARoomThatItEntersCrossesOrPassesInSight() throws {
        for area in [
            Self.box(22, 2, 6, 6), Self.box(10, 14, 2, 2), Self.box(12, 16, 4, 3),
            .circle(center: MapPoint(x: 30, y: 15.5), radius: 1),
        ] {
            XCTAssertEqual(try problems(ofRoom: area), [], "\(area)")
        }
    }

    func testARoomWithoutADoorIsReported() throws {
        XCTAssertEqual(
            try problems(ofRoom: Self.box(0.5, 0.5, 9, 9)),
            [
                "warning: $.rooms[0]: no path reaches Room: a wall is in between; add one through the door, or open "
                    + "the wall there"
            ])
        XCTAssertEqual(try problems(ofPointAt: 5, 5).count, 1)
    }

    func testARoomWhosePathsAreNotConnectedIsReported() throws {
        let told = try problems(ofRoom: Self.box(32, 1, 7, 4))
        XCTAssertEqual(
            told,
            [
                "warning: $.rooms[0]: no path reaches Room: the paths near it are not connected to the others; add an "
                    + "edge that connects them"
            ])
        XCTAssertEqual(try problems(ofPointAt: 36, 4).count, 1)
    }

    func testAPlaceFarFromAllPathsIsReported() throws {
        XCTAssertEqual(
            try problems(ofPointAt: 90, 90, on: 2),
            [
                "warning: $.pois[0]: no path reaches Desk: its map has none within 30 m; add one that leads "
                    + "there"
            ])
        XCTAssertEqual(try problems(ofRoom: Self.box(80, 80, 9, 9), on: 2).count, 1)
        XCTAssertEqual(try problems(ofPointAt: 20, 1, on: 2), [], "the stairs lead there")
    }

    func testAMapWithoutPathsAndARoomWithoutAShapeAreNotChecked() throws {
        XCTAssertEqual(try problems(ofPointAt: 5, 5, on: 3), [])
        XCTAssertEqual(try problems(ofRoom: nil), [])
        let told = try problems { venue in
            venue.paths = nil
            venue.rooms = [Room(id: 1, name: "Vault", mapID: 1, area: Self.box(0.5, 0.5, 9, 9))]
        }
        XCTAssertEqual(told, [])
    }
}
