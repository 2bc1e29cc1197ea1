import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import TagTracking

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
