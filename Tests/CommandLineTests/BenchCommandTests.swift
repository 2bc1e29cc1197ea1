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
