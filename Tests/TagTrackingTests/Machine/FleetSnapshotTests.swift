import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import IndoorPositioning
import XCTest
@testable import TagTracking

final class FleetSnapshotTests: XCTestCase {
    private let hall = FleetHall()
    private var model: FleetModel { FleetModel(venue: hall.venue, settings: FleetHall.settings) }

    private func split(_ readings: [TagReading], at seconds: Double) -> (before: [TagReading], after: [TagReading]) {
        let end = readings.firstIndex { $0.instant >= FleetHall.at(seconds) } ?? readings.count
        return (Array(readings[..<end]), Array(readings[end...]))
    }

    func testARestoredMachineContinuesWithGreaterEpochAndSequence() throws {
        let readings = hall.readings(of: 5, seconds: 30)
        let (before, after) = split(readings, at: 20)
        let model = model
        var first = FleetMachine(model: model, epoch: 3, seed: 1)
        let early = first.run(before, to: 20)
        var second = try FleetMachine(model: model, epoch: 4, seed: 1, restoring: first.snapshot())
        XCTAssertEqual(second.statistics.presentTags, 5)
        let late = second.run(after, from: 20, to: 31)
        XCTAssertFalse(late.contains { $0.kind == "present" })
        XCTAssertEqual(Set(late.map(\.epoch)), [4])
        for tag in Set(late.map(\.tag)) {
            let sequences = (early + late).filter { $0.tag == tag }.map(\.sequence)
            XCTAssertEqual(sequences, sequences.sorted())
            XCTAssertEqual(Set(sequences).count, sequences.count)
        }
    }

    func testEachReadingIsCountedOnceAcrossASnapshot() throws {
        let readings = hall.readings(of: 5, seconds: 20)
        // The latest reading before the snapshot still waits in the reorder window.
        let end = FleetHall.start.duration(to: readings[readings.count / 2].instant).seconds + 0.05
        let (before, after) = split(readings, at: end)
        let model = model
        var first = FleetMachine(model: model)
        for reading in before { first.observe(reading) }
        _ = first.advance(to: FleetHall.at(end))
        XCTAssertGreaterThan(first.statistics.pendingReadings, 0)
        var second = try FleetMachine(model: model, epoch: 2, restoring: first.snapshot())
        _ = second.run(after, from: end, to: 21)
        for tag in 0..<5 {
            let count = readings.count { $0.tag == FleetHall.key(tag) }
            XCTAssertEqual(second.readingCount(of: FleetHall.key(tag)), UInt64(count), "tag \(tag)")
        }
    }

    func testATagThatLeftKeepsItsSequence() throws {
        let model = model
        var first = FleetMachine(model: model)
        let early = first.run([FleetHall.reading(1, at: 0)], to: 40)
        var second = try FleetMachine(model: model, epoch: 2, restoring: first.snapshot())
        XCTAssertEqual(second.statistics.presentTags, 0)
        second.observe(FleetHall.reading(1, at: 41))
        let next = second.advance(to: FleetHall.at(41.5)).first
        XCTAssertEqual(next?.kind, "present")
        XCTAssertEqual(next?.sequence, (early.last?.sequence ?? 0) + 1)
    }

    func testARestoredTagLeavesAfterItsTimeout() throws {
        let model = model
        var first = FleetMachine(model: model)
        _ = first.run([FleetHall.reading(1, at: 0)], to: 5)
        var second = try FleetMachine(model: model, epoch: 2, restoring: first.snapshot())
        let outputs = second.advance(to: FleetHall.at(100))
        XCTAssertEqual(outputs.last?.kind, "away")
        XCTAssertEqual(outputs.last?.instant, FleetHall.at(30))
    }

