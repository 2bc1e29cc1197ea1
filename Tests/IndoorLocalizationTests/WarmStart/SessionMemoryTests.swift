import IndoorLocalization
import IndoorLocalizationTesting
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

/// How far a memory of a place counts, by its age.
final class RestoredPlaceTests: XCTestCase {
    private let maps: [MapID] = [10, 11, 12]

    private func memory(_ probabilities: [MapID: Double], timeout: Duration = .seconds(600)) -> RestoredPlace {
        RestoredPlace(
            places: probabilities.map { map, probability in
                SessionMemory.Place(
                    mapID: map, probability: probability, point: MapPoint(x: 5, y: 5), varianceX: 1, varianceY: 1)
            }, instant: Instant(seconds: 100), timeout: timeout)
    }

    func testTheTrustFallsLinearlyToZeroAtTheTimeout() {
        let memory = memory([10: 1])
        for (seconds, expected) in [(0.0, 0.9), (100, 0.9), (400, 0.45), (700, 0), (5000, 0)] {
            XCTAssertEqual(memory.trust(at: Instant(seconds: seconds)), expected, accuracy: 1e-9, "at \(seconds) s")
        }
        XCTAssertEqual(self.memory([10: 1], timeout: .zero).trust(at: Instant(seconds: 100)), 0)
    }

    func testTheRestoredPlaceSpreadsAtWalkingSpeed() {
        let motion = MotionModel()
        XCTAssertEqual(RestoredPlace.spread(after: 0, motion: motion), 0)
        // 40 of 43 seconds at 1.1 m/s along an axis, kept until a turn or a stop, 7.1 s in the mean: in the long run
        // 40/43 · 2 · 1.21 · 7.1 m² a second, and what both kinds of wandering add, 40/43 · 0.09 + 3/43 · 0.0225.
        let (walking, kept) = (40.0 / 43, 1 / (1.0 / 100 + 0.1 + 0.03))
        let (minute, two) = (
            RestoredPlace.spread(after: 60, motion: motion), RestoredPlace.spread(after: 120, motion: motion)
        )
        let wandering = walking * 0.09 + (1 - walking) * 0.0225
        XCTAssertEqual((two - minute) / 60, walking * 2 * 1.21 * kept + wandering, accuracy: 1e-3)
        // Within a second nobody turns: as far as the speed carries.
        XCTAssertEqual(RestoredPlace.spread(after: 1, motion: motion), walking * 1.21, accuracy: 0.15)
        var previous = 0.0
        for second in 1..<100 {
            let spread = RestoredPlace.spread(after: Double(second), motion: motion)
            XCTAssertGreaterThan(spread, previous, "\(second) s")
            previous = spread
        }
    }

    func testTheRestoredPlaceOfAStandingDeviceSpreadsByWanderingOnly() {
        var motion = MotionModel()
        motion.startRate = 0
        XCTAssertEqual(RestoredPlace.spread(after: 100, motion: motion), 0.15 * 0.15 * 100, accuracy: 1e-9)
    }

    func testTheFloorProbabilitiesBecomeEqualWithAge() throws {
        let memory = memory([11: 0.9, 12: 0.1])
        let now = try XCTUnwrap(memory.probabilities(of: maps, at: Instant(seconds: 100)))
        for (value, expected) in zip(now, [0, 0.9, 0.1]) { XCTAssertEqual(value, expected, accuracy: 1e-9) }
        let later = try XCTUnwrap(memory.probabilities(of: maps, at: Instant(seconds: 130)))
        XCTAssertEqual(later.reduce(0, +), 1, accuracy: 1e-9)
        XCTAssertTrue(later[1] < 0.9 && later[1] > 0.4, "\(later)")
        let old = try XCTUnwrap(memory.probabilities(of: maps, at: Instant(seconds: 1e5)))
        for value in old { XCTAssertEqual(value, 1.0 / 3, accuracy: 1e-6) }
        XCTAssertEqual(memory.probabilities(of: [11], at: Instant(seconds: 1e5)), [1], "one floor is never forgotten")
        XCTAssertNil(memory.probabilities(of: [99], at: Instant(seconds: 100)), "another venue's maps")
    }
}

final class SessionMemoryDocumentTests: XCTestCase {
    private var full: SessionMemory {
        var calibration = Calibration()
        calibration.rssiOffset = -3.25
        let stay = SessionMemory.Stay(
            venueID: 7, venueVersion: 3,
            places: [
                SessionMemory.Place(
                    mapID: 2, probability: 0.75, point: MapPoint(x: 3.5, y: -1), varianceX: 2, varianceY: 4,
                    covariance: -1)
            ], rooms: [.init(id: 4)], fences: [.init(id: 5, isTold: false)], geofences: [.init(id: "desk")],
            departures: [.init(id: 6, ago: .seconds(12))], geofenceDepartures: [.init(id: "lift", ago: .zero)])
        return SessionMemory(stay: stay, calibration: calibration, age: .milliseconds(1500))
    }

