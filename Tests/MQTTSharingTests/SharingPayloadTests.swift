import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
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

/// The part of JSON Schema (draft 2020-12) that the schemas of `Fixtures/sharing` use. Any other keyword is an error.
struct JSONSchema {
    struct Unknown: Error, CustomStringConvertible { let description: String }

    private let root: [String: Any]

    init(path: String) throws {
        let value = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(filePath: path)))
        guard let root = value as? [String: Any] else { throw Unknown(description: "\(path) is not an object") }
        self.root = root
    }

    /// Returns the violations of the schema in a document.
    func defects(of bytes: [UInt8]) throws -> [String] {
        try Self.defects(of: try JSONSerialization.jsonObject(with: Data(bytes)), by: root, at: "$")
    }

    private static func defects(of value: Any, by schema: [String: Any], at path: String) throws -> [String] {
        var defects: [String] = []
        func require(_ isRight: Bool?, _ keyword: String) {
            if isRight == false { defects.append("\(path): \(keyword)") }
        }
        let (object, list, text) = (value as? [String: Any], value as? [Any], value as? String)
        let number = (value as? NSNumber)?.doubleValue
        for (keyword, rule) in schema {
            let bound = (rule as? NSNumber)?.doubleValue ?? 0
            switch keyword {
            case "$schema", "title", "description": break
            case "type":
                switch rule as? String {
                case "object": require(object != nil, keyword)
                case "array": require(list != nil, keyword)
                case "string": require(text != nil, keyword)
                case "number": require(number != nil, keyword)
                case "integer": require(number.map { $0 == $0.rounded() } ?? false, keyword)
                default: throw Unknown(description: "\(path): type \(rule)")
                }
            case "required":
                for name in rule as? [String] ?? [] { require(object.map { $0[name] != nil }, "required \(name)") }
            case "dependentRequired":
                for (name, others) in rule as? [String: [String]] ?? [:] where object?[name] != nil {
                    for other in others { require(object?[other] != nil, "\(name) without \(other)") }
                }
            case "properties":
                for (name, member) in rule as? [String: [String: Any]] ?? [:] {
                    guard let value = object?[name] else { continue }
                    defects += try Self.defects(of: value, by: member, at: "\(path).\(name)")
                }
            case "additionalProperties":
                for (name, value) in object ?? [:] {
                    defects += try Self.defects(of: value, by: rule as? [String: Any] ?? [:], at: "\(path).\(name)")
                }
            case "items":
                for value in list ?? [] {
                    defects += try Self.defects(of: value, by: rule as? [String: Any] ?? [:], at: "\(path)[]")
                }
            case "maxItems": require(list.map { Double($0.count) <= bound }, keyword)
            case "uniqueItems": require(list.map { Set($0.map { "\($0)" }).count == $0.count }, keyword)
            case "minLength": require(text.map { Double($0.unicodeScalars.count) >= bound }, keyword)
            case "maxLength": require(text.map { Double($0.unicodeScalars.count) <= bound }, keyword)
            case "pattern":
                let pattern = try Regex(rule as? String ?? "")
                require(text.map { $0.contains(pattern) }, keyword)
            case "minimum": require(number.map { $0 >= bound }, keyword)
            case "maximum": require(number.map { $0 <= bound }, keyword)
            case "exclusiveMaximum": require(number.map { $0 < bound }, keyword)
            default: throw Unknown(description: "\(path): keyword \(keyword)")
            }
        }
        return defects
    }
}

/// The messages for Home Assistant, against its documented topics and keys.
final class HomeAssistantDiscoveryTests: XCTestCase {
    private func discovery(_ device: String, name: String? = nil) throws -> HomeAssistantDiscovery {
        HomeAssistantDiscovery(device: try DeviceID(device), name: name, locationTopic: "l", presenceTopic: "p")
    }