    func testAnotherVersionOfTheVenueKeepsPresence() throws {
        let model = model
        var first = FleetMachine(model: model)
        _ = first.run(hall.readings(of: 3, seconds: 10), to: 10.1)
        var venue = FleetHall(version: 2).venue
        venue.receivers.removeFirst()
        let next = FleetModel(venue: venue, settings: FleetHall.settings)
        var second = try FleetMachine(model: next, epoch: 2, restoring: first.snapshot())
        XCTAssertEqual(second.statistics.presentTags, 3)
        let outputs = second.advance(to: FleetHall.at(60))
        XCTAssertEqual(outputs.filter { $0.kind == "away" }.count, 3)
        XCTAssertFalse(outputs.contains { $0.kind == "present" })
    }

    /// The hall with a radio map, from a grid of places.
    private func surveyed(version: Int) -> Venue {
        var venue = FleetHall(version: version).venue
        let places = (0..<150).map { MapPoint(x: 1 + 2 * Double($0 % 15), y: 1 + 2 * Double($0 / 15)) }
        venue.radioMap = RadioMap(
            beacons: venue.receivers.map { .init(identity: $0.identity, mapID: 1, point: $0.point, power: -59) },
            fingerprints: places.map { place in
                RadioMap.Fingerprint(
                    mapID: 1, point: place, duration: 2,
                    readings: venue.receivers.enumerated().map { index, receiver in
                        let distance = max(1, receiver.point.distance(to: place))
                        return .init(beacon: index, rssi: -59 - 20 * log10(distance), count: 4)
                    })
            }, pathLossExponent: 2)
        return venue
    }

    func testATagIsLocatedOnAfterARestartInASurveyedVenue() throws {
        let readings = hall.readings(of: 3, seconds: 20)
        let (before, after) = split(readings, at: 10)
        let model = FleetModel(venue: surveyed(version: 1), settings: FleetHall.settings)
        var first = FleetMachine(model: model)
        _ = first.run(before, to: 10)
        var second = try FleetMachine(model: model, epoch: 2, restoring: first.snapshot())
        XCTAssertGreaterThan(second.run(after, from: 10, to: 21).count { $0.kind == "position" }, 20)
    }

    func testAnotherRadioMapKeepsThePlacesAndTheNumbersOfTags() throws {
        let readings = hall.readings(of: 5, seconds: 20)
        let (before, after) = split(readings, at: 15)
        var first = FleetMachine(model: model, epoch: 3, seed: 1)
        first.receiverOffsets[0] = 2
        let early = first.run(before, to: 15)
        var second = try first.moved(to: FleetModel(venue: surveyed(version: 2), settings: FleetHall.settings))
        XCTAssertEqual(second.statistics, first.statistics)
        XCTAssertEqual(second.receiverOffsets, first.receiverOffsets)
        // Without a reading, the place is that of the belief.
        let moved = second.advance(to: FleetHall.at(16.5))
        let late = moved + second.run(after, from: 16.5, to: 21)
        XCTAssertFalse(late.contains { $0.kind == "present" })
        for tag in Set(early.map(\.tag)) {
            let sequences = (early + late).filter { $0.tag == tag }.map(\.sequence)
            XCTAssertEqual(sequences, Array(1...UInt64(sequences.count)))
            func places(_ outputs: [FleetOutput]) -> [Position] {
                outputs.compactMap { output in
                    if output.tag == tag, case .position(let position) = output.content { position } else { nil }
                }
            }
            let (last, first) = (try XCTUnwrap(places(early).last), try XCTUnwrap(places(moved).first))
            XCTAssertLessThan(last.point.distance(to: first.point), 6, "\(tag)")
        }
        var venue = hall.venue
        venue.id = 8
        XCTAssertThrowsError(try first.moved(to: FleetModel(venue: venue)))
    }

