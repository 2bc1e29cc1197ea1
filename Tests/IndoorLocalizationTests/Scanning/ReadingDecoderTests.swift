import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The edge at which a reading is decoded once, and what the machines make of a reading that it rejects.
final class ReadingDecoderTests: XCTestCase {
    private struct NotASighting: Error {}

    /// Not available, zero, positive, below what a receiver measures, and no number.
    private static let invalid = [127.0, 0, 20, -127.5, -128, .infinity, -.infinity, .nan]

    private func sighting(_ reading: SensorReading) throws -> Sighting {
        guard case .sighting(let sighting) = reading else { throw NotASighting() }
        return sighting
    }

    private func advertisement(rssi: Double = -60) throws -> Advertisement {
        let frame = BeaconFrame(format: .iBeacon, beacon: SessionStage.beacon(1, 1), measuredPower: -59)
        return Advertisement(
            instant: Instant(seconds: 11), address: DeviceAddress(rawValue: 1), rssi: rssi,
            data: try frame.advertisingData())
    }

    // MARK: - Decoding

    func testAnAdvertisementIsDecodedAndItsSightingIsRejectedOnce() throws {
        var decoder = ReadingDecoder()
        let advertisement = try advertisement()
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let first = decoder.decode(.advertisement(advertisement))
        XCTAssertEqual(first.reading, .advertisement(advertisement))
        XCTAssertEqual(first.content, .sighting(sighting))
        XCTAssertEqual(first.sightingInAdvertisement, sighting)
        // A combination of sources may put a reading of another sensor between the two.
        XCTAssertEqual(decoder.decode(SessionStage.motion(at: 11)).content, .other)
        XCTAssertEqual(decoder.decode(.sighting(sighting)).content, .rejected(.repetition))
        let second = decoder.decode(.sighting(sighting))
        XCTAssertEqual(second.content, .sighting(sighting), "the advertisement holds one sighting, not two")
        XCTAssertNil(second.sightingInAdvertisement)
    }

    func testASightingOfAnotherBeaconBehindAnAdvertisementIsAccepted() throws {
        var decoder = ReadingDecoder()
        let advertisement = try advertisement()
        _ = decoder.decode(.advertisement(advertisement))
        var other = try XCTUnwrap(try advertisement.sighting())
        other.beacon = SessionStage.beacon(1, 2)
        XCTAssertEqual(decoder.decode(.sighting(other)).content, .sighting(other))
        let own = try XCTUnwrap(try advertisement.sighting())
        XCTAssertEqual(decoder.decode(.sighting(own)).content, .sighting(own), "it is not right behind any more")
    }

    func testAnAdvertisementWithoutABeaconStaysAnAdvertisement() throws {
        var decoder = ReadingDecoder()
        for data in [[], [2, 1, 6], [200, 255]] as [[UInt8]] {
            var phone = try advertisement()
            phone.data = data
            XCTAssertEqual(decoder.decode(.advertisement(phone)).content, .advertisement(phone), "\(data)")
        }
    }

    func testAnInvalidRSSIIsRejectedWithItsReason() throws {
        var decoder = ReadingDecoder()
        for rssi in Self.invalid {
            for reading in [SessionStage.heard(1, at: 11, rssi: rssi), .advertisement(try advertisement(rssi: rssi))] {
                XCTAssertEqual(decoder.decode(reading).content, .rejected(.invalidRSSI), "\(rssi) dBm")
            }
        }
        for rssi in [-127.0, -60, -0.5] {
            let heard = SessionStage.heard(1, at: 11, rssi: rssi)
            XCTAssertEqual(decoder.decode(heard).content, .sighting(try sighting(heard)), "\(rssi) dBm")
        }
    }

    // MARK: - The machines

