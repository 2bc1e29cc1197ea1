import IndoorLocalization
import VenuePackets
import XCTest

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