    /// A document with one value of it replaced.
    private func document(_ path: [String], _ value: JSONValue?) -> JSONValue {
        func put(_ document: JSONValue, _ path: ArraySlice<String>) -> JSONValue {
            guard let name = path.first else { return value ?? .null }
            if case .array(let values) = document, let index = Int(name) {
                var values = values
                values[index] = put(values[index], path.dropFirst())
                return .array(values)
            }
            guard case .object(var members) = document else { return document }
            members[name] = path.count == 1 ? value : put(members[name] ?? .null, path.dropFirst())
            return .object(members)
        }
        return put(full.document, path[...])
    }

    func testAWrittenDocumentIsReadUnchanged() throws {
        XCTAssertEqual(try SessionMemory(full.document), full)
        XCTAssertEqual(try SessionMemory(SessionMemory().document), SessionMemory())
    }

    func testUnknownMembersAreIgnored() throws {
        XCTAssertEqual(try SessionMemory(document(["stay", "weather"], "fine")), full)
    }

    func testEachWrongValueIsNamed() {
        let cases: [([String], JSONValue?, String)] = [
            (["age"], -1, "memory.age"), (["age"], nil, "memory.age"), (["age"], "old", "memory.age"),
            (["stay"], 5, "memory.stay"), (["stay", "venueId"], 1.5, "memory.stay.venueId"),
            (["stay", "places"], nil, "memory.stay.places"), (["stay", "rooms"], .object([:]), "memory.stay.rooms"),
            (["stay", "rooms", "0"], 1, "memory.stay.rooms[0]"),
            (["stay", "fences", "0", "isTold"], 1, "memory.stay.fences[0].isTold"),
            (["stay", "geofences", "0", "id"], 1, "memory.stay.geofences[0].id"),
            (["stay", "departures", "0", "ago"], -1, "memory.stay.departures[0].ago"),
            (["stay", "places", "0", "probability"], 1.1, "memory.stay.places[0].probability"),
            (["stay", "places", "0", "varianceX"], -0.1, "memory.stay.places[0].varianceX"),
            (["stay", "places", "0", "x"], 1e7, "memory.stay.places[0].x"),
            (["stay", "places", "0", "covariance"], 3, "memory.stay.places[0].covariance"),
            (["calibration", "stepScale"], 9, "memory.calibration"),
        ]
        for (path, value, named) in cases {
            XCTAssertThrowsError(try SessionMemory(document(path, value)), "\(path)") { error in
                XCTAssertTrue("\(error)".hasPrefix(named + " must be"), "\(path): \(error)")
            }
        }
        XCTAssertThrowsError(try SessionMemory(.array([])))
    }
}

extension Localizer {
    /// Returns the delay right after a change, before an alarm can ring.
    fileprivate func delayAtOnce(after change: @Sendable () -> Void) -> Duration {
        change()
        return delay
    }
}

/// The memory of a localizer, as its users handle it.
final class LocalizerMemoryTests: XCTestCase {
    func testARunningSessionRemembersItsVenueAndItsPlace() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let memory = await stage.localizer.memory
        let stay = try XCTUnwrap(memory.stay)
        XCTAssertEqual(stay.venueID, SessionStage.office.id)
        XCTAssertFalse(stay.places.isEmpty)
        XCTAssertNotNil(memory.calibration)
        let delay = await stage.localizer.delay
        XCTAssertEqual(delay, .zero, "all that was due is done")
    }

    func testSuspendEndsTheSessionAndReturnsItsMemory() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let before = await stage.localizer.memory
        let memory = await stage.localizer.suspend()
        XCTAssertEqual(memory.stay, before.stay)
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        let again = await stage.localizer.suspend()
        XCTAssertEqual(again.stay, memory.stay, "it is there until the next start")
    }

    func testAnotherLocalizerContinuesWithAnAgingMemory() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let memory = await stage.localizer.suspend()
        let next = LocalizerStage()
        await next.localizer.restore(memory, after: .seconds(20))
        await next.localizer.restore(memory, after: .seconds(-20))
        var known = await next.localizer.memory
        XCTAssertEqual(known.age, memory.age, "a clock that was set back makes nothing younger than it was")
        await next.localizer.restore(memory, after: .seconds(20))
        await next.localizer.start()
        next.clock.advance(by: .seconds(5))
        known = await next.localizer.memory
        XCTAssertEqual(known.age, memory.age + .seconds(25))
        XCTAssertEqual(known.stay, memory.stay, "as long as nothing is heard")
        await next.localizer.restore(SessionMemory())
        known = await next.localizer.memory
        XCTAssertEqual(known.stay, memory.stay, "while a session is on, nothing else is remembered")
    }

    func testFinishedStreamsEndAfterTheEmittedElements() async throws {
        let stage = LocalizerStage()
        let positions = stage.localizer.positions
        try await stage.run()
        _ = await stage.localizer.suspend()
        stage.localizer.finishStreams()
        let told = try await Bounded.wait(for: "the end of the positions") {
            var count = 0
            for await _ in positions { count += 1 }
            return count
        }
        XCTAssertGreaterThan(told, 0)
    }

    func testTheDelayIsTheTimeSinceAMissedWakeUp() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        // Time passes in one leap: until the alarm has rung, what was due is late.
        let clock = stage.clock
        var delay = await stage.localizer.delayAtOnce { clock.advance(by: .seconds(100)) }
        XCTAssertGreaterThan(delay, .seconds(90))
        try await stage.reach("searchVenue")
        delay = await stage.localizer.delay
        XCTAssertEqual(delay, .zero, "the venue is lost, and nothing is due any more")
    }
}

