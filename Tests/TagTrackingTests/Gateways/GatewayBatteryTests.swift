import IndoorVocabulary
import TagTracking
import XCTest

final class GatewayBatteryTests: XCTestCase {
    private func battery(_ topic: String, _ payload: String, _ format: GatewayFormat? = nil) throws -> TagBattery? {
        try GatewayDecoder().readings(topic: topic, payload: Array(payload.utf8), format: format).last?.battery
    }

    /// The battery of a message of OpenMQTTGateway with raw data of an advertisement.
    private func service(_ uuid: String, _ data: String) throws -> TagBattery? {
        try battery(
            "home/g/BTtoMQTT/1",
            #"{"id":"AA:BB:CC:DD:EE:FF","rssi":-60,"servicedata":"\#(data)","servicedatauuid":"0x\#(uuid)"}"#)
    }

    private func ruuvi(_ data: String) throws -> TagBattery? {
        try battery(
            "ruuvi/C8:25:2D:8E:9C:2C/AA:BB:CC:DD:EE:FF",
            #"{"gw_mac":"C8:25:2D:8E:9C:2C","rssi":-26,"ts":1653668027,"data":"\#(data)"}"#)
    }

    func testGatewaysTellTheBatteryThatTheyDecode() throws {
        XCTAssertEqual(
            try battery(
                "espresense/devices/x/hall", #"{"mac":"aabbccddeeff","id":"x","rssi":-70,"mV":3012,"batt":90}"#),
            TagBattery(percent: 90, millivolts: 3012))
        XCTAssertEqual(
            try battery("home/g/BTtoMQTT/1", #"{"id":"AA:BB:CC:DD:EE:FF","rssi":-60,"batt":55.4,"volt":2.911}"#),
            TagBattery(percent: 55, millivolts: 2911))
        XCTAssertEqual(
            try battery("", #"[{"trackingId":"aabbccddeeff","sourceId":"s","rssi":-77,"batteryLevel":100}]"#),
            TagBattery(percent: 100))
        XCTAssertEqual(
            try battery(
                "", #"[{"type":"Gateway","mac":"AC233FC00001"},{"mac":"C3000012AB34","rssi":-70,"battery":97}]"#),
            TagBattery(percent: 97))
    }

    func testAMinewGatewayDoesNotKnowTheBatteryOfAnIBeacon() throws {
        func decoded(_ members: String) throws -> TagBattery? {
            try battery(
                "",
                #"[{"type":"Gateway","mac":"AC233FC00001"},{"mac":"C3000012AB34","rssi":-70,\#(members)}]"#)
        }
        let uuid = #""ibeaconUuid":"E2C56DB5DFFB48D2B060D0F5A71096E0","ibeaconMajor":0,"ibeaconMinor":0"#
        XCTAssertNil(try decoded(#""type":"iBeacon",\#(uuid),"ibeaconTxPower":-59,"battery":0"#))
        XCTAssertNil(try decoded(#""battery":0,\#(uuid)"#))
        XCTAssertNil(try decoded(#""battery":0,"type":"iBeacon""#))
        XCTAssertEqual(try decoded(#""type":"iBeacon",\#(uuid),"battery":80"#), TagBattery(percent: 80))
        XCTAssertEqual(try decoded(#""type":"S1","battery":0"#), TagBattery(percent: 0))
    }

    func testABatteryThatIsNoNumberIsUnknown() throws {
        for text in [#""low""#, "null", "-1", "101", "1e99", "true"] {
            XCTAssertNil(
                try battery(
                    "espresense/devices/x/hall", #"{"mac":"aabbccddeeff","id":"x","rssi":-70,"batt":\#(text)}"#),
                text)
        }
    }

    func testAdvertisementsTellTheBattery() throws {
        // The examples of the specification of Ruuvi: 2.977 V in format 5; its largest number is no measurement.
        let format5 = "0201061BFF99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F"
        XCTAssertEqual(try ruuvi(format5), TagBattery(millivolts: 2977))
        XCTAssertNil(try ruuvi("0201061BFF9904058000FFFFFFFF800080008000FFFFFFFFFFFFFFFFFFFFFF"))
        XCTAssertEqual(
            try ruuvi("02010611FF99040329 1A1ECE1EFC18F94202CA0B53".replacing(" ", with: "")),
            TagBattery(millivolts: 2899))
        XCTAssertEqual(try service("feaa", "20000bb8170000000001000003e8"), TagBattery(millivolts: 3000))
        XCTAssertNil(try service("feaa", "20000000170000000001000003e8"), "a tag without a battery")
        XCTAssertNil(try service("feaa", "00ee0102030405060708090a0102030405060000"), "an Eddystone-UID")
        XCTAssertEqual(try service("fcd2", "40015d"), TagBattery(percent: 93))
        XCTAssertEqual(try service("fcd2", "44000a0161020b09"), TagBattery(percent: 97))
        XCTAssertNil(try service("fcd2", "41015d"), "encrypted")
        XCTAssertNil(try service("fcd2", "4002ca09"), "a temperature")
        XCTAssertNil(try service("fcd2", "40"))
        XCTAssertNil(try service("fcd2", "4001"))
    }

    func testATruncatedAdvertisementTellsNoBattery() throws {
        let format3 = "99040329" + "1A1ECE1EFC18F94202CA0B53"
        let format5 = "99040512FC5394C37C0004FFFC040CAC36"
        for (type, text) in [("FF", format3), ("FF", format5), ("16", "AAFE20000BB8"), ("16", "D2FC44000A0161")] {
            for count in 0...text.count / 2 {
                let hex = { (number: Int) in String(number + 0x100, radix: 16).dropFirst() }
                let data = "020106" + hex(count + 1) + type + text.prefix(2 * count)
                XCTAssertEqual(try ruuvi(data) != nil, count == text.count / 2, "\(count) bytes of \(text)")
            }
        }
    }

    func testTheIntakeTellsChangesOnceAndJoinsLevelAndVoltage() throws {
        var intake = TagIntake()
        func send(_ battery: String, at seconds: Double) {
            _ = intake.readings(
                of: GatewayMessage(
                    topic: "espresense/devices/x/hall",
                    payload: Array(#"{"mac":"aabbccddeeff","id":"x","rssi":-70,\#(battery)}"#.utf8),
                    arrival: Instant(nanoseconds: 1_795_338_000_000_000_000).advanced(by: .seconds(seconds))))
        }
        send(#""batt":90"#, at: 0)
        send(#""batt":90"#, at: 1)
        XCTAssertEqual(Array(intake.drainBatteries().values), [TagBattery(percent: 90)])
        send(#""batt":90"#, at: 2)
        XCTAssertEqual(intake.drainBatteries(), [:])
        send(#""mV":2900"#, at: 3)
        XCTAssertEqual(Array(intake.drainBatteries().values), [TagBattery(percent: 90, millivolts: 2900)])
    }
}
