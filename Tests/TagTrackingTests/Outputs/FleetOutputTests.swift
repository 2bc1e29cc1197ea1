import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel
import XCTest

final class FleetOutputJSONTests: XCTestCase {
    /// 22 November 2026, 9:00:00.123456789 UTC.
    private let instant = Instant(nanoseconds: 1_795_338_000_123_456_789)

    private func output(
        _ content: FleetOutput.Content, tag: TagKey = .name("forklift 7"), epoch: UInt64 = 1, sequence: UInt64 = 17
    ) -> FleetOutput {
        FleetOutput(tag: tag, name: "Forklift", epoch: epoch, sequence: sequence, instant: instant, content: content)
    }

    private var position: Position {
        Position(
            instant: instant, venueID: VenueID(rawValue: 1), mapID: MapID(rawValue: 2),
            point: MapPoint(x: 3.25, y: -0.0004), radius: 1.5,
            covariance: PositionCovariance(xx: 1, xy: 0.25, yy: 2), label: "Hall \"A\"\n",
            rooms: [RoomProbability(id: 4, name: "Hall", probability: 0.75)],
            coordinate: Coordinate(latitude: 52.123456789, longitude: -13.5), course: 270, speed: 0.5,
            floorCertainty: 1)
    }

    func testAPositionHasTheMembersOfLocate() {
        let json = output(.position(position)).json
        XCTAssertEqual(
            json,
            #"{"tag":"forklift 7","name":"Forklift","epoch":1,"sequence":17,"time":"2026-11-22T09:00:00.123Z","#
                + #""type":"position","venueId":1,"mapId":2,"x":3.250,"y":0.000,"radius":1.500,"#
                + #""covariance":[1.000,0.250,2.000],"label":"Hall \"A\"\n","#
                + #""rooms":[{"id":4,"name":"Hall","probability":0.750}],"latitude":52.12345679,"#
                + #""longitude":-13.50000000,"course":270.0,"speed":0.50,"floorCertainty":1.000}"#)
    }

    func testAReadPositionEqualsTheWrittenOneUpToTheDecimals() throws {
        let read = try FleetOutput(json: output(.position(position)).json)
        var expected = output(.position(position))
        expected.instant = Instant(nanoseconds: 1_795_338_000_123_000_000)
        var rounded = position
        rounded.instant = expected.instant
        rounded.point.y = 0
        rounded.coordinate?.latitude = 52.12345679
        expected.content = .position(rounded)
        XCTAssertEqual(read, expected)
        XCTAssertEqual(read.json, output(.position(position)).json)
    }

    func testEachTypeIsReadAsItIsWritten() throws {
        let room = Room(id: 4, name: "Hall", mapID: MapID(rawValue: 2))
        let fence = Fence(
            id: 9, name: "Gate", mapID: MapID(rawValue: 2), area: .polygon([]),
            payload: .object(["open": true, "doors": .array([1, 2.5, .null])]))
        let geofence = Geofence(id: "yard", name: "Yard", shape: .area(.polygon([])))
        let kinds: [LocalizationEvent.Kind] = [
            .enterRoom(room), .exitRoom(room), .enterFence(fence), .exitFence(fence), .enterGeofence(geofence),
            .exitGeofence(geofence),
        ]
        let whole = Instant(nanoseconds: 1_795_338_000_123_000_000)
        var contents: [FleetOutput.Content] = kinds.map {
            .event(LocalizationEvent(instant: whole, venueID: VenueID(rawValue: 1), kind: $0))
        }
        contents += [.present, .away]
        for content in contents {
            var expected = output(content)
            expected.instant = whole
            XCTAssertEqual(try FleetOutput(json: expected.json), expected, "\(content)")
        }
        XCTAssertTrue(
            output(contents[2]).json.hasSuffix(
                #""type":"enterFence","venueId":1,"mapId":2,"fence":{"id":9,"name":"Gate","#
                    + #""payload":{"doors":[1,2.5,null],"open":true}}}"#))
    }

    func testKeysOfAllKindsAndTheLargestNumbersAreExact() throws {
        let keys = ["E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/65535", "AA:BB:CC:DD:EE:FF", "keys: ü \u{1F511} \\ \u{1}"]
        for key in keys {
            let tag = try XCTUnwrap(TagKey(key))
            let written = output(.away, tag: tag, epoch: UInt64(Int64.max), sequence: UInt64(Int64.max) - 1)
            let read = try FleetOutput(json: written.json)
            XCTAssertEqual(read.tag, tag)
            XCTAssertEqual(read.epoch, UInt64(Int64.max))
            XCTAssertEqual(read.sequence, UInt64(Int64.max) - 1)
        }
    }

    func testAReaderIgnoresUnknownMembersAndWhiteSpace() throws {
        let read = try FleetOutput(
            json: #" { "type" : "away", "battery": {"volts": [3.0e0, null]}, "name": null, "sequence": 2,"#
                + #" "epoch": 1, "time": "1970-01-01T00:00:01Z", "tag": "a" } "#)
        XCTAssertEqual(
            read,
            FleetOutput(
                tag: .name("a"), epoch: 1, sequence: 2, instant: Instant(nanoseconds: 1_000_000_000), content: .away))
    }

    func testADefectiveOutputIsRefusedWithThePlaceAndTheMember() {
        let cases: [(json: String, offset: Int?, message: String)] = [
            ("", 0, "expected an object"),
            ("[]", 0, "expected an object"),
            (#"{"tag":"a""#, 10, "expected ',' or '}'"),
            (#"{"tag":7}"#, 7, "expected a string"),
            (#"{"epoch":1.5}"#, 9, "expected an integer of 64 bits"),
            (#"{"epoch":-1}"#, 9, "expected an integer of at least 0"),
            (#"{"x":01}"#, 5, "expected a number without leading zeros"),
            (#"{"x":1e999}"#, 5, "expected a number within ±1.8e308"),
            (#"{"time":"yesterday"}"#, 8, "expected a time such as 2026-11-22T09:00:00.123Z"),
            (#"{"tag":"\ud800"}"#, 10, "expected a pair of surrogates"),
            (#"{} x"#, 3, "expected the end of the document"),
            (#"{}"#, nil, "'tag' is missing"),
            (#"{"tag":""}"#, nil, "'tag' is empty"),
            (
                #"{"tag":"a","epoch":1,"sequence":1,"time":"2026-11-22T09:00:00Z","type":"gone"}"#, nil,
                "'type' is 'gone', which is unknown"
            ),
            (
                #"{"tag":"a","epoch":1,"sequence":1,"time":"2026-11-22T09:00:00Z","type":"position","venueId":1}"#, nil,
                "'mapId' is missing"
            ),
            (String(repeating: #"{"a":"#, count: 100), 160, "expected at most 32 nested arrays and objects"),
        ]
        for (json, offset, message) in cases {
            XCTAssertThrowsError(try FleetOutput(json: json), json) { error in
                XCTAssertEqual(error as? FleetOutputError, FleetOutputError(offset: offset, message: message), json)
            }
        }
    }

    func testEachPrefixOfAnOutputIsRefused() {
        let bytes = Array(output(.position(position)).json.utf8)
        for count in 0..<bytes.count {
            XCTAssertThrowsError(try FleetOutput(json: Array(bytes.prefix(count))), "\(count) bytes")
        }
    }

    func testANumberThatIsNotFiniteIsLeftOut() {
        var position = position
        position.point.x = .nan
        position.speed = .infinity
        let json = output(.position(position)).json
        XCTAssertFalse(json.contains(#""x""#))
        XCTAssertFalse(json.contains(#""speed""#))
        XCTAssertThrowsError(try FleetOutput(json: json)) { error in
            XCTAssertEqual((error as? FleetOutputError)?.message, "'x' is missing")
        }
    }
}

final class LatestOutputsTests: XCTestCase {
    private func output(
        _ tag: String, _ epoch: UInt64, _ sequence: UInt64, _ content: FleetOutput.Content = .present
    ) -> FleetOutput {
        FleetOutput(
            tag: .name(tag), epoch: epoch, sequence: sequence,
            instant: Instant(nanoseconds: Int64(1000 * epoch + sequence) * 1_000_000_000), content: content)
    }

    private func position(_ x: Double, label: String? = nil, coordinate: Coordinate? = nil) -> FleetOutput.Content {
        .position(
            Position(
                instant: .zero, venueID: VenueID(rawValue: 1), mapID: MapID(rawValue: 1), point: MapPoint(x: x, y: 0),
                radius: 1, label: label, coordinate: coordinate))
    }

    // MARK: Filter

    func testAFilterDropsRepeatedAndOldOutputs() {
        var filter = OutputFilter()
        let steps: [(epoch: UInt64, sequence: UInt64, isAccepted: Bool)] = [
            (1, 1, true), (1, 1, false), (1, 3, true), (1, 2, false), (2, 1, true), (1, 4, false), (2, 1, false),
            (2, 2, true),
        ]
        for step in steps {
            XCTAssertEqual(filter.accepts(output("a", step.epoch, step.sequence)), step.isAccepted, "\(step)")
        }
        XCTAssertTrue(filter.accepts(output("b", 1, 1)), "each tag has its own sequence")
        XCTAssertEqual(filter.droppedCount, 4)
    }

    func testAFilterStoresAtMostItsCapacity() {
        var filter = OutputFilter(capacity: 100)
        for number in 0..<10_000 {
            XCTAssertTrue(filter.accepts(output("\(number)", 1, 2)))
            XCTAssertTrue(filter.accepts(output("busy", 1, UInt64(number + 1))))
            XCTAssertFalse(filter.accepts(output("busy", 1, UInt64(number + 1))), "a tag with outputs isn't forgotten")
            XCTAssertLessThanOrEqual(filter.tagCount, 100)
        }
    }

    // MARK: States

    func testATagThatIsAwayKeepsItsPositionAndHasNoRoom() throws {
        var latest = LatestOutputs()
        latest.add(output("a", 1, 1))
        latest.add(output("a", 1, 2, position(2, label: "Hall")))
        XCTAssertEqual(latest.tags[.name("a")]?.room, "Hall")
        latest.add(output("a", 1, 3, .away))
        let room = Room(id: 1, name: "Hall", mapID: MapID(rawValue: 1))
        latest.add(
            output(
                "a", 1, 4,
                .event(LocalizationEvent(instant: .zero, venueID: VenueID(rawValue: 1), kind: .exitRoom(room)))))
        let tag = try XCTUnwrap(latest.tags[.name("a")])
        XCTAssertFalse(tag.isPresent)
        XCTAssertEqual(tag.presenceInstant, Instant(nanoseconds: 1003 * 1_000_000_000))
        XCTAssertEqual(tag.sequence, 4)
        XCTAssertEqual(tag.position?.x, 2)
        XCTAssertNil(tag.room)
        latest.add(output("a", 2, 1))
        XCTAssertEqual(latest.tags[.name("a")]?.isPresent, true)
        XCTAssertFalse(latest.add(output("a", 1, 9, .away)), "an output of an earlier epoch has no effect")
        XCTAssertEqual(latest.tags[.name("a")]?.isPresent, true)
    }

    func testTagsThatAreAwayAreDiscardedFirst() {
        var latest = LatestOutputs(capacity: 100)
        for number in 0..<100 { latest.add(output("\(number)", 1, 1, number % 10 == 7 ? .away : .present)) }
        latest.add(output("new", 1, 1))
        XCTAssertEqual(latest.tags.count, 91)
        XCTAssertEqual(latest.discardedCount, 10)
        XCTAssertTrue(latest.tags.values.allSatisfy(\.isPresent))
    }

    // MARK: GeoJSON

    func testACollectionHasAPointForEachTagWithCoordinates() {
        var latest = LatestOutputs()
        latest.add(output("a", 1, 1, position(2, label: "Hall", coordinate: Coordinate(latitude: 52.5, longitude: 13))))
        latest.add(output("b", 1, 1, position(3)))
        latest.add(output("c", 1, 1))
        let collection = TagCollection(latest.tags.values.sorted { $0.tag < $1.tag })
        XCTAssertEqual(collection.count, 1)
        XCTAssertEqual(collection.omitted, 2)
        XCTAssertEqual(
            String(decoding: collection.bytes, as: UTF8.self),
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":{"type":"Point","#
                + #""coordinates":[13.0000000,52.5000000]},"properties":{"tag":"a","present":true,"#
                + #""time":"1970-01-01T00:00:00.000Z","venueId":1,"mapId":1,"x":2.000,"y":0.000,"radius":1.000,"#
                + #""label":"Hall"}}],"omitted":2}"#)
    }
}
