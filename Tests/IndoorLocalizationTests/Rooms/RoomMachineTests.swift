import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Tests of the events of rooms, and their order.
final class RoomMachineTests: XCTestCase {
    /// Tells the room that the first beacon's RSSI stands for; nil with fewer than three beacons.
    private struct ScriptedClassifier: Classifier {
        var rooms: [Double: String] = [-60: "den", -70: "bath"]

        func classify(_ scan: RoomScan) -> RoomEstimate? {
            guard scan.rssi.count >= 3, let rssi = scan.rssi[TrainedHouse.beacon(0)] else { return nil }
            return RoomEstimate(
                instant: scan.instant,
                candidates: [.init(room: rooms[rssi], probability: 0.75), .init(room: "den", probability: 0.25)])
        }
    }

    private func ranging(_ rssi: Double, at seconds: Double, of id: String = "home", beacons: Int = 3) -> RegionRanging
    {
        let instant = Instant(seconds: seconds)
        return RegionRanging(
            instant: instant, regionID: id,
            ranges: (0..<beacons).map {
                RangeEstimate(
                    beacon: TrainedHouse.beacon($0), instant: instant, rssi: rssi, rssiDeviation: 1, distance: nil)
            })
    }

    private func started(_ settings: RoomSettings = RoomSettings(changeRule: .immediate)) -> RoomMachine {
        var machine = RoomMachine(settings: settings)
        machine.insert(ScriptedClassifier(), for: "home")
        machine.start()
        return machine
    }

    private func text(_ events: [RoomEvent]) -> [String] { events.map { "\($0.kind) \($0.regionID) \($0.room)" } }

    private func exit(_ id: String, at seconds: Double) -> RegionEvent {
        RegionEvent(instant: Instant(seconds: seconds), regionID: id, kind: .exit)
    }

    func testNothingIsEmittedBeforeTheStartOrWithoutAClassifier() {
        var machine = RoomMachine(settings: RoomSettings())
        machine.insert(ScriptedClassifier(), for: "home")
        XCTAssertEqual(machine.handle(ranging(-60, at: 1)), [], "off")
        XCTAssertEqual(machine.rooms, [:])
        machine.start()
        XCTAssertEqual(machine.handle(ranging(-60, at: 2, of: "shop")), [], "no classifier")
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 3))), ["enter home den", "current home den"])
        machine.insert(nil, for: "home")
        XCTAssertEqual(machine.handle(ranging(-60, at: 4)), [], "taken away")
    }

    func testNothingIsEmittedWithoutTraining() {
        var machine = started()
        machine.insert(AdaptiveClassifier(RoomTrainingSet()), for: "home")
        XCTAssertEqual(machine.handle(ranging(-60, at: 1)), [])
    }

    func testAChangeOfRoomIsExitThenEnterThenCurrent() {
        var machine = started()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 1))), ["enter home den", "current home den"])
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 2))), ["current home den"])
        let events = machine.handle(ranging(-70, at: 3))
        XCTAssertEqual(text(events), ["exit home den", "enter home bath", "current home bath"])
        XCTAssertEqual(events.map(\.probability), [0.25, 0.75, 0.75])
        XCTAssertEqual(events.map(\.instant.seconds), [3, 3, 3])
        XCTAssertEqual(machine.rooms, ["home": "bath"])
    }

    func testTwoBeaconsGiveNoEvent() {
        var machine = started()
        XCTAssertEqual(machine.handle(ranging(-60, at: 1, beacons: 2)), [])
        XCTAssertEqual(machine.handle(ranging(-60, at: 2)).count, 2)
        XCTAssertEqual(machine.handle(ranging(-70, at: 3, beacons: 2)), [], "no current one either")
        XCTAssertEqual(machine.rooms, ["home": "den"])
    }

    func testNoneOfTheRoomsIsAnExitWithoutAnEntry() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        XCTAssertEqual(text(machine.handle(ranging(-90, at: 2))), ["exit home den"])
        XCTAssertEqual(machine.handle(ranging(-90, at: 3)), [])
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 4))), ["enter home den", "current home den"])
    }

    func testTwoRegionsAtOnceKeepSeparateRooms() {
        var machine = started()
        machine.insert(ScriptedClassifier(rooms: [-60: "shelf"]), for: "shop")
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 1))), ["enter home den", "current home den"])
        XCTAssertEqual(
            text(machine.handle(ranging(-60, at: 1, of: "shop"))), ["enter shop shelf", "current shop shelf"])
        XCTAssertEqual(
            text(machine.handle(ranging(-70, at: 2)).prefix(2).map { $0 }), ["exit home den", "enter home bath"])
        XCTAssertEqual(machine.rooms, ["home": "bath", "shop": "shelf"])
        _ = machine.handle(exit("home", at: 3))
        XCTAssertEqual(machine.rooms, ["shop": "shelf"])
    }

    func testLeavingTheRegionLeavesTheRoom() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        let events = machine.handle(exit("home", at: 40))
        XCTAssertEqual(text(events), ["exit home den"])
        XCTAssertEqual(events[0].instant.seconds, 40)
        XCTAssertEqual(machine.handle(exit("home", at: 41)), [], "it was left")
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 50))), ["enter home den", "current home den"])
    }

    func testAForgottenRoomIsEnteredAgainWithoutAnExit() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        machine.forget()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 2))), ["enter home den", "current home den"])
    }

    func testARestartEntersTheRoomAgainAndAStopEmitsNothing() {
        var machine = started()
        _ = machine.handle(ranging(-60, at: 1))
        machine.stop()
        XCTAssertEqual(machine.handle(ranging(-70, at: 2)), [])
        XCTAssertEqual(machine.handle(exit("home", at: 3)), [])
        machine.start()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 4))), ["enter home den", "current home den"])
        machine.start()
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 5))), ["enter home den", "current home den"])
    }

    func testTheMachineAppliesTheChangeRule() {
        var machine = started(RoomSettings(changeRule: .inARow, changeCount: 3))
        XCTAssertEqual(text(machine.handle(ranging(-60, at: 1))), ["enter home den", "current home den"])
        XCTAssertEqual(text(machine.handle(ranging(-70, at: 2))), ["current home den"])
        XCTAssertEqual(text(machine.handle(ranging(-70, at: 3))), ["current home den"])
        XCTAssertEqual(
            text(machine.handle(ranging(-70, at: 4))), ["exit home den", "enter home bath", "current home bath"])
        XCTAssertEqual(machine.estimate(in: "home")?.room, "bath")
    }
}

