import IndoorLocalization
import IndoorPositioning
import XCTest

@testable import TagTracking

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
