import IndoorLocalization
import TagTracking
import XCTest

/// A register that is replaced while its tags are located.
final class FleetRegisterTests: XCTestCase {
    private func machine(_ rule: FleetSettings.UnknownTags) -> FleetMachine {
        var settings = FleetHall.settings
        settings.unknownTags = rule
        return FleetMachine(venue: FleetHall().venue, settings: settings, register: Self.register(1, 2))
    }

    private static func register(_ tags: Int...) -> TagRegister {
        TagRegister(tags.map { TagRegister.Entry(key: FleetHall.key($0)) })
    }

    func testATagThatLeavesTheRegisterIsRemovedWithoutOutputs() throws {
        var machine = machine(.none)
        let before = machine.run([FleetHall.reading(1, at: 0), FleetHall.reading(2, at: 0)], to: 2)
        let latest = try XCTUnwrap(before.filter { $0.tag == FleetHall.key(1) }.map(\.sequence).max())
        // A tag without a record was located earlier.
        let removed = machine.use(register: Self.register(2), for: [FleetHall.key(3)])
        XCTAssertEqual(removed, [FleetHall.key(1), FleetHall.key(3)])
        XCTAssertEqual(machine.tags, [FleetHall.key(2)])
        XCTAssertFalse(machine.passes(FleetHall.key(1)))
        let after = machine.run([FleetHall.reading(2, at: 2.5)], from: 2, to: 4)
        XCTAssertEqual(Set(after.map(\.tag)), [FleetHall.key(2)])

        // The numbers of its outputs increase when it is registered again.
        XCTAssertEqual(machine.use(register: Self.register(1, 2), for: []), [])
        XCTAssertTrue(machine.passes(FleetHall.key(1)))
        let again = machine.run([FleetHall.reading(1, at: 4.5)], from: 4, to: 6)
        let first = try XCTUnwrap(again.first { $0.tag == FleetHall.key(1) })
        XCTAssertEqual(first.content, .present)
        XCTAssertGreaterThan(first.sequence, latest)
    }

    func testATagThatLeavesTheRegisterStaysIfUnknownTagsAreLocated() {
        var machine = machine(.all)
        _ = machine.run([FleetHall.reading(1, at: 0), FleetHall.reading(2, at: 0)], to: 2)
        XCTAssertEqual(machine.use(register: Self.register(2), for: [FleetHall.key(3)]), [])
        XCTAssertTrue(machine.isPresent(FleetHall.key(1)))
    }
}