    private func object(_ message: MQTTMessage) throws -> [String: Any] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }

    func testTheConfigurationHasATrackerAndASensorOfOneDevice() throws {
        let messages = try discovery("cart-7", name: "Cart 7").configuration
        XCTAssertEqual(
            messages.map(\.topic),
            [
                "homeassistant/device_tracker/indoorloc_cart-7_position/config",
                "homeassistant/sensor/indoorloc_cart-7_room/config",
            ])
        XCTAssertTrue(messages.allSatisfy { $0.isRetained && $0.quality == .atLeastOnce })
        let (tracker, sensor) = (try object(messages[0]), try object(messages[1]))
        XCTAssertEqual(tracker["json_attributes_topic"] as? String, "l")
        XCTAssertEqual(tracker["source_type"] as? String, "gps")
        XCTAssertEqual(sensor["state_topic"] as? String, "l")
        XCTAssertEqual(sensor["value_template"] as? String, "{{ value_json.label | default('unknown', true) }}")
        var identities: Set<String> = []
        for entity in [tracker, sensor] {
            XCTAssertEqual(entity["availability_topic"] as? String, "p")
            XCTAssertEqual(entity["availability_template"] as? String, "{{ 'online' if value else 'offline' }}")
            let device = try XCTUnwrap(entity["device"] as? [String: Any])
            XCTAssertEqual(device["identifiers"] as? [String], ["indoorloc_cart-7"])
            XCTAssertEqual(device["name"] as? String, "Cart 7")
            XCTAssertNotNil((entity["origin"] as? [String: Any])?["name"])
            identities.insert(try XCTUnwrap(entity["unique_id"] as? String))
        }
        XCTAssertEqual(identities.count, 2)
    }

    func testTheRemovalClearsTheSameTopics() throws {
        let discovery = try discovery("cart")
        XCTAssertEqual(discovery.removal.map(\.topic), discovery.configuration.map(\.topic))
        XCTAssertTrue(discovery.removal.allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }

    func testIDsUseAllowedCharactersAndStayDifferent() throws {
        let names = ["a b", "a_b", "a__b", "a_20b", "ä", "a.b", "A-b", "a\u{308}"]
        let topics = try names.map { try discovery($0).configuration[0].topic }
        XCTAssertEqual(Set(topics).count, names.count, "\(topics)")
        for topic in topics {
            XCTAssertNotNil(topic.wholeMatch(of: /homeassistant\/device_tracker\/[a-zA-Z0-9_-]+\/config/), topic)
        }
    }

    func testHomeAssistantFindsADeviceOnABroker() async throws {
        let broker = try broker()
        let cart = try device("cart", broker) { $0.homeAssistantPrefix = "homeassistant" }
        try await cart.connect()
        try await cart.share(.at(x: 1, coordinate: Coordinate(latitude: 48, longitude: 9), label: "Lab"))
        // Home Assistant starts later, and reads the retained messages.
        let home = try await PlainClient(port: broker.port)
        let location = "indoorloc/v1/devices/cart/location"
        let attributes = try object(try await home.message(location))
        XCTAssertEqual(attributes["latitude"] as? Double, 48)
        XCTAssertEqual(attributes["longitude"] as? Double, 9)
        XCTAssertEqual(attributes["gps_accuracy"] as? Double, 1.5)
        XCTAssertEqual(attributes["label"] as? String, "Lab")
        let reader = try await PlainClient(port: broker.port, filter: "homeassistant/#")
        let topic = "homeassistant/device_tracker/indoorloc_cart_position/config"
        let tracker = try await reader.message(topic)
        XCTAssertTrue(tracker.isRetained)
        XCTAssertEqual(try object(tracker)["json_attributes_topic"] as? String, location)
        // Home Assistant reports its start: the device publishes everything again.
        reader.publish("homeassistant/status", "online")
        let again = try await reader.message(topic)
        XCTAssertFalse(again.isRetained)
        XCTAssertEqual(again.payload, tracker.payload)
        await cart.withdrawFromHomeAssistant()
        let removal = try await reader.message(topic)
        XCTAssertEqual(removal.payload, [])
        home.close()
        reader.close()
    }
}

