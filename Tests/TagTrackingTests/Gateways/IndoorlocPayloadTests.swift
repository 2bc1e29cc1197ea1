import BeaconScanning
import IndoorVocabulary
import TagTracking
import XCTest

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