    func testADamagedSnapshotIsRefused() throws {
        let model = model
        var machine = FleetMachine(model: model)
        _ = machine.run(hall.readings(of: 2, seconds: 5), to: 5)
        let snapshot = machine.snapshot()
        func error(_ bytes: [UInt8], in model: FleetModel) -> FleetSnapshotError? {
            do {
                _ = try FleetMachine(model: model, epoch: 2, restoring: bytes)
                return nil
            } catch { return error }
        }
        XCTAssertNil(error(snapshot, in: model))
        XCTAssertEqual(error([], in: model), .notASnapshot)
        XCTAssertEqual(error(Array("something else".utf8), in: model), .notASnapshot)
        XCTAssertEqual(error(ReceiverMonitor(venue: hall.venue).snapshot(), in: model), .notASnapshot)
        for count in stride(from: 5, to: snapshot.count, by: 37) {
            XCTAssertEqual(error(Array(snapshot[..<count]), in: model), .wrongChecksum, "\(count) bytes")
        }
        for index in stride(from: 5, to: snapshot.count, by: 41) {
            var bytes = snapshot
            bytes[index] ^= 4
            XCTAssertEqual(error(bytes, in: model), .wrongChecksum, "byte \(index)")
        }
        var venue = hall.venue
        venue.id = 8
        XCTAssertEqual(error(snapshot, in: FleetModel(venue: venue)), .otherVenue(7, expected: 8))
    }

    func testTheSnapshotOf3000MovingTagsIsSmallerThanAMegabyte() throws {
        // Receivers every 10 m, and two advertisements a second: a tag's record is as long as it is in practice.
        let hall = FleetHall(columns: 4, rows: 3)
        let model = FleetModel(venue: hall.venue, settings: FleetHall.settings)
        func machine(tags: Int) -> FleetMachine {
            var machine = FleetMachine(model: model)
            _ = machine.run(hall.readings(of: tags, seconds: 8), to: 8)
            XCTAssertEqual(machine.statistics.presentTags, tags)
            return machine
        }
        let (few, many) = (machine(tags: 10).snapshot().count, machine(tags: 60).snapshot().count)
        let bytes = (many - few) / 50
        print("the snapshot has \(bytes) bytes for each tag")
        XCTAssertLessThan(few + 2990 * bytes, 1_000_000)
        XCTAssertGreaterThan(bytes, 100, "a tag's position, sequence and rooms")
    }

    func testARestoredMachineHasTheSameSnapshotSize() throws {
        let model = model
        var machine = FleetMachine(model: model)
        for tag in 0..<100 { machine.observe(FleetHall.reading(tag, by: tag % 6, at: 0.001 * Double(tag))) }
        _ = machine.advance(to: FleetHall.at(1.7))
        XCTAssertEqual(machine.statistics.positions, 100)
        let restored = try FleetMachine(model: model, epoch: 2, restoring: machine.snapshot())
        XCTAssertEqual(restored.snapshot().count, machine.snapshot().count)
    }
}

/// Snapshots with a correct checksum and values that no machine writes.
final class DamagedSnapshotTests: XCTestCase {
    private let model = FleetModel(venue: FleetHall().venue, settings: FleetHall.settings)

    /// Returns a machine with a present tag.
    private func machine() -> FleetMachine {
        var machine = FleetMachine(model: model)
        _ = machine.run([FleetHall.reading(1, at: 0)], to: 2)
        XCTAssertEqual(machine.statistics.presentTags, 1)
        return machine
    }

    private func assertRefused(_ machine: FleetMachine, line: UInt = #line) {
        XCTAssertThrowsError(try FleetMachine(model: model, epoch: 2, restoring: machine.snapshot()), line: line) {
            guard case FleetSnapshotError.invalid? = $0 as? FleetSnapshotError else {
                return XCTFail("\($0)", line: line)
            }
        }
    }

    func testAWaitingReadingMustBeAMeasurement() throws {
        let valid = PendingReading(
            nanoseconds: FleetHall.at(2).nanoseconds, hash: 1, slot: 0, receiver: 0, rssi: -60, window: 0,
            measuredPower: .nan)
        for (rssi, window, power) in [
            (Double.nan, Int64(0), -60.0), (.infinity, 0, -60), (127, 0, -60), (-60, -1, -60), (-60, 0, .infinity),
        ] {
            var machine = machine()
            var reading = valid
            (reading.rssi, reading.window, reading.measuredPower) = (rssi, window, power)
            machine.pending.insert(reading)
            assertRefused(machine)
        }
        var machine = machine()
        machine.pending.insert(valid)
        let restored = try FleetMachine(model: model, epoch: 2, restoring: machine.snapshot())
        XCTAssertEqual(restored.statistics.pendingReadings, 1)
    }

