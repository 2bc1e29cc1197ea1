import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Layout strings of the AltBeacon library: reading them, decoding by them, encoding by them.
final class BeaconLayoutTests: XCTestCase {
    private let uuid: [UInt8] = Array(0x30...0x3F)

    private func frame(_ layout: BeaconLayout, _ data: [UInt8]) throws -> LayoutFrame? { try layout.decode(data.span) }

    private func expectError(_ text: String, _ part: String, line: UInt = #line) {
        XCTAssertThrowsError(try BeaconLayout(text), text, line: line) {
            XCTAssertTrue($0 is BeaconLayoutError, "\($0)", line: line)
            XCTAssertTrue("\($0)".contains(part), "\($0)", line: line)
        }
    }

    func testALayoutStringDecodesItsBeacon() throws {
        // A maker's own: a serial number of 6 bytes, low byte first, the battery in per cent, and the power.
        let layout = try BeaconLayout("m:2-4=a1b2c3, i:5-10l, d:11-11, p:12-12")
        let data: [UInt8] = [2, 1, 6, 14, 0xFF, 0x34, 0x12, 0xA1, 0xB2, 0xC3, 6, 5, 4, 3, 2, 1, 99, 0xC5]
        let found = try XCTUnwrap(try frame(layout, data))
        XCTAssertEqual(
            found,
            LayoutFrame(company: 0x1234, identifiers: [[1, 2, 3, 4, 5, 6]], measuredPower: -59, data: [[99]]))
        XCTAssertEqual(
            found.identity, BeaconIdentity(uuid: BeaconUUID(high: 0x0102_0304_0506_0000, low: 0), major: 0, minor: 0))
        var other = data
        other[8] = 0xB3
        XCTAssertNil(try frame(layout, other), "another type")
        other = Array(data.dropLast())
        other[3] = 13
        XCTAssertNil(try frame(layout, other), "too short for the power")
        other[3] = 14
        XCTAssertThrowsError(try frame(layout, other), "cut off")
    }

    func testKnownLayoutsDecodeTheSameAsTheBuiltInDecoders() throws {
        let beacon = BeaconIdentity(
            uuid: BeaconUUID(high: 0x3031_3233_3435_3637, low: 0x3839_3A3B_3C3D_3E3F), major: 0x1122, minor: 0x3344)
        let pairs: [(BeaconFrame.Format, BeaconLayout)] = [
            (.iBeacon, .iBeacon), (.altBeacon, .altBeacon), (.eddystoneUID, .eddystoneUID),
        ]
        for (format, layout) in pairs {
            let known =
                format == .eddystoneUID ? BeaconIdentity(uuid: beacon.uuid, major: 0, minor: 0) : beacon
            let data = try BeaconFrame(format: format, beacon: known, measuredPower: -61).advertisingData()
            let found = try XCTUnwrap(try frame(layout, data), format.rawValue)
            XCTAssertEqual(found.identity, known, format.rawValue)
            XCTAssertEqual(found.measuredPower, -61, format.rawValue)
            for (_, other) in pairs where other != layout { XCTAssertNil(try frame(other, data), "\(other)") }
        }
    }

    func testEachLayoutEncodesWhatItDecodes() throws {
        let frames: [(BeaconLayout, LayoutFrame)] = [
            (
                .iBeacon,
                LayoutFrame(company: 0x4C, identifiers: [uuid, [1, 2], [3, 4]], measuredPower: -59)
            ),
            (
                .altBeacon,
                LayoutFrame(company: 0x118, identifiers: [uuid, [1, 2], [3, 4]], measuredPower: -128, data: [[7]])
            ),
            (.eddystoneUID, LayoutFrame(identifiers: [Array(uuid[..<10]), Array(uuid[10...])], measuredPower: -80)),
            (.eddystoneURL, LayoutFrame(identifiers: [[3, 0x61, 0x62, 0x07]], measuredPower: -41)),
            (
                .eddystoneTLM,
                LayoutFrame(identifiers: [], data: [[0], [11, 184], [21, 128], [0, 0, 1, 2], [0, 0, 3, 4]])
            ),
            (
                try BeaconLayout("s:0-15=000102030405060708090a0b0c0d0e0f,m:16-16=05,i:18-21l,d:22-23l"),
                LayoutFrame(identifiers: [[1, 2, 3, 4]], data: [[5, 6]])
            ),
        ]
        for (layout, frame) in frames {
            let data = try layout.advertisingData(of: frame)
            XCTAssertEqual(try layout.decode(data.span), frame, layout.description)
            XCTAssertEqual(try BeaconLayout(layout.description), layout, "the string is that of the same layout")
        }
        let iBeacon = try BeaconLayout.iBeacon.advertisingData(of: frames[0].1)
        XCTAssertEqual(
            iBeacon,
            try BeaconFrame(
                format: .iBeacon,
                beacon: BeaconIdentity(
                    uuid: BeaconUUID(high: 0x3031_3233_3435_3637, low: 0x3839_3A3B_3C3D_3E3F), major: 0x102,
                    minor: 0x304), measuredPower: -59
            ).advertisingData())
    }

