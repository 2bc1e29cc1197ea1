import BeaconScanning
import FoundationEssentials
import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import XCTest

final class GatewayDecoderTests: XCTestCase {
    private let decoder = GatewayDecoder()

    private func readings(
        _ topic: String, _ payload: String, _ format: GatewayFormat? = nil
    ) throws(GatewayError) -> [GatewayReading] {
        try decoder.readings(topic: topic, payload: Array(payload.utf8), format: format)
    }

    // MARK: - RSSI

    /// A message of each JSON format with an RSSI.
    private func messages(rssi: String) -> [(topic: String, payload: String, format: GatewayFormat)] {
        [
            ("espresense/devices/a/hall", #"{"mac":"aabbccddeeff","id":"aabbccddeeff","rssi":\#(rssi)}"#, .espresense),
            ("home/gw/BTtoMQTT/a", #"{"id":"AA:BB:CC:DD:EE:FF","rssi":\#(rssi)}"#, .openMQTTGateway),
            ("home/gw/BTtoMQTT/a", #"{"id":"AA:BB:CC:DD:EE:FF","rssi":\#(rssi)}"#, .theengs),
            ("ruuvi/gw/AA:BB:CC:DD:EE:FF", #"{"gw_mac":"gw","rssi":\#(rssi),"data":""}"#, .ruuvi),
            ("", #"{"data":{"gw_mac":"gw","tags":{"AA:BB:CC:DD:EE:FF":{"rssi":\#(rssi)}}}}"#, .ruuviHTTP),
            ("", #"[{"type":"Gateway","mac":"gw"},{"mac":"AABBCCDDEEFF","rssi":\#(rssi)}]"#, .minewLong),
            ("", #"[{"gateway":"gw"},{"mac":"AABBCCDDEEFF","rssi":\#(rssi)}]"#, .minewRaw),
            ("gw", #"[1,"AA:BB:CC:DD:EE:FF",\#(rssi),"",""]"#, .shelly),
            ("tele/gw/BLE", #"{"DetailsBLE":{"mac":"AABBCCDDEEFF","RSSI":\#(rssi)}}"#, .tasmota),
            ("tele/gw/SENSOR", #"{"IBEACON":{"MAC":"AABBCCDDEEFF","RSSI":\#(rssi)}}"#, .tasmota),
            ("x", #"{"entity":{"id":"ble-aabbccddeeff","measuredValues":{"gw":{"rssi":\#(rssi)}}}}"#, .roomAssistant),
            ("room_presence/gw", #"{"id":"aabbccddeeff","rssi":\#(rssi)}"#, .roomAssistant),
            ("", #"{"trackingId":"aabbccddeeff","sourceId":"gw","rssi":\#(rssi)}"#, .kontakt),
            ("", #"{"transmitterId":"aabbccddeeff","rssiSignature":[{"receiverId":"gw","rssi":\#(rssi)}]}"#, .raddec),
        ]
    }

    func testAnRSSIThatIsNoMeasurementHasNoReading() throws {
        for rssi in ["0", "-0", "-0.0", "127", "1", "20", "-128", "-127.5", "1e9"] {
            for (topic, payload, format) in messages(rssi: rssi) {
                XCTAssertEqual(try readings(topic, payload, format), [], payload)
            }
        }
    }

    func testANameThatIsNoTextCostsNoReading() throws {
        let names: [(bytes: [UInt8], name: String?)] = [
            (Array("Zoé".utf8), "Zoé"), ([0x5A, 0xFF, 0x41], nil), ([0x5A, 0x01], nil), ([0x5A, 0x0A], nil),
            (Array("Z\\u0007".utf8), nil), (Array("Z\u{9B}".utf8), nil), ([], nil),
        ]
        let messages: [(topic: String, before: String, after: String, format: GatewayFormat)] = [
            (
                "espresense/devices/a/hall", #"{"mac":"aabbccddeeff","id":"aabbccddeeff","rssi":-60,"name":""#, "\"}",
                .espresense
            ),
            ("home/gw/BTtoMQTT/a", #"{"id":"AA:BB:CC:DD:EE:FF","rssi":-60,"name":""#, "\"}", .openMQTTGateway),
            ("", #"[{"type":"Gateway","mac":"gw"},{"mac":"AABBCCDDEEFF","rssi":-60,"bleName":""#, "\"}]", .minewLong),
            ("room_presence/gw", #"{"id":"aabbccddeeff","rssi":-60,"name":""#, "\"}", .roomAssistant),
            ("tele/gw/SENSOR", #"{"IBEACON":{"MAC":"AABBCCDDEEFF","RSSI":-60,"NAME":""#, "\"}}", .tasmota),
        ]
        for message in messages {
            for (bytes, name) in names {
                let payload = Array(message.before.utf8) + bytes + Array(message.after.utf8)
                let readings = try decoder.readings(topic: message.topic, payload: payload, format: message.format)
                XCTAssertEqual(readings.map(\.rssi), [-60], "\(message.format) \(bytes)")
                if message.format != .roomAssistant || name != nil {
                    XCTAssertEqual(readings.first?.name, name, "\(message.format) \(bytes)")
                }
            }
        }
    }

    func testTheStrongestAndTheWeakestRSSIAreReadings() throws {
        for (rssi, value) in [("-1", -1.0), ("-127", -127.0), ("-0.5", -0.5)] {
            for (topic, payload, format) in messages(rssi: rssi) {
                let readings = try readings(topic, payload, format)
                XCTAssertEqual(readings.map(\.rssi), [value], payload)
                XCTAssertEqual(readings.first?.address?.description, "AA:BB:CC:DD:EE:FF", payload)
            }
        }
    }

    func testAnImpossibleRSSIIsAnErrorWithItsOffset() {
        for rssi in ["-129", "-1e9", "\"-70\"", "null", "true", "[-70]", "1e999"] {
            for (topic, payload, format) in messages(rssi: rssi) {
                XCTAssertThrowsError(try readings(topic, payload, format), payload) { error in
                    let error = error as? GatewayError
                    XCTAssertEqual(error?.format, format, payload)
                    XCTAssertEqual(error?.offset, payload.utf8Offset(of: rssi), payload)
                    XCTAssertEqual(error?.message.uppercased().hasPrefix("RSSI: EXPECTED "), true, "\(error as Any)")
                }
            }
        }
    }

    func testTheWindowIsThatOfTheGatewaysFilter() throws {
        for (topic, payload, format) in messages(rssi: "-70") {
            let expected: Duration =
                switch format {
                case .espresense: .seconds(15)
                case .roomAssistant: .seconds(9)
                default: .zero
                }
            XCTAssertEqual(try readings(topic, payload, format).map(\.window), [expected], payload)
        }
    }

    // MARK: - Malformed messages

    func testNoTruncatedMessageTrapsOrHasAReadingOfItsEnd() throws {
        for fixture in try GatewayFixtureTests.accepted() {
            for length in 0..<fixture.payload.count {
                let payload = Array(fixture.payload.prefix(length))
                if fixture.readings.isEmpty {
                    _ = try? decoder.readings(topic: fixture.topic, payload: payload, format: fixture.format)
                    continue
                }
                XCTAssertThrowsError(
                    try decoder.readings(topic: fixture.topic, payload: payload, format: fixture.format),
                    "\(fixture.path) cut to \(length) bytes"
                ) { error in
                    let error = error as? GatewayError
                    XCTAssertEqual(error?.format, fixture.format)
                    XCTAssertLessThanOrEqual(error?.offset ?? 0, length)
                }
            }
        }
    }

    func testChangedMessagesNeverTrapAndHaveOnlyValidReadings() throws {
        let fixtures = try GatewayFixtureTests.accepted()
        var generator = SeededGenerator(seed: 7)
        var count = 0
        for round in 0..<20_000 {
            let fixture = fixtures[round % fixtures.count]
            var payload = fixture.payload
            for _ in 0...Int.random(in: 0...2, using: &generator) where !payload.isEmpty {
                let index = Int.random(in: payload.indices, using: &generator)
                payload[index] = UInt8.random(in: 0...255, using: &generator)
            }
            let format = Bool.random(using: &generator) ? fixture.format : nil
            guard let readings = try? decoder.readings(topic: fixture.topic, payload: payload, format: format) else {
                continue
            }
            count += readings.count
            for reading in readings {
                XCTAssertTrue(Sighting.isMeasurement(rssi: reading.rssi), "\(reading)")
                XCTAssertFalse(reading.receiver.isEmpty)
                XCTAssertTrue(
                    reading.address != nil || reading.beacon != nil || reading.identifier?.isEmpty == false
                        || reading.name?.isEmpty == false)
            }
        }
        XCTAssertGreaterThan(count, 2_000)
    }

    func testCrashersNoLongerTrap() throws {
        for path in try FixtureFolder("crashes").files() {
            let payload = Array(try Data(contentsOf: URL(filePath: path)))
            for format in GatewayFixtureTests.formats {
                let readings = try? decoder.readings(topic: "tele/a/BLE", payload: payload, format: format)
                XCTAssertEqual(readings ?? [], [], path)
            }
        }
    }

    func testAnUnknownMessageIsAnErrorWithoutAFormat() {
        for (topic, payload) in [
            ("", ""), ("a/b", "{}"), ("a/b", "[]"), ("a/b", "[{}]"), ("", "\u{1}"), ("", "{\"id\":1}"), ("/", "5"),
            ("zigbee2mqtt/plug", #"{"state":"ON","linkquality":120}"#),
        ] {
            XCTAssertThrowsError(try readings(topic, payload), payload) { error in
                let error = error as? GatewayError
                XCTAssertNotNil(error)
                XCTAssertNil(error?.format)
                XCTAssertNil(error?.offset)
            }
        }
    }

    // MARK: - Topics

    func testALeadingSlashDoesntChangeATopic() throws {
        let payload = #"{"mac":"aabbccddeeff","id":"aabbccddeeff","rssi":-70}"#
        let plain = try readings("espresense/devices/a/hall", payload)
        XCTAssertEqual(try readings("/espresense/devices/a/hall", payload), plain)
        XCTAssertEqual(plain.map(\.receiver), ["hall"])
    }

    func testATopicWithAPrefixNamesTheSameReceiver() throws {
        let payload = #"{"mac":"aabbccddeeff","id":"aabbccddeeff","rssi":-70}"#
        let readings = try readings("site-2/espresense/devices/a/küche 1", payload)
        XCTAssertEqual(readings.map(\.receiver), ["küche 1"])
        XCTAssertEqual(readings.map(\.window), [.seconds(15)])
        XCTAssertEqual(
            try self.readings("site-2/home/gw/BTtoMQTT/a", payload).map(\.receiver), ["gw"])
    }
}

extension String {
    /// Returns the offset of the first occurrence of a text in UTF-8.
    fileprivate func utf8Offset(of text: String) -> Int? {
        firstRange(of: text).map { utf8.distance(from: startIndex, to: $0.lowerBound) }
    }
}

final class IndoorlocPayloadTests: XCTestCase {
    private let topic = "site/gateways/hall-3/advertisements"
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private let zero = WallClock(timeOfZero: .seconds(1_790_000_000) + .nanoseconds(1))

    private func readings() throws -> [SensorReading] {
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        func address(_ kind: DeviceAddress.Kind?) -> DeviceAddress {
            DeviceAddress(rawValue: 0xAABB_CCDD_EEFF, kind: kind)
        }
        return [
            .advertisement(
                Advertisement(
                    instant: Instant(nanoseconds: 1), address: address(.public), rssi: -60,
                    data: try frame.advertisingData())),
            .advertisement(
                Advertisement(instant: Instant(nanoseconds: 2), address: address(.random), rssi: 127, data: [])),
            .advertisement(
                Advertisement(
                    instant: Instant(nanoseconds: 3), address: address(nil), rssi: -63.25,
                    data: [5, 9, 0x63, 0x61, 0x72, 0x74])),
            .advertisement(
                Advertisement(instant: Instant(nanoseconds: 3), address: address(nil), rssi: -70, data: [9, 9, 1])),
            .sighting(Sighting(instant: Instant(nanoseconds: 4), beacon: beacon, rssi: -61)),
            .sighting(
                Sighting(
                    instant: Instant(nanoseconds: .max), beacon: beacon, rssi: -61.5, measuredPower: -59,
                    address: address(.random))),
        ]
    }

    func testAMessageIsDecodedAsItWasEncoded() throws {
        for clock in [nil, zero] {
            let payload = IndoorlocPayload(wallClock: clock, readings: try readings())
            XCTAssertEqual(try IndoorlocPayload(decoding: payload.encoded()), payload)
        }
    }

    func testTheFirstVersionIsReadForEver() throws {
        let payload = IndoorlocPayload(
            wallClock: WallClock(timeOfZero: .nanoseconds(258)),
            readings: [
                .advertisement(
                    Advertisement(
                        instant: Instant(nanoseconds: 1),
                        address: DeviceAddress(rawValue: 0x0102_0304_0506, kind: .random),
                        rssi: -60, data: [2, 1, 6]))
            ])
        let bytes: [UInt8] =
            [0x49, 0x4C, 0x41, 1, 2, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
            + [1, 0, 0, 0, 0, 0, 0, 0, 3, 6, 5, 4, 3, 2, 1, 0, 0xC4, 3, 0, 2, 1, 6]
        XCTAssertEqual(payload.encoded(), bytes)
        XCTAssertEqual(try IndoorlocPayload(decoding: bytes), payload)
    }

    func testAMessageGivesTheReadingsOfItsGateway() throws {
        let payload = IndoorlocPayload(wallClock: zero, readings: try readings()).encoded()
        let decoded = try GatewayDecoder().readings(topic: topic, payload: payload)
        XCTAssertEqual(decoded.map(\.receiver), Array(repeating: "hall-3", count: 5))
        XCTAssertEqual(decoded.map(\.beacon), [beacon, nil, nil, beacon, beacon])
        XCTAssertEqual(decoded.map(\.name), [nil, "cart", nil, nil, nil])
        XCTAssertEqual(decoded.map(\.rssi), [-60, -63.25, -70, -61, -61.5], "127 isn't a measurement")
        XCTAssertEqual(decoded.map(\.measuredPower), [-59, nil, nil, nil, -59])
        XCTAssertEqual(decoded.map(\.address?.kind), [.public, nil, nil, nil, .random])
        XCTAssertEqual(
            decoded[0].time, GatewayTime(nanoseconds: 1_790_000_000_000_000_002, resolution: .microseconds(1)))
        XCTAssertEqual(decoded[0].window, .zero)
        XCTAssertEqual(try GatewayDecoder().readings(topic: topic, payload: payload, format: .indoorloc), decoded)
    }

    func testTheNameOfTheGatewayIsInTheTopic() throws {
        let topic = IndoorlocPayload.topic(prefix: "site/a", gateway: "hall-3")
        XCTAssertEqual(topic, "site/a/gateways/hall-3/advertisements")
        XCTAssertEqual(IndoorlocPayload.presenceTopic(prefix: "site", gateway: "x"), "site/gateways/x/presence")
        XCTAssertEqual(IndoorlocPayload.gateway(ofTopic: topic), "hall-3")
        for text in ["", "advertisements", "gateways//advertisements", "a/hall/advertisements", "gateways/x/presence"] {
            XCTAssertNil(IndoorlocPayload.gateway(ofTopic: text), text)
        }
        XCTAssertEqual(
            try GatewayDecoder().readings(topic: "site/gateways/x/presence", payload: Array("online".utf8)), [])
        XCTAssertThrowsError(try IndoorlocPayload.readings(topic: "a", payload: [])) { error in
            XCTAssertEqual(
                "\(error)", "indoorloc message: the topic 'a' doesn't end in gateways/NAME/advertisements")
        }
    }

    func testEachTruncatedMessageIsInvalid() throws {
        let bytes = IndoorlocPayload(wallClock: zero, readings: try readings()).encoded()
        for count in 0..<bytes.count {
            XCTAssertThrowsError(try IndoorlocPayload(decoding: Array(bytes.prefix(count))), "\(count) bytes")
        }
        XCTAssertThrowsError(try IndoorlocPayload(decoding: bytes + [0])) { error in
            XCTAssertEqual("\(error)", "indoorloc message at byte \(bytes.count): expected the end of the message")
        }
    }

    func testAnErrorStatesItsReason() {
        let head: [UInt8] = [0x49, 0x4C, 0x41, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        for (bytes, reason) in [
            ([1, 2], "at byte 0: expected ILA and the version"),
            ([0x49, 0x4C, 0x41, 2], "at byte 3: expected version 1; use the same release at both ends"),
            (Array(head.prefix(7)), "at byte 4: expected a head of 16 bytes"),
            (head + [0x11, 0x27, 0, 0], "at byte 12: expected at most 10000 records"),
            (head + [1, 0, 0, 0], "at byte 16: the message ends within a record, or has an invalid one"),
        ] {
            XCTAssertThrowsError(try IndoorlocPayload(decoding: bytes), reason) { error in
                XCTAssertEqual("\(error)", "indoorloc message \(reason)")
            }
        }
    }

    func testRandomBytesNeverStopTheDecoder() throws {
        let valid = IndoorlocPayload(wallClock: zero, readings: try readings()).encoded()
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 4..<bytes.count, using: &generator)] = .random(
                    in: .min ... .max, using: &generator)
            }
            guard let readings = try? IndoorlocPayload.readings(topic: topic, payload: bytes) else { continue }
            XCTAssertTrue(readings.allSatisfy { Sighting.isMeasurement(rssi: $0.rssi) })
            XCTAssertTrue(readings.allSatisfy { ($0.measuredPower ?? -1) < 0 })
            XCTAssertLessThanOrEqual(readings.count, bytes.count / 13)
        }
    }
}

final class GatewayFixtureTests: XCTestCase {
    /// The formats whose messages are fixtures. The own format has fixtures of its own.
    static let formats = GatewayFormat.allCases.filter { $0 != .indoorloc }

    static func fixtures(of format: GatewayFormat) throws -> [GatewayFixture] {
        try FixtureFolder("gateways/\(format.rawValue)").files().filter { !$0.hasSuffix(".txt") }.map {
            try GatewayFixture(message: $0, format: format)
        }
    }

    static func accepted() throws -> [GatewayFixture] {
        try formats.flatMap { try fixtures(of: $0) }.filter { $0.error == nil }
    }

    func testEveryAcceptedMessageHasTheReadingsOfItsFixture() throws {
        for fixture in try Self.accepted() {
            let readings = try GatewayDecoder().readings(
                topic: fixture.topic, payload: fixture.payload, format: fixture.format)
            XCTAssertEqual(readings.map(GatewayFixture.line(of:)), fixture.readings, fixture.path)
        }
    }

    func testTheDecoderDetectsTheFormatOfEveryAcceptedMessage() throws {
        for fixture in try Self.accepted() {
            let readings = try GatewayDecoder().readings(topic: fixture.topic, payload: fixture.payload)
            XCTAssertEqual(readings.map(GatewayFixture.line(of:)), fixture.readings, fixture.path)
        }
    }

    func testEveryRejectedMessageThrowsTheErrorOfItsFixture() throws {
        for fixture in try Self.formats.flatMap(Self.fixtures(of:)) {
            guard let error = fixture.error else { continue }
            XCTAssertThrowsError(
                try GatewayDecoder().readings(topic: fixture.topic, payload: fixture.payload, format: fixture.format),
                fixture.path
            ) { XCTAssertEqual("\($0)", error, fixture.path) }
        }
    }

    func testEveryFormatHasAcceptedAndRejectedMessages() throws {
        for format in Self.formats {
            let fixtures = try Self.fixtures(of: format)
            XCTAssertTrue(fixtures.contains { $0.error == nil && !$0.readings.isEmpty }, format.rawValue)
            XCTAssertTrue(fixtures.contains { $0.error != nil }, format.rawValue)
        }
    }

    func testTheFoldersContainNothingButFixtures() throws {
        for format in Self.formats {
            let files = try FixtureFolder("gateways/\(format.rawValue)").files()
            let messages = files.filter { $0.hasSuffix(".json") || $0.hasSuffix(".bin") }
            XCTAssertEqual(files, (messages + messages.map(GatewayFixture.expectation(of:))).sorted())
        }
    }
}

/// A message of a gateway with the readings or the error that a decoder returns for it.
///
/// The message is `NAME.json` or `NAME.bin`. `NAME.txt` contains its topic, and a line for each reading or the error.
struct GatewayFixture {
    let path: String
    let format: GatewayFormat
    let topic: String
    let payload: [UInt8]
    /// The lines of the readings, each as ``line(of:)`` writes it.
    let readings: [String]
    /// The description of the error; nil if the message is accepted.
    let error: String?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the fixture of a message.
    init(message path: String, format: GatewayFormat) throws {
        self.path = path
        self.format = format
        payload = Array(try Data(contentsOf: URL(filePath: path)))
        let expectation = Self.expectation(of: path)
        guard let text = try? String(contentsOf: URL(filePath: expectation), encoding: .utf8) else {
            throw Failure(description: "\(path) has no expectation: write \(expectation)")
        }
        var topic: String?
        var readings: [String] = []
        var error: String?
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch (parts[0], parts.count) {
            case ("topic", 2): topic = parts[1]
            case ("reading", 2): readings.append(parts[1])
            case ("error", 2): error = parts[1]
            default: throw Failure(description: "\(expectation) has an unknown line: \(line)")
            }
        }
        guard let topic else { throw Failure(description: "\(expectation) has no topic") }
        let isAccepted = path.split(separator: "/").last?.hasPrefix("accepted-") == true
        guard isAccepted == (error == nil) else {
            throw Failure(description: "\(expectation) contradicts the name of the message")
        }
        (self.topic, self.readings, self.error) = (topic, readings, error)
    }

    /// Returns the path of the expectation of a message.
    static func expectation(of path: String) -> String {
        String(path.dropLast(path.hasSuffix(".json") ? 5 : 4)) + ".txt"
    }

    /// Returns a reading in the format of the expectations.
    static func line(of reading: GatewayReading) -> String {
        var parts = ["receiver=\(reading.receiver)"]
        if let address = reading.address {
            parts.append("address=\(address)" + (address.kind.map { " \($0.rawValue)" } ?? ""))
        }
        if let beacon = reading.beacon { parts.append("beacon=\(beacon)") }
        if let identifier = reading.identifier { parts.append("identifier=\(identifier)") }
        if let name = reading.name { parts.append("name=\(name)") }
        parts.append("rssi=\(reading.rssi)")
        parts.append("window=\(number(reading.window.seconds))")
        if let time = reading.time { parts.append("time=\(time.nanoseconds)/\(number(time.resolution.seconds))") }
        if let channel = reading.channel { parts.append("channel=\(channel)") }
        if let power = reading.measuredPower { parts.append("power=\(number(power))") }
        return parts.joined(separator: " | ")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(value)
    }
}
