import IndoorLocalization
import IndoorLocalizationTesting
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
