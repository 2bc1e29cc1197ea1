import IndoorLocalization
import XCTest

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
