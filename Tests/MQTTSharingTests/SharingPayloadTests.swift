import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import MQTTSharing
import XCTest

/// Payloads against their schemas, and against malformed messages.
final class SharingPayloadTests: XCTestCase {
    private func schema(_ name: String) throws -> JSONSchema {
        try JSONSchema(path: try FixtureFolder("sharing").file("\(name).schema.json"))
    }

    private let full = SharedPosition(
        Position(
            instant: .zero, venueID: 7, mapID: 3, point: MapPoint(x: 1.25, y: -2), radius: 0.5, label: "Lab \"ä\"",
            coordinate: Coordinate(latitude: -90, longitude: 180), course: 359.9),
        of: DeviceID(rawValue: "cart")!, name: "Cart ✓", in: "hall", level: -1, sentAt: 1_800_000_000.125)
    private let bare = SharedPosition(
        Position(instant: .zero, venueID: 7, mapID: 3, point: MapPoint(x: 0, y: 0), radius: 0),
        of: DeviceID(rawValue: "cart")!, in: "hall", sentAt: 0)

    func testPublishedPayloadsMatchTheirSchemas() throws {
        for position in [full, bare] {
            XCTAssertEqual(try schema("position").defects(of: SharingPayload.bytes(position)), [])
            XCTAssertEqual(try schema("location").defects(of: SharingPayload.locationBytes(position)), [])
        }
        let message = SharedMessage(device: full.device, room: "hall", tag: "", text: "\u{0}\u{1F600}", sentAt: 1)
        XCTAssertEqual(try schema("message").defects(of: SharingPayload.bytes(message)), [])
        let presence = SharingPayload.Presence(device: "cart", name: nil, session: "1", rooms: ["hall"], sentAt: 1)
        XCTAssertEqual(try schema("presence").defects(of: SharingPayload.bytes(presence)), [])
        for limits in [SharingPayload.Limits(), .init(serverCapacity: 1, roomCapacity: 3, rooms: ["a": 2])] {
            XCTAssertEqual(try schema("limits").defects(of: SharingPayload.bytes(limits)), [])
        }
    }

