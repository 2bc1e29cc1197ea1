import IndoorLocalization
import IndoorLocalizationTesting
import SessionMetrics
import XCTest
@testable import TagTracking

final class FleetMachineTests: XCTestCase {
    private func machine(_ settings: FleetSettings = FleetHall.settings, seed: UInt64 = 0) -> FleetMachine {
        FleetMachine(venue: FleetHall().venue, settings: settings, seed: seed)
    }

    func testATagIsPresentAtItsFirstReadingAndHasAPositionAfterEachInterval() {
        var machine = machine()
        let readings = [0.0, 0.4, 1.3, 2.2].map { FleetHall.reading(1, at: $0) }
        let outputs = machine.run(readings, to: 4)
        XCTAssertEqual(outputs.map(\.kind), ["present", "position", "position", "position"])
        XCTAssertEqual(outputs.map(\.instant), [0, 1, 2, 3].map(FleetHall.at))
        XCTAssertEqual(outputs.map(\.sequence), [1, 2, 3, 4])
        XCTAssertEqual(machine.statistics.readings, 4)
        XCTAssertEqual(machine.statistics.positions, 3)
    }

    func testATagWithoutReadingsHasNoPositionsAfterTenSecondsAndLeavesAfterTheTimeout() {
        var machine = machine()
        let outputs = machine.run([FleetHall.reading(1, at: 0)], to: 60)
        XCTAssertEqual(outputs.map(\.kind), ["present"] + Array(repeating: "position", count: 10) + ["away"])
        XCTAssertEqual(outputs.last?.instant, FleetHall.at(30))
        XCTAssertEqual(machine.statistics.presentTags, 0)
        XCTAssertNil(machine.wakeAt)
    }

    func testATagThatReturnsContinuesItsSequence() {
        var machine = machine()
        let outputs = machine.run([FleetHall.reading(1, at: 0), FleetHall.reading(1, at: 50)], to: 52)
        let kinds = outputs.map(\.kind)
        XCTAssertEqual(kinds.filter { $0 != "position" }, ["present", "away", "present"])
        XCTAssertEqual(outputs.map(\.sequence), Array(1...UInt64(outputs.count)))
    }

    func testALongStepHasOnePositionForEachTagAndLosesNoReading() {
        let readings = FleetHall().readings(of: 3, seconds: 20)
        var machine = machine()
        for reading in readings { machine.observe(reading) }
        let outputs = machine.advance(to: FleetHall.at(20.4))
        XCTAssertEqual(outputs.filter { $0.kind == "position" }.count, 3)
        XCTAssertEqual(machine.statistics.readings, readings.count)
        XCTAssertEqual(outputs.map(\.instant), outputs.map(\.instant).sorted())
    }

    func testALongStepContainsTheAbsenceOfATag() {
        var machine = machine()
        for seconds in [0.0, 100] { machine.observe(FleetHall.reading(1, at: seconds)) }
        let outputs = machine.advance(to: FleetHall.at(102))
        XCTAssertEqual(outputs.map(\.kind).filter { $0 != "position" }, ["present", "away", "present"])
        XCTAssertEqual(outputs.first { $0.kind == "away" }?.instant, FleetHall.at(30))
    }

    func testTheOrderOfArrivalWithinTheWindowDoesNotChangeTheOutputs() {
        let hall = FleetHall()
        let readings = hall.readings(of: 6, seconds: 12)
        var ordered = machine(seed: 3)
        let expected = ordered.run(readings, to: 13)
        for seed in UInt64(1)...4 {
            var generator = SeededGenerator(seed: seed)
            var shuffled = machine(seed: 3)
            var outputs: [FleetOutput] = []
            // Each reading arrives up to 0.25 s late.
            let arrivals = readings.map { ($0.instant.advanced(by: .seconds(0.25 * generator.uniform())), $0) }
                .sorted { $0.0 < $1.0 }
            for (arrival, reading) in arrivals {
                outputs += shuffled.advance(to: arrival)
                shuffled.observe(reading)
            }
            outputs += shuffled.advance(to: FleetHall.at(13))
            XCTAssertEqual(outputs, expected, "seed \(seed)")
            XCTAssertEqual(shuffled.statistics.lateReadings, 0)
        }
    }

    func testTheOutputsOfATagDoNotDependOnOtherTags() {
        let readings = FleetHall().readings(of: 5, seconds: 8)
        var all = machine(seed: 9)
        var one = machine(seed: 9)
        let key = FleetHall.key(2)
        let expected = all.run(readings, to: 9).filter { $0.tag == key }
        XCTAssertEqual(one.run(readings.filter { $0.tag == key }, to: 9), expected)
        XCTAssertGreaterThan(expected.count, 5)
    }

