import IndoorLocalization
import XCTest

final class AdvertisingEventDecoderTests: XCTestCase {
    private let instant = Instant(seconds: 7)
    private let address = DeviceAddress(rawValue: 0xC055_4433_2211, kind: .random)
    private let frame = BeaconFrame(
        format: .iBeacon,
        beacon: BeaconIdentity(
            uuid: BeaconUUID(high: 0xB940_7F30_F5F8_466E, low: 0xAFF9_2555_6B57_FE6D), major: 1, minor: 7),
        measuredPower: -59)
    private var data: [UInt8] = []
    private let other: [UInt8] = [2, 1, 6, 3, 0xFF, 0x4C, 0]

    override func setUpWithError() throws { data = try frame.advertisingData() }

    func testTheDecoderYieldsOnlyTheSightingOfABeacon() {
        XCTAssertEqual(decode(legacy(data, rssi: -60)), [.sighting(sighting(-60))])
    }

    func testAnAdvertisementPrecedesItsSighting() {
        XCTAssertEqual(
            decode(legacy(data, rssi: -60), .everything),
            [.advertisement(advertisement(data, -60)), .sighting(sighting(-60))])
        XCTAssertEqual(decode(legacy(other, rssi: -70), .everything), [.advertisement(advertisement(other, -70))])
    }

    func testAnAdvertisementWithoutABeaconHasNoSighting() {
        XCTAssertEqual(decode(legacy(other, rssi: -60)), [])
        XCTAssertEqual(decode(legacy([9, 0xFF, 0x4C], rssi: -60)), [], "malformed data")
        XCTAssertEqual(decode([0x0E, 4, 1, 0x0C, 0x20, 0]), [], "another event")
    }

    func testAllReportsOfAnEventAreDecodedInOrder() {
        let one = legacy(data, rssi: -60)
        let two = legacy(data, rssi: -61)
        let reports = one.dropFirst(4) + two.dropFirst(4)
        let event = [0x3E, UInt8(reports.count + 2), 2, 2] + reports
        XCTAssertEqual(decode(event), [.sighting(sighting(-60)), .sighting(sighting(-61))])
    }

    func testAReportWithAnInvalidRSSIIsCountedAndDiscarded() {
        for content in [AdvertisingEventDecoder.Content.sightings, .everything] {
            var decoder = AdvertisingEventDecoder(content: content)
            for rssi: Int8 in [127, 0, 20] {
                decoder.decode(legacy(data, rssi: rssi).span, at: instant) { XCTFail("\($0)") }
            }
            XCTAssertEqual(decoder.unmeasured, 3)
        }
    }

    func testReportsBeforeADefectAreDecoded() {
        let one = legacy(data, rssi: -60)
        let event = [0x3E, UInt8(one.count - 4 + 2 + 3), 2, 2] + one.dropFirst(4) + [3, 1, 9]
        var decoder = AdvertisingEventDecoder(content: .sightings)
        var readings: [SensorReading] = []
        decoder.decode(event.span, at: instant) { readings.append($0) }
        XCTAssertEqual(readings, [.sighting(sighting(-60))])
        XCTAssertEqual(decoder.malformed, 1)
    }

    func testTheLastFragmentYieldsTheSighting() {
        let long = data + [UInt8(230)] + [0x16] + [UInt8](repeating: 1, count: 229)
        let events = AdvertisingReport.events(address: address, rssi: -60, data: long)
        XCTAssertEqual(events.count, 2)
        var decoder = AdvertisingEventDecoder(content: .sightings)
        var readings: [[SensorReading]] = []
        for event in events {
            var some: [SensorReading] = []
            decoder.decode(event.span, at: instant) { some.append($0) }
            readings.append(some)
        }
        XCTAssertEqual(readings, [[], [.sighting(sighting(-60))]])
    }

    func testFragmentsAroundALossAreNotAssembled() {
        let long = data + [UInt8(230)] + [0x16] + [UInt8](repeating: 1, count: 229)
        let events = AdvertisingReport.events(address: address, rssi: -60, data: long)
        var decoder = AdvertisingEventDecoder(content: .everything)
        let (first, second) = (events[0], events[1])
        decoder.decode(first.span, at: instant) { XCTFail("\($0)") }
        decoder.reset()
        var readings: [SensorReading] = []
        decoder.decode(second.span, at: instant) { readings.append($0) }
        XCTAssertEqual(readings, [.advertisement(advertisement([UInt8](repeating: 1, count: long.count - 229), -60))])
    }

    func testTheSightingOfAnAnonymousBeaconHasNoAddress() {
        var event = AdvertisingReport.events(address: nil, rssi: -60, data: data)[0]
        var expected = sighting(-60)
        expected.address = nil
        XCTAssertEqual(decode(event), [.sighting(expected)])
        XCTAssertEqual(decode(event, .everything), [.sighting(expected)])
        event.removeLast()
        XCTAssertEqual(decode(event), [])
    }

    // MARK: - Words

    private func legacy(_ data: [UInt8], rssi: Int8) -> [UInt8] {
        [0x3E, UInt8(data.count + 12), 2, 1, 3, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0xC0, UInt8(data.count)] + data
            + [UInt8(bitPattern: rssi)]
    }

    private func decode(_ event: [UInt8], _ content: AdvertisingEventDecoder.Content = .sightings) -> [SensorReading] {
        var decoder = AdvertisingEventDecoder(content: content)
        var readings: [SensorReading] = []
        decoder.decode(event.span, at: instant) { readings.append($0) }
        return readings
    }

    private func sighting(_ rssi: Double) -> Sighting {
        Sighting(instant: instant, beacon: frame.beacon, rssi: rssi, measuredPower: -59, address: address)
    }

    private func advertisement(_ data: [UInt8], _ rssi: Double) -> Advertisement {
        Advertisement(instant: instant, address: address, rssi: rssi, data: data)
    }
}