/// Tests of the rules that confirm a change of room.
final class RoomChangeFilterTests: XCTestCase {
    /// Returns the confirmed room after each estimate, as letters; a dash is none of the rooms.
    private func believed(_ told: String, _ rule: RoomChangeRule, _ count: Int = 3) -> String {
        var filter = RoomChangeFilter(RoomSettings(changeRule: rule, changeCount: count))
        return told.map {
            RoomEstimate(instant: .zero, candidates: [.init(room: $0 == "-" ? nil : String($0), probability: 1)])
                .flatMap { filter.observe($0) } ?? "-"
        }.joined()
    }

    func testTheImmediateRuleAcceptsEachRoom() {
        XCTAssertEqual(believed("aabab-b", .immediate), "aabab-b")
    }

    func testThreeInARowChangeTheRoom() {
        XCTAssertEqual(believed("abbabbba", .inARow), "aaaaaabb")
        XCTAssertEqual(believed("abcbcbcb", .inARow), "aaaaaaaa", "they must be the same")
    }

    func testTwoInARowChangeTheRoom() {
        XCTAssertEqual(believed("ababb", .inARow, 2), "aaaab")
    }

    func testBestOfFiveChangesTheRoom() {
        // Of the last five, the present room stays as long as no other one is more frequent.
        XCTAssertEqual(believed("aaabbb", .bestOf, 5), "aaaaab")
        XCTAssertEqual(believed("aaaaabbcb", .bestOf, 5), "aaaaaaaab")
    }

    func testTheFirstRoomIsNeverDelayed() {
        for rule in RoomChangeRule.allCases { XCTAssertEqual(believed("a", rule, 10), "a", rule.rawValue) }
    }

    func testNoneOfTheRoomsIsAcceptedByTheSameRule() {
        XCTAssertEqual(believed("a--a---", .inARow), "aaaaaa-")
        XCTAssertEqual(believed("-aaa", .inARow), "---a")
    }

    func testOneInARowIsImmediate() { XCTAssertEqual(believed("abca", .inARow, 1), "abca") }

    func testACountOutOfRangeIsAProblem() {
        XCTAssertEqual(RoomSettings().problems, [])
        for count in [0, 101] {
            let problems = RoomSettings(changeRule: .bestOf, changeCount: count).problems
            XCTAssertEqual(problems, ["rooms.changeCount must be in [1, 100], not \(count)"])
        }
    }
}