    func testTheSchemasDetectInvalidPayloads() throws {
        let right = String(decoding: SharingPayload.bytes(full), as: UTF8.self)
        for (old, new) in [
            (#""radius":0.5"#, #""radius":-1"#), (#""room":"hall""#, #""room":"a/b""#), (#""x":1.25,"#, ""),
            (#""venueId":7"#, #""venueId":7.5"#), (#""latitude":-90,"#, ""), (#""course":359.9"#, #""course":360"#),
        ] {
            let wrong = right.replacing(old, with: new)
            XCTAssertNotEqual(wrong, right, old)
            XCTAssertEqual(try schema("position").defects(of: Array(wrong.utf8)).count, 1, wrong)
        }
    }

    func testPayloadsAreDecodedAsTheyWereEncoded() throws {
        for position in [full, bare] {
            let read = try SharingPayload.position(SharingPayload.bytes(position), of: position.device, in: "hall")
            XCTAssertEqual(read, position)
        }
    }

    func testNumbersHaveOnlySignificantDigits() throws {
        var long = full
        (long.x, long.y, long.radius, long.course) = (1.0 / 3, -2.0 / 3, 0.12345, 359.97)
        long.coordinate = Coordinate(latitude: 48.123456789, longitude: -9.987654321)
        let read = try SharingPayload.position(SharingPayload.bytes(long), of: long.device, in: "hall")
        XCTAssertEqual([read.x, read.y, read.radius, read.course], [0.333, -0.667, 0.123, 0])
        XCTAssertEqual(read.coordinate, Coordinate(latitude: 48.12345679, longitude: -9.98765432))
        let location = String(decoding: SharingPayload.locationBytes(long), as: UTF8.self)
        for part in [#""x":0.333,"#, #""gps_accuracy":0.123,"#, #""longitude":-9.98765432,"#, #""course":0,"#] {
            XCTAssertTrue(location.contains(part), location)
        }
        long.x = .greatestFiniteMagnitude
        let huge = try SharingPayload.position(SharingPayload.bytes(long), of: long.device, in: "hall")
        XCTAssertEqual(huge.x, .greatestFiniteMagnitude)
    }

    /// The reader refuses payloads that violate the schema or its additional rules, with a reason.
    func testInvalidPayloadsAreRefusedWithAReason() throws {
        let right = String(decoding: SharingPayload.bytes(full), as: UTF8.self)
        for (old, new, reason) in [
            (#""radius":0.5"#, #""radius":-1"#, "out of range"), (#""x":1.25,"#, "", "'x' is missing"),
            (#""x":1.25"#, #""x":"1""#, "'x' has the wrong type"), (#""x":1.25"#, #""x":null"#, "'x'"),
            (#""venueId":7"#, #""venueId":7.5"#, "out of range"), (#""venueId":7"#, #""venueId":1e99"#, "out of range"),
            (#""x":1.25"#, #""x":1e999"#, "out of range"), (#""latitude":-90"#, #""latitude":-90.5"#, "out of range"),
            (#""latitude":-90,"#, "", "is missing"), (#""course":359.9"#, #""course":360"#, "out of range"),
            (#""device":"cart""#, #""device":"fork""#, "'device' is not that of the topic"),
            (#""room":"hall""#, #""room":"yard""#, "'room' is not that of the topic"), ("{", "", "not JSON"),
            ("}", "", "not JSON"), ("{", "[", "not JSON"),
        ] {
            let wrong = right.replacing(old, with: new)
            XCTAssertNotEqual(wrong, right, old)
            XCTAssertThrowsError(
                try SharingPayload.position(Array(wrong.utf8), of: full.device, in: "hall"), wrong
            ) { error in XCTAssertTrue("\(error)".contains(reason), "\(error), not \(reason)") }
        }
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: SharingPayload.longest)
        XCTAssertThrowsError(try SharingPayload.limits(deep))
        XCTAssertThrowsError(try SharingPayload.limits(deep + [0])) {
            XCTAssertTrue("\($0)".contains("bytes"), "\($0)")
        }
        let rooms = (0...64).map { "room \($0)" }
        let presence = SharingPayload.Presence(device: "cart", name: nil, session: "", rooms: rooms, sentAt: 0)
        XCTAssertThrowsError(try SharingPayload.presence(SharingPayload.bytes(presence), of: full.device))
    }

    func testCorruptedPayloadsNeverTrap() throws {
        let seed = UInt64(0xB17E5)
        var random = SeededGenerator(seed: seed)
        let right = SharingPayload.bytes(full)
        var refused = 0
        for _ in 0..<3000 {
            var bytes = right
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[..<index].suffix(5), at: index)
                }
            }
            do {
                let position = try SharingPayload.position(bytes, of: full.device, in: "hall")
                XCTAssertTrue(position.isValid, "seed \(seed)")
            } catch { refused += 1 }
        }
        XCTAssertGreaterThan(refused, 1000, "seed \(seed)")
    }
}

final class SharingTopicsTests: XCTestCase {
    private let topics = SharingTopics(prefix: "site 4/indoorloc")

    func testEveryTopicIsParsedFromItsName() throws {
        let device = try DeviceID("Gabelstapler ä")
        for topic in [
            SharingTopic.limits, .presence(device), .location(device), .position(room: "hall", device),
            .message(room: "devices", device),
        ] { XCTAssertEqual(topics.topic(topics.name(topic)), topic) }
    }

    func testUnknownTopicNamesAreRejected() {
        for name in [
            "", "/", "site 4/indoorloc", "site 4/indoorloc/", "site 4/indoorlocX/limits", "other/limits",
            "site 4/indoorloc/limits/more", "site 4/indoorloc/devices//presence", "site 4/indoorloc/devices/a/other",
            "site 4/indoorloc/rooms/hall/devices/a", "site 4/indoorloc/rooms//devices/a/position",
            "site 4/indoorloc/rooms/+/devices/a/position", "site 4/indoorloc/rooms/hall/other/a/position",
            "site 4/indoorloc/rooms/hall/devices/#/message", "site 4/indoorloc/rooms/hall/devices/a/message/",
        ] { XCTAssertNil(topics.topic(name), name) }
    }

    func testAPrefixWithWildcardsIsRefused() throws {
        for prefix in ["", "/", "a//b", "a/+", "#", "a/", "$SYS"] {
            var settings = MQTTSharingSettings()
            settings.prefix = prefix
            let device = try DeviceID("cart")
            XCTAssertThrowsError(try MQTTPositionSharing(MQTTBroker(), device: device, settings: settings)) { error in
                XCTAssertEqual(error as? MQTTSharingError, .badPrefix(prefix))
            }
        }
    }
}
