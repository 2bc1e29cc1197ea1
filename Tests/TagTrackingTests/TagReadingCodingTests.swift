import IndoorVocabulary
import TagTracking
import XCTest

final class TagReadingCodingTests: XCTestCase {
    private let beacon = TagKey.beacon(BeaconIdentity(uuid: BeaconUUID(high: .max, low: 2), major: 3, minor: 65_535))

    private var readings: [TagReading] {
        let now = Instant(seconds: 1_790_000_000.25)
        return [
            TagReading(
                tag: beacon, receiver: "hall-north-3", instant: now, rssi: -71.25, window: .seconds(15),
                measuredPower: -59),
            TagReading(
                tag: .address(DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)), receiver: "AABBCCDDEEFF", instant: now,
                rssi: -60),
            TagReading(tag: .name("Käfer 7"), receiver: "", instant: Instant(nanoseconds: .min), rssi: -0.1),
            TagReading(
                tag: beacon, receiver: "r", instant: Instant(nanoseconds: .max), rssi: -63.123456789,
                measuredPower: -59.123456789),
        ]
    }

    func testEachReadingIsDecodedAsItWasEncoded() throws {
        for reading in readings { XCTAssertEqual(try TagReading(decoding: reading.encoded()), reading) }
    }

    func testATypicalReadingHasAtMost60Bytes() {
        XCTAssertEqual(readings[0].encoded().count, 60)
        XCTAssertEqual(readings[1].encoded().count, 34)
    }

    func testTheFirstVersionIsReadForEver() throws {
        let bytes: [UInt8] =
            [1, 9, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 4, 0, 0x68, 0x61, 0x6C, 0x6C, 1, 0, 0, 0, 0, 0, 0, 0]
            + [0, 0, 0x70, 0xC2, 0, 0, 0x6C, 0xC2]
        let reading = TagReading(
            tag: .address(DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)), receiver: "hall",
            instant: Instant(nanoseconds: 1),
            rssi: -60, measuredPower: -59)
        XCTAssertEqual(reading.encoded(), bytes)
        XCTAssertEqual(try TagReading(decoding: bytes), reading)
    }

    func testEachTruncatedReadingIsInvalid() {
        for reading in readings {
            let bytes = reading.encoded()
            for count in 0..<bytes.count {
                XCTAssertThrowsError(try TagReading(decoding: Array(bytes.prefix(count))), "\(count) bytes")
            }
            XCTAssertThrowsError(try TagReading(decoding: bytes + [0]))
        }
    }

    func testInvalidValuesAreErrors() {
        let valid = readings[1].encoded()
        for (offset, value) in [(0, UInt8(2)), (1, 64), (1, 3), (valid.count - 1, 0x42)] {
            var bytes = valid
            bytes[offset] = value
            XCTAssertThrowsError(try TagReading(decoding: bytes), "\(value) at \(offset)")
        }
    }

    func testRandomBytesNeverStopTheDecoder() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            var bytes = readings.randomElement(using: &generator)?.encoded() ?? []
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: .min ... .max, using: &generator)
            }
            guard let reading = try? TagReading(decoding: bytes) else { continue }
            XCTAssertTrue(Sighting.isMeasurement(rssi: reading.rssi))
            XCTAssertGreaterThanOrEqual(reading.window, .zero)
        }
    }
}