/// The sizes of lists that another person or device writes.
final class SharingLimitTests: XCTestCase {
    private func trust(_ text: String) throws -> SharingTrust {
        let path = try temporaryFolder() + "/trust"
        try Data(text.utf8).write(to: URL(filePath: path))
        return try SharingTrust(file: path)
    }

    func testTheKeysOfTrustedDevicesAreLimited() throws {
        let key = SharingSigningKey.generate().publicKey
        func list(_ count: Int) -> String { (1...count).map { "\(key) device \($0)\n" }.joined() }
        XCTAssertEqual(try trust(list(20_000)).keys.count, 20_000)
        XCTAssertThrowsError(try trust(list(20_001))) {
            XCTAssertTrue("\($0)".hasSuffix("/trust: line 20001: more than 20000 keys"), "\($0)")
        }
    }

    func testAListOfTrustedDevicesAboveTheLimitIsRefused() throws {
        let key = "\(SharingSigningKey.generate().publicKey) fork\n#"
        let comment = String(repeating: "x", count: (8 << 20) - key.utf8.count)
        XCTAssertEqual(try trust(key + comment).keys.count, 1)
        XCTAssertThrowsError(try trust(key + comment + "x")) {
            XCTAssertTrue("\($0)".hasSuffix("/trust: the file is larger than 8388608 bytes"), "\($0)")
        }
    }

    func testTheRoomsWithACapacityOnTheBrokerAreLimited() throws {
        func limits(_ count: Int) -> [UInt8] {
            Array("{\"rooms\":{\((1...count).map { "\"\($0)\":1" }.joined(separator: ","))}}".utf8)
        }
        XCTAssertEqual(try SharingPayload.limits(limits(1_000)).rooms?.count, 1_000)
        XCTAssertThrowsError(try SharingPayload.limits(limits(1_001))) {
            XCTAssertTrue("\($0)".contains("'rooms' has more than 1000 rooms"), "\($0)")
        }
    }
}

final class SharingSettingsTests: XCTestCase {
    private func error(_ change: (inout MQTTSharingSettings) -> Void) -> String? {
        var settings = MQTTSharingSettings()
        change(&settings)
        do throws(MQTTSharingError) {
            _ = try MQTTPositionSharing(MQTTBroker(), device: DeviceID(rawValue: "cart")!, settings: settings)
            return nil
        } catch { return "\(error)" }
    }

    func testSettingsOutOfRangeAreRefused() {
        let changes: [(String, (inout MQTTSharingSettings) -> Void)] = [
            ("interval", { $0.interval = .seconds(-1) }), ("interval", { $0.interval = .seconds(Int64.max) }),
            ("patience", { $0.patience = .seconds(-3) }), ("patience", { $0.patience = .zero }),
            ("keepAlive", { $0.keepAlive = .zero }), ("keepAlive", { $0.keepAlive = .seconds(65_536) }),
            ("firstPause", { $0.firstPause = .zero }), ("roomCapacity", { $0.roomCapacity = -1 }),
            ("serverCapacity", { $0.serverCapacity = -1 }),
        ]
        for (name, change) in changes {
            XCTAssertEqual(
                error(change)?.hasPrefix("the setting '\(name)' is "), true, "\(name): \(error(change) ?? "")")
        }
        XCTAssertEqual(error { $0.keepAlive = .zero }, "the setting 'keepAlive' is 0.0 s: give 5.0 s to 65535.0 s")
    }

    func testTheBoundsOfTheRangesAreAllowed() {
        XCTAssertNil(error { ($0.interval, $0.keepAlive, $0.patience) = (.zero, .seconds(5), .milliseconds(1)) })
        XCTAssertNil(
            error { ($0.interval, $0.keepAlive, $0.patience) = (.seconds(86_400), .seconds(65_535), .seconds(3600)) })
        XCTAssertNil(error { ($0.roomCapacity, $0.serverCapacity) = (0, 0) })
    }
}
