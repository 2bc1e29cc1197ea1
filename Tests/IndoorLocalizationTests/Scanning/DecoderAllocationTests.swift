import IndoorLocalization
import XCTest

final class DecoderAllocationTests: XCTestCase {
    private let frame = BeaconFrame(
        format: .iBeacon, beacon: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 7),
        measuredPower: -59)

    func testTheCounterSeesAnArray() throws {
        var sum = 0
        let count = try AllocationCount.during {
            for index in 0..<10 { sum += [index, Int.random(in: 0...1)].map { $0 + 1 }.count }
        }
        XCTAssertEqual(sum, 20)
        XCTAssertGreaterThanOrEqual(count, 20, "two arrays in each of ten rounds")
    }

    func testAWholeLegacyReportOfABeaconAllocatesNothing() throws {
        let data = try frame.advertisingData()
        let events = [
            legacy(data), legacy([2, 1, 6, 3, 0xFF, 0x4C, 0]), legacy([9, 0xFF, 0x4C]),
            AdvertisingReport.events(address: nil, rssi: -60, data: data)[0],
        ]
        var decoder = AdvertisingEventDecoder(content: .sightings)
        var sightings = 0
        // The first decoding of a process creates metadata of the runtime.
        for event in events {
            decoder.decode(event.span, at: .zero) { reading in
                if case .sighting = reading { sightings += 1 }
            }
        }
        sightings = 0
        let count = try AllocationCount.during {
            for _ in 0..<1000 {
                for event in events {
                    decoder.decode(event.span, at: .zero) { reading in
                        if case .sighting = reading { sightings += 1 }
                    }
                }
            }
        }
        XCTAssertEqual(sightings, 2000)
        XCTAssertEqual(count, 0)
    }

    private func legacy(_ data: [UInt8]) -> [UInt8] {
        [0x3E, UInt8(data.count + 12), 2, 1, 3, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0xC0, UInt8(data.count)] + data + [196]
    }
}