/// A session that is paused and goes on.
final class LocalizerPauseTests: XCTestCase {
    private let stage = LocalizerStage()

    /// Rooms are not left, and the place is known again at once.
    func testASessionContinuesWhereItWasPaused() async throws {
        try await stage.run()
        let isPausedBefore = await stage.localizer.isPaused
        XCTAssertFalse(isPausedBefore)
        let eventsBefore = await stage.localizer.eventHistory
        await stage.localizer.pause()
        let (state, isPaused) = (await stage.localizer.state, await stage.localizer.isPaused)
        XCTAssertEqual(state, .idle)
        XCTAssertTrue(isPaused)
        try await Bounded.wait(for: "the radio being let go of") { [stage] in
            try await stage.source.waitUntilNothingRuns()
        }
        stage.clock.advance(by: .seconds(60))
        await stage.localizer.resume()
        try await stage.source.waitUntilScanning(2)
        // Before the session knows its venues, a reading identifies none.
        _ = try await Bounded.elements(of: stage.localizer.states, until: "the venues") {
            !["idle", "started"].contains($0.name)
        }
        let (memory, events) = (await stage.localizer.memory, await stage.localizer.eventHistory)
        XCTAssertEqual(memory.stay?.venueID, SessionStage.office.id)
        XCTAssertGreaterThanOrEqual(memory.age, .seconds(60))
        XCTAssertEqual(events, eventsBefore, "no room or fence was left")
        let positions = stage.localizer.positions
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning + 65, for: 5) { stage.source.send(reading) }
        _ = try await Bounded.first(1, of: positions)
        let isPausedAfter = await stage.localizer.isPaused
        XCTAssertFalse(isPausedAfter)
        await stage.localizer.stop()
    }

    func testMotionContinuesInItsFrameAndAStartResetsIt() async throws {
        var device = CarriedDevice()
        var machine = Machine(settings: LocalizationSettings(), seed: 1, reportsMotion: true) { _ in FixBelief() }
        func last(_ readings: [SensorReading]) -> MotionEstimate? {
            readings.flatMap { machine.handle(.reading($0), at: $0.instant) }.compactMap {
                if case .emitMotion(.motion(let estimate)) = $0 { estimate } else { nil }
            }.last
        }
        _ = machine.handle(.start, at: .zero)
        let before = try XCTUnwrap(last(device.samples(10, steps: 2)))
        XCTAssertGreaterThan(before.statistics.steps, 10)
        _ = machine.handle(.suspend, at: device.now)
        _ = device.samples(30, steps: 2)
        _ = machine.handle(.resume, at: device.now)
        let after = try XCTUnwrap(last(device.samples(1)))
        XCTAssertEqual(after.statistics.steps, before.statistics.steps)
        XCTAssertEqual(after.position.x, before.position.x, accuracy: 1)
        XCTAssertEqual(after.position.y, before.position.y, accuracy: 1)
        _ = machine.handle(.suspend, at: device.now)
        _ = machine.handle(.start, at: device.now)
        XCTAssertEqual(try XCTUnwrap(last(device.samples(1))).statistics.steps, 0)
    }

    func testPauseAndResumeDoNothingWithoutASession() async throws {
        await stage.localizer.pause()
        await stage.localizer.resume()
        var state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        try await stage.run()
        await stage.localizer.pause()
        await stage.localizer.stop()
        await stage.localizer.resume()
        state = await stage.localizer.state
        XCTAssertEqual(state, .idle, "stop ends the pause")
        await stage.localizer.start()
        await stage.localizer.pause()
        await stage.localizer.start()
        let isPaused = await stage.localizer.isPaused
        XCTAssertFalse(isPaused, "start begins anew")
        await stage.localizer.stop()
    }
}
