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