final class PlaceChangeTestTests: XCTestCase {
    private static let beaconCount = 8

    private var generator = SeededGenerator(seed: 15)

    private func test(threshold: Double = 6) -> PlaceChangeTest {
        PlaceChangeTest(beaconCount: Self.beaconCount, deviation: 5, threshold: threshold)
    }

    /// A scan of beacons with these mean RSSI values, in dBm, and 4 dB of noise; nil for one that is silent.
    private func scan(_ means: [Double?]) -> [(beacon: Int, rssi: Double)] {
        means.enumerated().compactMap { beacon, mean in mean.map { (beacon, $0 + 4 * generator.normal()) } }
    }

    private static let here: [Double?] = [-60, -66, -72, -78, -84, -70, -65, -80]
    private static let there: [Double?] = [-76, -80, -60, -66, -70, -84, -80, -66]

    func testAnotherPlaceIsDetectedWithinThreeScans() {
        for _ in 0..<20 {
            var test = test()
            for _ in 0..<30 { _ = test.observe(scan(Self.here), after: 1) }
            let ratios = (0..<3).map { _ in test.observe(scan(Self.there), after: 1) }
            XCTAssertTrue(ratios.contains(.infinity), "\(ratios)")
            XCTAssertLessThanOrEqual(test.scanCount, 3, "the new place begins with the change")
        }
    }

    func testTheSamePlaceIsNoChangeForAnHour() {
        var test = test()
        let changes = (0..<3600).count { _ in test.observe(scan(Self.here), after: 1) == .infinity }
        XCTAssertEqual(changes, 0)
        XCTAssertEqual(test.scanCount, 3600)
    }

    func testSlowMovementIsNoChange() {
        var test = test()
        let ratios = (0..<160).map { second -> Double in
            let part = Double(second) / 160
            let moved = zip(Self.here, Self.there).map { here, there -> Double? in
                let (from, to): (Double, Double) = (here ?? 0, there ?? 0)
                return from + (to - from) * part
            }
            return test.observe(scan(moved), after: 1)
        }
        XCTAssertFalse(ratios.contains(.infinity))
    }

    func testSilentBeaconsIndicateAChange() {
        // As strong as before, but three in four are gone.
        let few = Self.here.enumerated().map { $0.offset % 4 == 0 ? $0.element : nil }
        var test = test()
        for _ in 0..<30 { _ = test.observe(scan(Self.here), after: 1) }
        let ratios = (0..<5).map { _ in test.observe(scan(few), after: 1) }
        XCTAssertGreaterThan(ratios.max() ?? 0, 2, "\(ratios)")
        var steady = self.test()
        for _ in 0..<30 { _ = steady.observe(scan(few), after: 1) }
        let same = (0..<5).map { _ in steady.observe(scan(few), after: 1) }
        XCTAssertLessThan(same.max() ?? 0, 1, "\(same)")
    }

    func testTheFirstScanIsNoChange() {
        var test = test()
        XCTAssertEqual(test.observe(scan(Self.here), after: 0), 0)
        XCTAssertEqual(test.scanCount, 1)
    }

    func testAnInfiniteThresholdTurnsTheTestOff() {
        var test = test(threshold: .infinity)
        for _ in 0..<30 { _ = test.observe(scan(Self.here), after: 1) }
        XCTAssertEqual((0..<5).map { _ in test.observe(scan(Self.there), after: 1) }, [0, 0, 0, 0, 0])
        XCTAssertEqual(test.scanCount, 35)
    }
}

/// Rooms of the regions that a scanner tracks.
final class BeaconScannerRoomTests: XCTestCase {
    /// Tells the room by the strongest beacon, from three beacons on.
    private struct StrongestBeacon: Classifier {
        func classify(_ scan: RoomScan) -> RoomEstimate? {
            guard scan.rssi.count >= 3, let strongest = scan.rssi.max(by: { $0.value < $1.value }) else { return nil }
            return RoomEstimate(
                instant: scan.instant, candidates: [.init(room: "room\(strongest.key.minor)", probability: 1)])
        }
    }

    private func stage() async -> ScannerStage {
        var settings = ScannerSettings(dutyCycle: .continuous)
        settings.rooms = RoomSettings(changeRule: .immediate)
        let stage = ScannerStage(ScriptedSource(), settings)
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        await stage.scanner.insertClassifier(StrongestBeacon(), for: "home")
        return stage
    }