    func testTheSeedOfATagDependsOnTheSeedOfTheFleetAndOnTheKey() {
        let (first, second) = (machine(seed: 1), machine(seed: 2))
        let tags = (0..<3).map { FleetHall.key($0).mixedHash }
        let seeds = tags.map { first.seed(of: $0, epoch: 0) } + tags.map { second.seed(of: $0, epoch: 0) }
        XCTAssertEqual(Set(seeds).count, 6)
        XCTAssertEqual(machine(seed: 1).seed(of: tags[0], epoch: 0), seeds[0])
        // A session that continues from a snapshot doesn't repeat its random numbers.
        XCTAssertNotEqual(first.seed(of: tags[0], epoch: 4), seeds[0])
    }

    func testALateReadingIsUsedUpToFourSeconds() {
        var machine = machine()
        _ = machine.run([FleetHall.reading(1, at: 0), FleetHall.reading(1, at: 9)], to: 10)
        machine.observe(FleetHall.reading(1, at: 9.6))
        machine.observe(FleetHall.reading(1, at: 6))
        machine.observe(FleetHall.reading(1, at: 5))
        XCTAssertEqual(machine.statistics.lateReadings, 3)
        XCTAssertEqual(machine.statistics.expiredReadings, 1)
        XCTAssertEqual(machine.statistics.readings, 4)
        XCTAssertEqual(machine.readingCount(of: FleetHall.key(1)), 4)
    }

    func testTheFirstReadingOfATagMayBeLate() {
        var machine = machine()
        _ = machine.advance(to: FleetHall.at(10))
        machine.observe(FleetHall.reading(1, at: 8))
        let outputs = machine.advance(to: FleetHall.at(10.1))
        XCTAssertEqual(outputs.first?.kind, "present")
        // Outputs don't precede those of earlier calls.
        XCTAssertEqual(outputs.first?.instant, FleetHall.at(9.7))
    }

    func testAnEarlierInstantHasNoEffect() {
        var machine = machine()
        machine.observe(FleetHall.reading(1, at: 0))
        XCTAssertEqual(machine.advance(to: FleetHall.at(2)).count, 2)
        XCTAssertEqual(machine.advance(to: FleetHall.at(1)), [])
        XCTAssertEqual(machine.advance(to: FleetHall.at(3)).count, 1)
    }

    func testTheMachineWakesAtTheEndOfTheWindowOfTheNextReadingOrPosition() {
        var machine = machine()
        XCTAssertNil(machine.wakeAt)
        machine.observe(FleetHall.reading(1, at: 5))
        XCTAssertEqual(machine.wakeAt, FleetHall.at(5.3))
        _ = machine.advance(to: FleetHall.at(5.3))
        XCTAssertEqual(machine.wakeAt, FleetHall.at(6.3))
        _ = machine.advance(to: FleetHall.at(6.3))
        XCTAssertEqual(machine.wakeAt, FleetHall.at(7.3))
    }

    func testTheRegisterGivesNameAndClass() {
        var settings = FleetHall.settings
        settings.classes["slow"] = FleetSettings.TagClass(particleCount: 100, positionInterval: .seconds(5))
        let entry = TagRegister.Entry(key: FleetHall.key(1), name: "Forklift", tagClass: "slow")
        var machine = FleetMachine(
            venue: FleetHall().venue, settings: settings, register: TagRegister([entry]), epoch: 4)
        let readings = stride(from: 0.0, to: 11, by: 1).flatMap {
            [FleetHall.reading(1, at: $0), FleetHall.reading(2, at: $0)]
        }
        let outputs = machine.run(readings, to: 11)
        XCTAssertEqual(outputs.filter { $0.tag == FleetHall.key(1) }.map(\.name), ["Forklift", "Forklift", "Forklift"])
        XCTAssertEqual(outputs.filter { $0.tag == FleetHall.key(2) }.count, 11)
        XCTAssertEqual(Set(outputs.map(\.epoch)), [4])
    }

    func testReadingsOfUnknownReceiversAreCountedByName() {
        var machine = machine()
        for index in 0..<150 {
            var reading = FleetHall.reading(1, at: 0)
            reading.receiver = "stranger-\(index)"
            machine.observe(reading)
            machine.observe(reading)
        }
        XCTAssertEqual(machine.statistics.unknownReceiverReadings, 300)
        XCTAssertEqual(machine.statistics.unknownReceivers.count, 100)
        XCTAssertEqual(machine.statistics.unknownReceivers["stranger-3"], 2)
        XCTAssertEqual(machine.advance(to: FleetHall.at(5)), [])
    }