    func testAMachineRestoresEachReadingThatItAccepted() throws {
        var machine = machine()
        var reading = FleetHall.reading(1, at: 2.1)
        reading.window = .seconds(-1)
        reading.measuredPower = .infinity
        machine.observe(reading)
        let restored = try FleetMachine(model: model, epoch: 2, restoring: machine.snapshot())
        XCTAssertEqual(restored.statistics.pendingReadings, 1)
    }

    func testTwoRecordsOfATagBecomeOne() throws {
        var machine = machine()
        // The text of the name is that of the address.
        var reading = FleetHall.reading(1, at: 1)
        reading.tag = .name(FleetHall.key(1).description)
        machine.observe(reading)
        _ = machine.advance(to: FleetHall.at(3))
        XCTAssertEqual(machine.statistics.presentTags, 2)
        machine.table.records[1]?.sequence = 40
        var restored = try FleetMachine(model: model, epoch: 2, restoring: machine.snapshot())
        XCTAssertEqual(restored.statistics.knownTags, 1)
        XCTAssertEqual(restored.statistics.presentTags, 1)
        let outputs = restored.advance(to: FleetHall.at(60))
        XCTAssertEqual(outputs.filter { $0.kind == "away" }.count, 1)
        XCTAssertGreaterThan(outputs.first?.sequence ?? 0, 40)
        XCTAssertEqual(restored.statistics.presentTags, 0)
    }

    func testAPresentTagIsNotAway() {
        var machine = machine()
        machine.table.records[0]?.awaySince = FleetHall.at(1).nanoseconds
        assertRefused(machine)
    }

    func testABeliefFarOutsideOfTheVenueDoesNotSpoilASnapshot() throws {
        var machine = machine()
        var summary = try XCTUnwrap(machine.table.records[0]?.session?.engine.summary)
        for index in summary.places.indices {
            summary.places[index].mean = MapPoint(x: 1e6, y: 1e6)
            summary.places[index].covariance = PositionCovariance(xx: 1e12, xy: 0, yy: 1e12)
        }
        machine.table.records[0]?.session?.engine.begin(with: summary)
        let drawn = try XCTUnwrap(machine.table.records[0]?.session?.engine.summary)
        XCTAssertFalse(drawn.isValid, "the particles are farther than 1,000 km")
        let restored = try FleetMachine(model: model, epoch: 2, restoring: machine.snapshot())
        XCTAssertEqual(restored.statistics.presentTags, 1)
    }

    func testTheStateOfAReceiverMustBePossible() throws {
        func snapshot(_ change: (inout ReceiverMonitor) -> Void) -> [UInt8] {
            var monitor = ReceiverMonitor(venue: model.venue)
            monitor.states[0].estimate.addTag(1, difference: 3, readings: 60, at: FleetHall.start)
            monitor.shares.add(expected: -60, isHit: true)
            change(&monitor)
            return monitor.snapshot()
        }
        XCTAssertNoThrow(try ReceiverMonitor(venue: model.venue, restoring: snapshot { _ in }))
        let changes: [String: (inout ReceiverMonitor) -> Void] = [
            "a negative count": { $0.states[0].estimate.tags[0].count = -1 },
            "a count above the limit": { $0.states[0].estimate.tags[0].count = 61 },
            "an impossible difference": { $0.states[0].estimate.tags[0].mean = 1e6 },
            "too many tags": {
                $0.states[0].estimate.tags = Array(repeating: $0.states[0].estimate.tags[0], count: 65)
            },
            "a negative number of tags": { $0.states[0].detection.expected = -1 },
            "a negative gap": { $0.states[0].detection.longestGap = -1 },
            "negative trials": { $0.shares.trials[0] = -1 },
            "more hits than trials": { $0.shares.hits[0] = 2 },
        ]
        for (name, change) in changes {
            XCTAssertThrowsError(try ReceiverMonitor(venue: model.venue, restoring: snapshot(change)), name)
        }
    }
}