    func testAFieldOfVariableLengthEndsWithThePayload() throws {
        let layout = BeaconLayout.eddystoneURL
        for length in [1, 5, 18] {
            let url = (0..<length).map { UInt8($0 + 1) }
            let data = try layout.advertisingData(of: LayoutFrame(identifiers: [url], measuredPower: -61))
            XCTAssertEqual(try frame(layout, data)?.identifiers, [url])
        }
        XCTAssertThrowsError(
            try layout.advertisingData(of: LayoutFrame(identifiers: [Array(repeating: 1, count: 19)], measuredPower: 0))
        )
    }

    func testAnInvalidStringReportsItsInvalidTerm() {
        expectError("i:4-19,p:24-24", "no term 'm:'")
        expectError("m:2-3=beac,p:24-24", "no term 'i:'")
        expectError("m:2-3=beac,i:4-19,q:1-2", "'q:1-2'")
        expectError("m:2-3=bea,i:4-19", "4 hexadecimal digits")
        expectError("m:2-3=beag,i:4-19", "not hexadecimal")
        expectError("m:2-3=+1-1,i:4-19", "not hexadecimal")
        expectError("m:2-3=beac,i:19-4", "rise")
        expectError("m:2-3=beac,i:4", "first and last byte")
        expectError("m:2-3=beac,i:4-19,p:24-25", "one byte")
        expectError("m:2-3=beac,i:4-19,p:24-24:x", "whole number of dB")
        expectError("m:2-3=beac,m:2-3=beac,i:4-19", "second time")
        expectError("m:2-3=beac,i:4-19z", "ends with 'z'")
        expectError("m:2-3=beac,i:4-900", "below 254")
        expectError("s:0-2=feaa00,m:2-3=beac,i:4-19", "2 or 16 bytes")
        expectError("m:2-3=beac,,i:4-19", "''")
    }

    func testAFrameThatDoesNotFitIsRefused() {
        let layout = BeaconLayout.altBeacon
        for frame in [
            LayoutFrame(identifiers: [uuid], measuredPower: -59, data: [[0]]),
            LayoutFrame(identifiers: [uuid, [1], [3, 4]], measuredPower: -59, data: [[0]]),
            LayoutFrame(identifiers: [uuid, [1, 2], [3, 4]], measuredPower: -59),
            LayoutFrame(identifiers: [uuid, [1, 2], [3, 4]], data: [[0]]),
            LayoutFrame(identifiers: [uuid, [1, 2], [3, 4]], measuredPower: -200, data: [[0]]),
        ] {
            XCTAssertThrowsError(try layout.advertisingData(of: frame)) { XCTAssertTrue($0 is BeaconLayoutError) }
        }
    }

    func testASourceDeliversSightingsOfOtherLayouts() async throws {
        let layout = try BeaconLayout("m:2-3=cafe,i:4-5,p:6-6")
        let own = try layout.advertisingData(of: LayoutFrame(identifiers: [[7, 8]], measuredPower: -50))
        let address = DeviceAddress(rawValue: 0x1234)
        func advertisement(_ data: [UInt8], _ second: Double, rssi: Double = -70) -> SensorReading {
            .advertisement(
                Advertisement(instant: Instant(seconds: second), address: address, rssi: rssi, data: data))
        }
        let known = SensorReading.advertisement(try ScannerStage.advertisement(at: 2))
        let readings = [advertisement(own, 1), known, advertisement([2, 1, 6], 3), advertisement(own, 4, rssi: 127)]
        var seen: [SensorReading] = []
        for try await reading in ScriptedSource(readings).decoding([.eddystoneTLM, layout]).readings() {
            seen.append(reading)
        }
        let sighting = Sighting(
            instant: Instant(seconds: 1),
            beacon: BeaconIdentity(uuid: BeaconUUID(high: 0x0708 << 48, low: 0), major: 0, minor: 0), rssi: -70,
            measuredPower: -50, address: address)
        XCTAssertEqual(seen, [readings[0], .sighting(sighting)] + readings[1...])
    }
}