    func testAnRSSIThatIsNoMeasurementIsNotUsed() {
        var machine = machine()
        for rssi in [0, 127, -128, Double.nan] { machine.observe(FleetHall.reading(1, at: 0, rssi: rssi)) }
        XCTAssertEqual(machine.statistics.invalidReadings, 4)
        XCTAssertEqual(machine.advance(to: FleetHall.at(5)), [])
    }

    func testAReceiverThatAdvertisesIsNeverATag() {
        var hall = FleetHall()
        hall.venue.receivers[1].aliases.append("iBeacon:e5ca1ade-f007-ba11-0000-000000000000-100-1")
        var machine = FleetMachine(venue: hall.venue, settings: FleetHall.settings)
        guard let uuid = BeaconUUID("e5ca1ade-f007-ba11-0000-000000000000") else { return XCTFail("invalid UUID") }
        let keys: [TagKey] = [
            .beacon(BeaconIdentity(uuid: uuid, major: 100, minor: 1)), .beacon(hall.venue.receivers[1].identity),
            .address(DeviceAddress(rawValue: 0xAA00_0000_0001)), .name("node:gateway_1"),
            .name("iBeacon:E5CA1ADE-F007-BA11-0000-000000000000-100-1"),
        ]
        for key in keys {
            machine.observe(TagReading(tag: key, receiver: "gateway-0", instant: FleetHall.at(0), rssi: -70))
        }
        XCTAssertEqual(machine.advance(to: FleetHall.at(5)), [])
        XCTAssertEqual(machine.statistics.receiverReadings, keys.count)
        XCTAssertEqual(machine.takeReceiverEvidence().nodes.map(\.transmitter), Array(repeating: 1, count: keys.count))
    }

    func testTheOffsetOfAReceiverIsSubtracted() {
        let readings = FleetHall().readings(of: 1, seconds: 8)
        var plain = machine()
        var shifted = machine()
        shifted.receiverOffsets[2] = -8
        let changed = readings.map { reading in
            var reading = reading
            if reading.receiver == "gateway-2" { reading.rssi -= 8 }
            return reading
        }
        XCTAssertTrue(readings.contains { $0.receiver == "gateway-2" })
        XCTAssertEqual(shifted.run(changed, to: 9), plain.run(readings, to: 9))
    }

    func testReadingsWithImpossibleInstantsDoNotStopTheMachine() {
        for first in [Int64.min, -1, 0, .max] {
            var machine = machine()
            for nanoseconds in [first, FleetHall.at(0).nanoseconds, .max] {
                var reading = FleetHall.reading(1, at: 0)
                reading.instant = Instant(nanoseconds: nanoseconds)
                machine.observe(reading)
            }
            for seconds in 0..<5 { _ = machine.advance(to: FleetHall.at(Double(seconds))) }
            XCTAssertGreaterThan(machine.statistics.positions, 0, "\(first)")
        }
    }
}

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

/// The memory of the sessions of tags outside of the register.
final class FleetBudgetTests: XCTestCase {
    private static let registered = FleetHall.key(9_999)

    /// Returns a machine whose budget is that of some sessions, with one tag in its register.
    private func machine(sessions: Int, snapshot: [UInt8]? = nil) throws -> FleetMachine {
        let model = FleetModel(venue: FleetHall().venue, settings: FleetHall.settings)
        let register = TagRegister([TagRegister.Entry(key: Self.registered)])
        var machine =
            try snapshot.map { try FleetMachine(model: model, register: register, epoch: 2, restoring: $0) }
            ?? FleetMachine(model: model, register: register)
        machine.unknownTagMemory = sessions * (try size())
        return machine
    }

    /// The bytes of a session that has a position.
    private func size() throws -> Int {
        var machine = FleetMachine(venue: FleetHall().venue, settings: FleetHall.settings)
        _ = machine.run((0..<5).map { FleetHall.reading(1, by: $0 % 2, at: Double($0)) }, to: 6)
        XCTAssertGreaterThan(machine.unknownTagBytes, 1_000)
        return machine.unknownTagBytes
    }