    /// Three beacons, of which one is the strongest, up to the ranging at so many seconds since the start.
    private func hear(_ stage: ScannerStage, strongest: UInt16, until seconds: Double) async throws {
        for minor in 1...UInt16(3) {
            try await stage.hear(ScannerStage.beacon(1, minor), rssi: minor == strongest ? -50 : -80)
        }
        try await stage.ring(at: seconds)
    }

    private func text(_ events: [RoomEvent]) -> [String] { events.map { "\($0.kind) \($0.regionID) \($0.room)" } }

    func testRoomEventsAreEmittedOnlyAfterTheStart() async throws {
        let stage = await stage()
        let events = stage.scanner.roomEvents
        let rangings = stage.scanner.rangings
        try await stage.start()
        try await hear(stage, strongest: 1, until: 1)
        _ = try await Bounded.first(1, of: rangings)
        let isTelling = await stage.scanner.isTellingRooms
        XCTAssertFalse(isTelling)
        await stage.scanner.startRooms()
        try await hear(stage, strongest: 1, until: 2)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(text(seen), ["enter home room1", "current home room1"])
        XCTAssertEqual(seen.map { $0.instant.seconds - ScannerStage.beginning }, [2, 2], "nothing at 1 s")
        let rooms = await stage.scanner.presentRooms
        XCTAssertEqual(rooms, ["home": "room1"])
    }

    func testEachScanUpdatesTheProbabilitiesOfAllRooms() async throws {
        let stage = await stage()
        let estimates = stage.scanner.roomEstimates(in: "home")
        await stage.scanner.startRooms()
        try await stage.start()
        for second in 1...2 { try await hear(stage, strongest: 1, until: Double(second)) }
        let seen = try await Bounded.first(2, of: estimates)
        XCTAssertEqual(seen.map(\.room), ["room1", "room1"])
        XCTAssertEqual(seen.map { $0.instant.seconds - ScannerStage.beginning }, [1, 2])
        XCTAssertEqual(seen.map { $0.probability(of: "room2") }, [0, 0])
    }

    func testAfterAPauseTheRoomIsEnteredAgain() async throws {
        let stage = await stage()
        let events = stage.scanner.roomEvents
        await stage.scanner.startRooms()
        try await stage.start()
        try await hear(stage, strongest: 2, until: 1)
        _ = try await Bounded.first(2, of: events)
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        try await hear(stage, strongest: 2, until: 2)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(text(seen), ["enter home room2", "current home room2"])
    }

    func testAfterThePresenceWasForgottenTheRoomIsEnteredAgain() async throws {
        let stage = await stage()
        let events = stage.scanner.roomEvents
        await stage.scanner.startRooms()
        try await stage.start()
        try await hear(stage, strongest: 2, until: 1)
        _ = try await Bounded.first(2, of: events)
        await stage.scanner.forgetPresence()
        try await hear(stage, strongest: 2, until: 2)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(text(seen), ["enter home room2", "current home room2"])
    }

    func testARoomIsLeftBeforeItsRegion() {
        var settings = ScannerSettings(dutyCycle: .continuous)
        settings.rooms = RoomSettings(changeRule: .immediate)
        var machine = ScanMachine(settings: settings, pace: .recorded, seed: 0)
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        machine.rooms.insert(StrongestBeacon(), for: "home")
        machine.rooms.start()
        var directives = machine.handle(.start, at: .zero)
        for minor in 1...UInt16(3) {
            let reading = ScannerStage.sighting(ScannerStage.beacon(1, minor), at: 0.5, rssi: minor == 1 ? -50 : -80)
            directives += machine.handle(.reading(reading), at: reading.instant)
        }
        directives += machine.handle(.tick, at: Instant(seconds: 60))
        let told = directives.compactMap { directive -> String? in
            switch directive {
            case .emitRegionEvent(let event): "\(event.kind) \(event.regionID)"
            case .emitRoomEstimate(let estimate, let id): "\(estimate.room ?? "no room") of \(id)"
            case .emitRoomEvent(let event): "\(event.kind) \(event.room)"
            default: nil
            }
        }
        XCTAssertEqual(
            told, ["enter home", "room1 of home", "enter room1", "current room1", "exit room1", "exit home"])
    }
}
