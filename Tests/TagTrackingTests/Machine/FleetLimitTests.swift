import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

import SessionMetrics

@testable import TagTracking

final class FleetLimitTests: XCTestCase {
    private func settings(tags: Int) -> FleetSettings {
        var settings = FleetHall.settings
        settings.maximumTagCount = tags
        return settings
    }

    func testAFloodOfAddressesIsBoundedAndCounted() {
        var machine = FleetMachine(venue: FleetHall().venue, settings: settings(tags: 20))
        for tag in 0..<500 { machine.observe(FleetHall.reading(tag, at: 0)) }
        let outputs = machine.advance(to: FleetHall.at(0.5))
        XCTAssertEqual(outputs.count, 20)
        XCTAssertEqual(machine.statistics.droppedReadings, 480)
        XCTAssertEqual(machine.statistics.knownTags, 20)
        XCTAssertEqual(machine.table.records.count, 20)
    }

    func testUnknownTagsDoNotDisplaceTheTagsOfTheRegister() {
        let register = TagRegister((0..<5).map { TagRegister.Entry(key: FleetHall.key(1000 + $0)) })
        var machine = FleetMachine(venue: FleetHall().venue, settings: settings(tags: 20), register: register)
        for tag in 0..<50 { machine.observe(FleetHall.reading(tag, at: 0)) }
        for tag in 0..<5 { machine.observe(FleetHall.reading(1000 + tag, at: 0.1)) }
        let tags = Set(machine.advance(to: FleetHall.at(0.5)).map(\.tag))
        XCTAssertEqual(tags.count, 20)
        for tag in 0..<5 { XCTAssertTrue(tags.contains(FleetHall.key(1000 + tag)), "tag \(tag)") }
    }

    func testANewTagReplacesTheOneThatLeftFirst() {
        var machine = FleetMachine(venue: FleetHall().venue, settings: settings(tags: 2))
        let readings = [FleetHall.reading(1, at: 0), FleetHall.reading(2, at: 5), FleetHall.reading(3, at: 50)]
        let outputs = machine.run(readings, to: 52)
        XCTAssertNil(machine.readingCount(of: FleetHall.key(1)))
        XCTAssertEqual(machine.readingCount(of: FleetHall.key(2)), 1)
        XCTAssertEqual(machine.readingCount(of: FleetHall.key(3)), 1)
        // A tag that returns after its record was discarded must not repeat its numbers.
        let latest = outputs.filter { $0.tag == FleetHall.key(1) }.map(\.sequence).max() ?? .max
        machine.observe(FleetHall.reading(1, at: 90))
        let next = machine.advance(to: FleetHall.at(91)).first { $0.tag == FleetHall.key(1) }
        XCTAssertEqual(next?.kind, "present")
        XCTAssertGreaterThan(next?.sequence ?? 0, latest)
    }

    func testARecordIsDiscardedTenMinutesAfterTheTagLeft() {
        var machine = FleetMachine(venue: FleetHall().venue, settings: FleetHall.settings)
        machine.observe(FleetHall.reading(1, at: 0))
        _ = machine.advance(to: FleetHall.at(629))
        XCTAssertEqual(machine.statistics.knownTags, 1)
        _ = machine.advance(to: FleetHall.at(631))
        XCTAssertEqual(machine.statistics.knownTags, 0)
        XCTAssertTrue(machine.table.slots.isEmpty)
    }

    func testAFullReorderWindowHandlesTheOldestReadingInsteadOfLosingOne() {
        var settings = FleetHall.settings
        settings.maximumPendingReadings = 10
        var machine = FleetMachine(venue: FleetHall().venue, settings: settings)
        for index in 0..<100 { machine.observe(FleetHall.reading(1, at: 0.002 * Double(index))) }
        XCTAssertEqual(machine.pending.count, 10)
        _ = machine.advance(to: FleetHall.at(1))
        XCTAssertEqual(machine.readingCount(of: FleetHall.key(1)), 100)
    }

    func testTheWorkForAReadingGrowsWithTheLogarithmOfTheTags() {
        func work(tags: Int) -> Double {
            var machine = FleetMachine(venue: FleetHall().venue, settings: FleetHall.settings)
            for tag in 0..<tags { machine.observe(FleetHall.reading(tag, at: 0.5 * Double(tag) / Double(tags))) }
            // The tags are present, but the first positions aren't due.
            _ = machine.advance(to: FleetHall.at(0.9))
            XCTAssertEqual(machine.statistics.presentTags, tags)
            let before = machine.operationCount
            for index in 0..<1000 {
                let seconds = 0.6 + 0.0003 * Double(index)
                machine.observe(FleetHall.reading(index * tags / 1000, at: seconds))
                _ = machine.advance(to: FleetHall.at(seconds + 0.3))
            }
            return Double(machine.operationCount - before) / 1000
        }
        let (few, many) = (work(tags: 200), work(tags: 20_000))
        XCTAssertLessThan(many, few + 20, "100 times as many tags may take 2 · log₂ 100 = 14 comparisons more")
    }