    func testEveryMachineIgnoresAReadingWithAnInvalidRSSI() throws {
        for rssi in Self.invalid {
            for reading in [SessionStage.heard(1, at: 12, rssi: rssi), .advertisement(try advertisement(rssi: rssi))] {
                let text = "\(rssi) dBm"
                let log = WatchedBelief()
                var session = SessionStage.machine(in: .searchVenue, log: log)
                XCTAssertEqual(session.handle(.reading(reading), at: 12), [], text)
                XCTAssertEqual(session.state, .searchVenue, text)

                var floorPlan = FloorPlanLocalizerMachineStage()
                floorPlan.run()
                _ = floorPlan.pass(to: 12)
                _ = floorPlan.handle(.reading(reading, delay: .zero), at: 12)
                XCTAssertEqual(floorPlan.pass(to: 13).states, ["buffering"], "\(text) ends no silence")

                var scanner = ScanMachine(settings: ScannerSettings(dutyCycle: .continuous), pace: .live, seed: 1)
                _ = scanner.handle(.start, at: .zero)
                XCTAssertEqual(scanner.handle(.reading(reading), at: Instant(seconds: 12)), [], text)
                XCTAssertEqual(scanner.discarded, 1, text)
                XCTAssertEqual(scanner.rangedBeacons, 0, text)
            }
            let heard = try sighting(SessionStage.heard(1, at: 12, rssi: rssi))
            var ranger = Ranger()
            ranger.observe(heard)
            XCTAssertEqual(ranger.count, 0, "\(rssi) dBm")
            XCTAssertEqual(RoomScan.scans(of: [heard]), [], "\(rssi) dBm")
        }
    }

    func testEveryMachineUsesASightingBehindItsAdvertisementOnce() throws {
        let advertisement = try advertisement()
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let readings = [.advertisement(advertisement), SessionStage.motion(at: 11), .sighting(sighting)]
        var decoder = ReadingDecoder()
        let decoded = readings.map { decoder.decode($0) }

        let log = WatchedBelief()
        var session = SessionStage.machine(in: .findFloor, log: log)
        let before = log.readings.count
        for reading in decoded { _ = session.handle(.reading(reading), at: reading.instant) }
        XCTAssertEqual(Array(log.readings.dropFirst(before)), [.sighting(sighting), SessionStage.motion(at: 11)])

        var scanner = ScanMachine(settings: ScannerSettings(dutyCycle: .continuous), pace: .live, seed: 1)
        _ = scanner.handle(.start, at: .zero)
        let records = decoded.flatMap { scanner.handle(.reading($0), at: $0.instant) }.count {
            if case .emitBeacon = $0 { true } else { false }
        }
        XCTAssertEqual(records, 1)
    }
}

/// What an advertisement says beside being a beacon's.
final class AdvertisementContentsTests: XCTestCase {
    private func advertisement(_ data: [UInt8]) -> Advertisement {
        Advertisement(instant: .zero, address: DeviceAddress(rawValue: 1), rssi: -60, data: data)
    }

    func testManufacturerDataAreKeyedByTheirCompanyNumber() {
        let heard = advertisement([5, 0xFF, 0x4C, 0x00, 0x10, 0x20, 4, 0xFF, 0x34, 0x12, 0xAB])
        XCTAssertEqual(heard.manufacturerData, [0x004C: [0x10, 0x20], 0x1234: [0xAB]])
    }

    func testManufacturerDataMayBeEmptyAndWithoutACompanyNumberAreIgnored() {
        XCTAssertEqual(advertisement([3, 0xFF, 0x4C, 0x00]).manufacturerData, [0x004C: []])
        XCTAssertEqual(advertisement([2, 0xFF, 0x4C]).manufacturerData, [:])
    }

    func testTheFirstManufacturerDataOfACompanyAreUsed() {
        let heard = advertisement([4, 0xFF, 0x4C, 0x00, 1, 4, 0xFF, 0x4C, 0x00, 2])
        XCTAssertEqual(heard.manufacturerData, [0x004C: [1]])
    }

    func testServicesAreReadWith16And32And128Bits() {
        let long: [UInt8] = Array(0x10...0x1F)
        let heard = advertisement(
            [5, 0x03, 0xAA, 0xFE, 0x0D, 0x18, 3, 0x02, 0xAA, 0xFE, 5, 0x05, 0x78, 0x56, 0x34, 0x12, 17, 0x07] + long)
        XCTAssertEqual(
            heard.serviceUUIDs.map(\.description),
            ["FEAA", "180D", "12345678", "1F1E1D1C-1B1A-1918-1716-151413121110"])
    }

