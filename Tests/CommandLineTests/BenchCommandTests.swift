import CBench
import IndoorLocalization
import XCTest
@testable import indoorloc

final class BenchCommandTests: XCTestCase {
    func testWeighingGivesTheResultOfPlainC() {
        var (bench, reference) = (WeighBench(particles: 3001), WeighBench(particles: 3001))
        bench.weigh()
        reference.weighInC()
        // The sums are about -50, of 16 logarithms that are each accurate to 1e-7.
        XCTAssertLessThan(bench.difference(to: reference), 1e-3)
    }

    func testTheFilterBenchmarkKeepsItsPosition() throws {
        var bench = FilterBench(particles: 500)
        for step in 0..<100 {
            let place = try XCTUnwrap(bench.step(), "step \(step)")
            XCTAssertTrue((-10...50).contains(place.x) && (-10...40).contains(place.y), "step \(step): \(place)")
        }
    }

    func testBothFixBenchmarksFindAPositionInTheRoom() throws {
        let building = BenchVenue(width: 12, height: 10, beacons: 8)
        var bench = FixBench(building, surveyedEvery: nil, heard: 8)
        var (grid, leastSquares): ([Double], [Double]) = ([], [])
        // Each of them takes the next moment.
        for turn in stride(from: 1, to: 100, by: 2) {
            grid.append(try XCTUnwrap(bench.grid()).distance(to: building.place(at: turn % 50, of: 50)))
            leastSquares.append(
                try XCTUnwrap(bench.leastSquares()).distance(to: building.place(at: (turn + 1) % 50, of: 50)))
        }
        for (method, errors) in [("grid", grid), ("least squares", leastSquares)] {
            XCTAssertLessThan(errors.reduce(0, +) / 50, 3, method)
            XCTAssertLessThan(errors.max() ?? .infinity, 12, method)
        }
    }

    func testTheAreaBenchmarkEntersAndLeavesAreasOnlyOnItsWalk() {
        var bench = AreaBench(areas: 2_000, positions: 400)
        XCTAssertGreaterThan(bench.go(), 20)
        XCTAssertGreaterThan(bench.label(), 100)
        _ = bench.stay()
        XCTAssertEqual(bench.stay(), 0)
    }

    func testTheSessionBenchmarkReportsPositionsAndHoldsMemory() throws {
        let bench = try SessionBench(BenchVenue(width: 20, height: 15, beacons: 6), rounds: 1, motionRate: 0)
        XCTAssertGreaterThan(bench.seconds, 30)
        XCTAssertGreaterThan(Double(bench.play()), bench.seconds)
        let bytes = bench.memory(sessions: 2)
        // The allocator of a sanitizer doesn't count allocations.
        XCTAssertTrue(bytes > 10_000 || bytes == 0, "\(bytes)")
    }

    func testTheTagBenchmarkHasAPositionOfEachTagEachSecond() {
        var bench = TagBench(.light, tags: 4, seconds: 6)
        XCTAssertEqual(bench.go(), 24)
        XCTAssertEqual(bench.go(), 24)
        let bytes = bench.memory()
        // The allocator of a sanitizer doesn't count allocations.
        XCTAssertTrue((10_000...30_000).contains(bytes) || bytes == 0, "\(bytes)")
    }

    func testBytesAreCountedUntilTheyAreFreed() {
        let before = cbench_bytes()
        let held = malloc(100_000)
        let with = cbench_bytes()
        free(held)
        XCTAssertEqual(cbench_bytes(), before)
        XCTAssertTrue(with - before >= 100_000 || with == 0, "\(with - before)")
    }

    func testAnUnknownBenchmarkIsAUsageError() throws {
        let result = try Tool.run(["bench", "--only", "flying"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("filter-step-1k"), result.errors)
    }

    func testAllocationsAreCounted() {
        let before = cbench_allocations()
        let array = (0..<100).map { [UInt8](repeating: UInt8($0), count: 1000) }
        XCTAssertEqual(array.count, 100)
        let counted = cbench_allocations() - before
        // The allocator of a sanitizer doesn't count allocations.
        XCTAssertTrue(counted >= 100 || counted == 0, "\(counted)")
    }

    func testBenchPrintsTheSameAsATableAndAsJSON() throws {
        let only = ["--only", "decode", "--only", "fix-least-squares"]
        let table = try Tool.run(["bench"] + only)
        XCTAssertEqual(table.status, 0, table.errors)
        let json = try Tool.run(["bench", "--json"] + only)
        XCTAssertEqual(json.status, 0, json.errors)
        let object = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let benchmarks = try XCTUnwrap(object["benchmarks"] as? [[String: Any]])
        XCTAssertEqual(benchmarks.compactMap { $0["name"] as? String }, ["decode", "fix-least-squares"])
        XCTAssertEqual(table.lines.count, 3)
        for benchmark in benchmarks {
            let name = try XCTUnwrap(benchmark["name"] as? String)
            XCTAssertTrue(table.lines.contains { $0.hasPrefix(name) }, name)
            XCTAssertGreaterThan(try XCTUnwrap(benchmark["nanoseconds"] as? Double), 0, name)
        }
    }
}

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

final class GatewayBenchTests: XCTestCase {
    func testEachMessageHasItsReading() throws {
        for gateway in GatewayBench.Gateway.allCases {
            let bench = GatewayBench(gateway, messages: 120)
            let sum = try XCTUnwrap(bench.decode(), gateway.rawValue)
            // The mean of the RSSI from -99 to -40 dBm, and the decimals of ESPresense.
            XCTAssertEqual(sum / 120, gateway == .espresense ? -69.75 : -69.5, accuracy: 1e-9, gateway.rawValue)
        }
    }
}