    func testTheHeapReturnsItsElementsInOrder() {
        var generator = SeededGenerator(seed: 5)
        for count in [0, 1, 2, 3, 10, 257] {
            let values = (0..<count).map { _ in Int(generator.next() % 100) }
            var heap = BinaryHeap<Int>()
            for value in values { heap.insert(value) }
            var sorted: [Int] = []
            while let first = heap.removeFirst() { sorted.append(first) }
            XCTAssertEqual(sorted, values.sorted(), "\(count) values")
        }
    }

    func testPartitionsGiveTheOutputsOfOneMachine() {
        let hall = FleetHall()
        let readings = hall.readings(of: 12, seconds: 6)
        let model = FleetModel(venue: hall.venue, settings: FleetHall.settings)
        var whole = FleetMachine(model: model, seed: 4)
        let expected = whole.run(readings, to: 7)
        var outputs: [FleetOutput] = []
        let partitioning = Partitioning()
        var used = 0
        for partition in 0..<partitioning.partitions {
            let part = readings.filter { partitioning.partition(of: $0.tag) == partition }
            guard !part.isEmpty else { continue }
            used += 1
            var machine = FleetMachine(model: model, seed: 4)
            outputs += machine.run(part, to: 7)
        }
        func order(_ outputs: [FleetOutput]) -> [FleetOutput] {
            outputs.sorted { ($0.tag, $0.sequence) < ($1.tag, $1.sequence) }
        }
        XCTAssertGreaterThan(used, 6)
        XCTAssertEqual(order(outputs), order(expected))
    }

    func testTheMetricsAreValidAndContainTheCounters() {
        var machine = FleetMachine(venue: FleetHall().venue, settings: FleetHall.settings)
        _ = machine.run([FleetHall.reading(1, at: 0), FleetHall.reading(1, at: 0.5)], to: 3)
        var statistics = machine.statistics
        statistics.residentMemory = 1000
        let families = statistics.families(at: FleetHall.at(3), maximumTagCount: 200_000)
        let text = MetricText.text(of: families)
        for line in [
            "indoorloc_fleet_readings_total 2", "indoorloc_fleet_tags 1", "indoorloc_fleet_lag_seconds 2.5",
            "indoorloc_fleet_positions_total 2", "indoorloc_fleet_tags_limit 200000",
            "indoorloc_fleet_resident_memory_bytes 1000", "indoorloc_fleet_latency_seconds_count 1",
        ] { XCTAssertTrue(text.contains(line + "\n"), line) }
        XCTAssertTrue(families.allSatisfy { $0.name.hasPrefix("indoorloc_fleet_") })
    }

    func testTheBytesOfAMachineGrowWithItsTags() {
        func bytes(tags: Int) -> Int {
            var machine = FleetMachine(venue: FleetHall().venue, settings: FleetHall.settings)
            for tag in 0..<tags { machine.observe(FleetHall.reading(tag, at: 0)) }
            _ = machine.advance(to: FleetHall.at(2))
            return machine.byteCount
        }
        let (few, many) = (bytes(tags: 10), bytes(tags: 110))
        // 100 particles have at least 20 bytes each.
        XCTAssertGreaterThan(many - few, 100 * 100 * 20)
        XCTAssertLessThan(many - few, 100 * 100_000)
    }

    func testStatisticsOfPartitionsAdd() {
        var machine = FleetMachine(venue: FleetHall().venue, settings: FleetHall.settings)
        _ = machine.run([FleetHall.reading(1, at: 0)], to: 3)
        let one = machine.statistics
        let two = one.merged(with: one)
        XCTAssertEqual(two.readings, 2 * one.readings)
        XCTAssertEqual(two.presentTags, 2)
        XCTAssertEqual(two.latencies.counts.reduce(0, +), 2 * one.latencies.counts.reduce(0, +))
        XCTAssertEqual(two.latestReading, one.latestReading)
    }

    func testASnapshotWithAnyContentIsRestoredOrRefused() throws {
        let model = FleetModel(venue: FleetHall().venue, settings: FleetHall.settings)
        var machine = FleetMachine(model: model)
        _ = machine.run(FleetHall().readings(of: 2, seconds: 3), to: 3)
        let content = try SnapshotFrame.content(of: machine.snapshot(), kind: "ILFM", version: 1)
        var generator = SeededGenerator(seed: 8)
        var refused = 0
        for _ in 0..<500 {
            var bytes = content
            for _ in 0..<1 + generator.next() % 3 {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            let snapshot = SnapshotFrame.frame(bytes, kind: "ILFM", version: 1)
            do {
                var restored = try FleetMachine(model: model, epoch: 2, restoring: snapshot)
                restored.observe(FleetHall.reading(1, at: 3.5))
                _ = restored.advance(to: FleetHall.at(5))
            } catch { refused += 1 }
        }
        XCTAssertGreaterThan(refused, 20)
    }
}