    func testEachKindOfServiceListIsRead() {
        let short = ServiceUUID(short: 0x180F)
        let kinds: [(types: ClosedRange<UInt8>, bytes: [UInt8])] = [
            (0x02...0x03, [0x0F, 0x18]), (0x04...0x05, [0x0F, 0x18, 0, 0]),
            (0x06...0x07, [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0x0F, 0x18, 0, 0]),
        ]
        for (types, bytes) in kinds {
            for type in types {
                let heard = advertisement([UInt8(bytes.count + 1), type] + bytes)
                XCTAssertEqual(heard.serviceUUIDs, [short], "type \(type)")
            }
        }
    }

    func testAnIncompleteUUIDAtTheEndOfAServiceListIsIgnored() {
        XCTAssertEqual(advertisement([4, 0x03, 0xAA, 0xFE, 0x0D]).serviceUUIDs, [ServiceUUID(short: 0xFEAA)])
        XCTAssertEqual(advertisement([2, 0x07, 0xAA]).serviceUUIDs, [])
        XCTAssertEqual(advertisement([1, 0x03]).serviceUUIDs, [])
    }

    func testAShortServiceUUIDEqualsItsLongForm() throws {
        let long = try XCTUnwrap(BeaconUUID("0000FEAA-0000-1000-8000-00805F9B34FB"))
        XCTAssertEqual(ServiceUUID(long), ServiceUUID(short: 0xFEAA))
        XCTAssertEqual(ServiceUUID(long).short, 0xFEAA)
        XCTAssertEqual(ServiceUUID(short: 0xAA).description, "00AA")
        XCTAssertEqual(ServiceUUID(short: 0x1_0000).description, "00010000")
        XCTAssertNil(ServiceUUID(BeaconUUID(high: 1, low: 2)).short)
        let nearly = BeaconUUID(high: long.high, low: long.low + 1)
        XCTAssertNil(ServiceUUID(nearly).short, "only the first 32 bits may differ from the base")
        XCTAssertLessThan(ServiceUUID(short: 1), ServiceUUID(short: 2))
        XCTAssertFalse(ServiceUUID(short: 1) < ServiceUUID(short: 1))
    }

    func testServiceDataAreKeyedByTheirServiceUUID() {
        let heard = advertisement([5, 0x16, 0xAA, 0xFE, 0x10, 0x20, 6, 0x20, 0x78, 0x56, 0x34, 0x12, 7])
        XCTAssertEqual(
            heard.serviceData, [ServiceUUID(short: 0xFEAA): [0x10, 0x20], ServiceUUID(short: 0x1234_5678): [7]])
    }

    func testTheCompleteNameHasPriorityOverAShortenedOne() {
        let ab: [UInt8] = [3, 0x08, 0x61, 0x62]
        XCTAssertEqual(advertisement(ab).localName, "ab")
        XCTAssertEqual(advertisement(ab + [4, 0x09, 0x61, 0x62, 0x63]).localName, "abc")
        XCTAssertEqual(advertisement([2, 0x09, 0xFF]).localName, "\u{FFFD}")
        XCTAssertNil(advertisement([2, 0x01, 0x06]).localName)
    }

    func testMalformedDataAreReadUpToTheDefect() {
        let heard = advertisement([4, 0xFF, 0x4C, 0x00, 9, 30, 0x03, 0xAA])
        XCTAssertEqual(heard.manufacturerData, [0x004C: [9]])
        XCTAssertEqual(heard.serviceUUIDs, [])
        XCTAssertEqual(heard.defect, .truncatedStructure(offset: 5, expected: 30, found: 2))
        XCTAssertNil(advertisement([4, 0xFF, 0x4C, 0x00, 9]).defect)
        XCTAssertNil(advertisement([]).defect)
    }

    func testRandomBytesAreReadWithoutACrash() {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let heard = advertisement((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            let bytes =
                heard.manufacturerData.values.map(\.count).reduce(0, +) + heard.serviceUUIDs.count
                + heard.serviceData.count + (heard.localName?.unicodeScalars.count ?? 0)
            XCTAssertLessThanOrEqual(bytes, count, "seed 42, \(heard.data)")
        }
    }
}

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
