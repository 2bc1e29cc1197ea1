import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import XCTest

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
