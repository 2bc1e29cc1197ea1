import CBench
import IndoorLocalization
import XCTest

@testable import indoorloc

final class DecodeBenchTests: XCTestCase {
    private func sightings(_ event: [UInt8]) -> [Sighting] {
        var found: [Sighting] = []
        var decoder = AdvertisingEventDecoder(content: .sightings)
        decoder.decode(event.span, at: .zero) { _ in
        } sighting: {
            found.append($0)
        }
        return found
    }

    private func sightingsInC(_ event: [UInt8]) -> (count: Int, first: cbench_sighting) {
        var found = [cbench_sighting](repeating: cbench_sighting(), count: 32)
        let count = cbench_decode(event, event.count, &found, found.count)
        return (count, found[0])
    }

    func testBothDecodersFindTheSameSightings() throws {
        let bench = try DecodeBench(advertisements: 500, seed: 7)
        XCTAssertEqual(bench.decode(), bench.decodeInC())
        XCTAssertGreaterThan(bench.decode().count, 300)
    }

    /// The comparison requires that the reference rejects the same input as the package.
    func testDecodedSightingsPassThroughTheStream() async throws {
        let bench = try DecodeBench(advertisements: 500, seed: 7)
        let sum = try await bench.decodeThroughStream()
        XCTAssertEqual(sum, bench.decode())
    }

    func testBothDecodersRefuseTheSameBytes() throws {
        let bench = try DecodeBench(advertisements: 40, seed: 8)
        var generator = SeededGenerator(seed: 9)
        var found = 0
        for round in 0..<20_000 {
            let range = bench.ranges[round % bench.ranges.count]
            var event = Array(bench.bytes[range])
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                event[Int.random(in: event.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            // Fragments, which the reference doesn't reassemble, and events that are not reports.
            if event[2] == 0x0D, event[4] >> 5 & 3 != 0 { continue }
            let (count, first) = sightingsInC(event)
            let ours = sightings(event)
            guard event[3] == 1 else { continue }  // valid reports before an invalid one are counted
            XCTAssertEqual(ours.count, max(0, count), "\(event)")
            guard let sighting = ours.first, count > 0 else { continue }
            found += 1
            XCTAssertEqual(sighting.beacon.uuid, BeaconUUID(high: first.uuid_high, low: first.uuid_low))
            XCTAssertEqual([sighting.beacon.major, sighting.beacon.minor], [first.major, first.minor])
            XCTAssertEqual(sighting.rssi, Double(first.rssi))
            XCTAssertEqual(sighting.measuredPower ?? 0, Double(first.measured_power))
        }
        XCTAssertGreaterThan(found, 5_000)
    }
}
