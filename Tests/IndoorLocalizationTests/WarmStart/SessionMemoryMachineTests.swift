import IndoorLocalization
import XCTest

/// What a session leaves to the next one, and what that makes of it.
final class SessionMemoryMachineTests: XCTestCase {
    private let office = SessionStage.office

    /// A session that is at (5, 5) in kitchen and door of the office since second 10, and was told so.
    private func settled() -> Machine {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10)), at: 10)
        for second in 11...16 {
            _ = machine.handle(.reading(SessionStage.heard(1, at: Double(second))), at: Double(second))
            _ = machine.pass(to: Double(second))
        }
        return machine
    }

    /// A session that is given a memory, is in the office from second 1000 on, and is told to be at a place.
    private func next(_ memory: SessionMemory, x: Double, until seconds: Double) -> [Machine.Directive] {
        var machine = SessionStage.machine()
        var directives = machine.handle(.restore(memory), at: 1000)
        directives += machine.handle(.start, at: 1000)
        directives += machine.handle(.catalogue(SessionStage.summaries), at: 1000)
        directives += machine.handle(.reading(SessionStage.heard(1, at: 1000)), at: 1000)
        directives += machine.handle(.packet(1, office), at: 1000)
        directives += machine.handle(.reading(SessionStage.fix(10, x, 5, at: 1000)), at: 1000)
        for second in stride(from: 1001, through: seconds, by: 1) {
            directives += machine.handle(.reading(SessionStage.heard(1, at: second)), at: second)
            directives += machine.pass(to: second)
        }
        return directives
    }

    private func events(_ directives: [Machine.Directive]) -> [String] {
        directives.compactMap { directive in
            guard case .emitEvent(let event) = directive else { return nil }
            switch event.kind {
            case .enterRoom(let room): return "enter room \(room.id)"
            case .exitRoom(let room): return "exit room \(room.id)"
            case .enterFence(let fence): return "enter fence \(fence.id)"
            case .exitFence(let fence): return "exit fence \(fence.id)"
            case .enterGeofence(let fence): return "enter geofence \(fence.id)"
            case .exitGeofence(let fence): return "exit geofence \(fence.id)"
            }
        }
    }

    func testAMemoryContainsTheVenueAndTheAreasWithEvents() throws {
        let memory = settled().memory(at: Instant(seconds: 16))
        let stay = try XCTUnwrap(memory.stay)
        XCTAssertEqual(stay.venueID, 1)
        XCTAssertEqual(stay.venueVersion, office.version)
        XCTAssertEqual(stay.rooms, [.init(id: 1)])
        XCTAssertEqual(stay.fences, [.init(id: 2)])
        XCTAssertEqual(memory.age, .zero)
    }

    func testSuspendEmitsNoExitsAndStopDoes() {
        var (suspended, stopped) = (settled(), settled())
        XCTAssertEqual(events(suspended.handle(.suspend, at: 17)), [])
        XCTAssertEqual(suspended.state, .idle)
        XCTAssertEqual(suspended.memory(at: Instant(seconds: 17)).stay?.rooms, [.init(id: 1)])
        XCTAssertEqual(events(stopped.handle(.stop, at: 17)), ["exit room 1", "exit fence 2"])
        XCTAssertEqual(stopped.memory(at: Instant(seconds: 17)).stay?.rooms, [], "what was left is not remembered")
        XCTAssertEqual(stopped.memory(at: Instant(seconds: 17)).stay?.venueID, 1)
    }

    func testARestoredSessionDoesNotRepeatAnEntry() {
        let memory = settled().memory(at: Instant(seconds: 16))
        XCTAssertEqual(events(next(memory, x: 5, until: 1010)), [])
        XCTAssertEqual(events(next(SessionMemory(), x: 5, until: 1010)), ["enter room 1", "enter fence 2"])
    }

    func testADeviceMovedMeanwhileLeavesItsRestoredAreas() {
        let memory = settled().memory(at: Instant(seconds: 16))
        XCTAssertEqual(events(next(memory, x: 30, until: 1010)), ["exit room 1", "exit fence 2"])
    }

    func testAreasAreRestoredWhateverTheAgeOfTheMemory() {
        var memory = settled().memory(at: Instant(seconds: 16))
        memory.age = .seconds(86_400 * 30)
        XCTAssertEqual(events(next(memory, x: 5, until: 1010)), [])
    }

    func testAMemoryOfAnotherPacketVersionIsIgnored() {
        var memory = settled().memory(at: Instant(seconds: 16))
        memory.stay?.venueVersion += 1
        XCTAssertEqual(events(next(memory, x: 5, until: 1010)), ["enter room 1", "enter fence 2"])
    }

    func testTheHoldOffOfAFenceContinuesAfterARestart() {
        var memory = settled().memory(at: Instant(seconds: 16))
        memory.stay?.rooms = []
        memory.stay?.fences = []
        memory.stay?.departures = [.init(id: 2, ago: .seconds(10))]
        for (age, expected) in [(20.0, []), (60, ["enter fence 2"])] {
            var settings = LocalizationSettings()
            settings.fenceTimeout = .seconds(60)
            memory.age = .seconds(age)
            var machine = SessionStage.machine(in: .idle, settings)
            _ = machine.handle(.restore(memory), at: 0)
            _ = machine.handle(.start, at: 0)
            _ = machine.handle(.catalogue(SessionStage.summaries), at: 0)
            _ = machine.handle(.reading(SessionStage.heard(1, at: 0)), at: 0)
            _ = machine.handle(.packet(1, office), at: 0)
            _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 0)), at: 0)
            let told = events(machine.pass(to: 8)).filter { $0.hasSuffix("fence 2") }
            XCTAssertEqual(told, expected, "\(age) s old")
        }
    }

    func testWithoutASignOfAVenueAMemoryMakesNoPosition() {
        let memory = settled().memory(at: Instant(seconds: 16))
        var machine = SessionStage.machine()
        var directives = machine.handle(.restore(memory), at: 0)
        directives += machine.handle(.start, at: 0)
        directives += machine.handle(.catalogue(SessionStage.summaries), at: 0)
        directives += machine.pass(to: 600)
        XCTAssertEqual(machine.state, .searchVenue)
        XCTAssertFalse(directives.contains { if case .emit = $0 { true } else { false } })
    }

    func testAnUnusedMemoryIsPassedOnWithItsGreaterAge() {
        var memory = settled().memory(at: Instant(seconds: 16))
        memory.age = .seconds(5)
        var machine = SessionStage.machine()
        _ = machine.handle(.restore(memory), at: 100)
        _ = machine.handle(.start, at: 100)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 100)
        XCTAssertEqual(machine.memory(at: Instant(seconds: 130)).age, .seconds(35))
        XCTAssertEqual(machine.memory(at: Instant(seconds: 130)).stay, memory.stay)
        _ = machine.handle(.suspend, at: 130)
        XCTAssertEqual(machine.memory(at: Instant(seconds: 130)).age, .seconds(35), "also after the end")
        machine.shift(by: .seconds(1000))
        XCTAssertEqual(
            machine.memory(at: Instant(seconds: 1130)).age, .seconds(35), "a moved timeline makes nothing older")
    }

    func testAVenueThatWasLostIsNotRemembered() {
        var machine = settled()
        _ = machine.pass(to: 60)
        XCTAssertEqual(machine.state, .searchVenue)
        XCTAssertNil(machine.memory(at: Instant(seconds: 60)).stay)
    }

    func testRestoringAMemoryDuringASessionDoesNothing() {
        var machine = settled()
        let before = machine.memory(at: Instant(seconds: 16))
        _ = machine.handle(.restore(SessionMemory(age: .seconds(9))), at: 16)
        XCTAssertEqual(machine.memory(at: Instant(seconds: 16)), before)
    }

    func testTheNextSessionOfTheSameMachineBeginsWithoutAMemory() {
        var machine = settled()
        _ = machine.handle(.suspend, at: 17)
        _ = machine.handle(.start, at: 18)
        XCTAssertNil(machine.memory(at: Instant(seconds: 18)).stay, "only what it is told to remember counts")
    }

    func testTheSearchFindsTheRestoredVenueAmongSeveralAtOnce() {
        func machine(restoring memory: SessionMemory?) -> Machine {
            var machine = SessionStage.machine()
            if let memory { _ = machine.handle(.restore(memory), at: 0) }
            _ = machine.handle(.start, at: 0)
            _ = machine.handle(.catalogue(SessionStage.summaries), at: 0)
            // Neither leads at first.
            _ = machine.handle(.reading(SessionStage.heard(1, at: 0.1, rssi: -90)), at: 0.1)
            return machine
        }
        var old = settled().memory(at: Instant(seconds: 16))
        var shop = SessionMemory(stay: SessionMemory.Stay(venueID: 2, venueVersion: 1))
        var settings = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        settings.learn(SessionStage.summaries)
        func verdict(_ restored: VenueID?) -> VenueSearchMachine.Verdict {
            var search = settings
            _ = search.observe(
                Sighting(instant: .zero, beacon: SessionStage.beacon(1, 1), rssi: -60), current: 9, restored: nil)
            return search.observe(
                Sighting(instant: Instant(seconds: 0.1), beacon: SessionStage.beacon(2, 1), rssi: -50), current: nil,
                restored: restored)
        }
        XCTAssertEqual(verdict(2), .venue(2))
        XCTAssertEqual(verdict(1), .undecided, "the other leads")
        XCTAssertEqual(verdict(nil), .undecided, "two are heard, and one has to lead for a while")
        // A machine asks for it as long as its memory is fresh.
        XCTAssertEqual(machine(restoring: shop).restoredVenue(at: Instant(seconds: 60)), 2)
        shop.age = .seconds(1799)
        XCTAssertNil(machine(restoring: shop).restoredVenue(at: Instant(seconds: 60)))
        old.stay = nil
        XCTAssertNil(machine(restoring: old).restoredVenue(at: Instant(seconds: 60)))
    }
}