    func testTheLeastRecentlyHeardTagsGoFirst() throws {
        var machine = try machine(sessions: 5)
        var readings = [FleetHall.reading(9_999, at: 0)]
        for tag in 0..<20 { readings.append(FleetHall.reading(tag, at: 0.1 + Double(tag) * 0.1)) }
        // The first one is heard again.
        readings.append(FleetHall.reading(0, at: 0.45))
        readings.sort { $0.instant < $1.instant }
        let outputs = machine.run(readings, to: 4)
        let present = Set(machine.tags.filter(machine.isPresent))
        XCTAssertTrue(present.contains(Self.registered), "a tag of the register stays")
        XCTAssertLessThanOrEqual(present.count, 12)
        XCTAssertTrue(present.isSuperset(of: (17..<20).map(FleetHall.key)))
        XCTAssertLessThanOrEqual(machine.unknownTagBytes, machine.unknownTagMemory)
        XCTAssertEqual(machine.statistics.presentTags, present.count)
        XCTAssertEqual(machine.statistics.evictedTags, 21 - present.count)
        // Each of the others is away once, in the order of time.
        let away = outputs.filter { $0.kind == "away" }.map(\.tag)
        XCTAssertEqual(Set(away).count, away.count)
        XCTAssertEqual(Set(away), Set((0..<20).map(FleetHall.key)).subtracting(present))
        XCTAssertEqual(outputs.map(\.instant), outputs.map(\.instant).sorted())
        XCTAssertGreaterThan(try XCTUnwrap(away.firstIndex(of: FleetHall.key(0))), 0)
    }

    func testAFloodIsBounded() throws {
        var machine = try machine(sessions: 10)
        for second in 0..<20 {
            for tag in 0..<50 {
                machine.observe(FleetHall.reading(second * 50 + tag, at: Double(second) + Double(tag) / 60))
            }
            machine.observe(FleetHall.reading(9_999, at: Double(second)))
            _ = machine.advance(to: FleetHall.at(Double(second) + 1.3))
            XCTAssertLessThanOrEqual(machine.unknownTagBytes, machine.unknownTagMemory)
        }
        XCTAssertTrue(machine.isPresent(Self.registered))
        XCTAssertGreaterThan(machine.statistics.evictedTags, 900)
        XCTAssertEqual(machine.statistics.unknownTagBytes, machine.unknownTagBytes)
    }

    func testTheMemoryOfTagsThatLeaveIsFree() throws {
        var machine = try machine(sessions: 10)
        _ = machine.run((0..<4).map { FleetHall.reading($0, at: Double($0)) }, to: 5)
        XCTAssertGreaterThan(machine.unknownTagBytes, 0)
        machine.remove([FleetHall.key(0)])
        _ = machine.advance(to: FleetHall.at(60))
        XCTAssertEqual(machine.unknownTagBytes, 0)
        XCTAssertEqual(machine.statistics.endedSessions, 4)
        XCTAssertEqual(machine.statistics.evictedTags, 0)
    }

    func testTheOrderSurvivesARestart() throws {
        var first = try machine(sessions: 10)
        _ = first.run((0..<6).map { FleetHall.reading($0, at: Double(6 - $0) * 0.1) }, to: 2)
        var second = try machine(sessions: 3, snapshot: first.snapshot())
        XCTAssertGreaterThan(second.unknownTagBytes, 0)
        _ = second.run([FleetHall.reading(7, at: 2.5)], to: 5)
        let present = Set(second.tags.filter(second.isPresent))
        XCTAssertTrue(present.contains(FleetHall.key(7)))
        XCTAssertFalse(present.contains(FleetHall.key(5)), "heard before the others")
        XCTAssertLessThanOrEqual(second.unknownTagBytes, second.unknownTagMemory)
    }

    func testATagThatEntersTheRegisterLeavesTheBudget() throws {
        var machine = try machine(sessions: 2)
        _ = machine.run([FleetHall.reading(1, at: 0)], to: 2)
        machine.register = TagRegister([TagRegister.Entry(key: FleetHall.key(1))])
        _ = machine.run((2..<12).map { FleetHall.reading($0, at: 2 + Double($0) * 0.05) }, to: 5)
        XCTAssertTrue(machine.isPresent(FleetHall.key(1)))
    }
}

final class RecencyTableRemovalTests: XCTestCase {
    func testTheOrderStaysAfterRemovals() {
        var generator = SeededGenerator(seed: 3)
        var table = RecencyTable<Int, Int>(limit: .max)
        var order: [Int] = []
        for step in 0..<2_000 {
            let key = Int(generator.next() % 40)
            if generator.next() % 3 == 0 {
                XCTAssertEqual(table.remove(key) != nil, order.contains(key))
                order.removeAll { $0 == key }
            } else {
                table.use(key, else: step) { _ in }
                order.removeAll { $0 == key }
                order.append(key)
            }
            XCTAssertEqual(table.first, order.first)
            if step % 50 == 0 { XCTAssertEqual(table.keys, order) }
        }
    }
}
