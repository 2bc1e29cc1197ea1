import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Which regions the device is in, and what is ranged there.
final class RegionMachineTests: XCTestCase {
    private let hall = BeaconRegion(uuid: ScannerStage.uuid)

    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    private func machine(_ change: (inout RegionSettings) -> Void = { _ in }) -> RegionMachine {
        var settings = RegionSettings()
        change(&settings)
        var machine = RegionMachine(settings: settings)
        XCTAssertTrue(machine.track(hall, id: "hall"))
        _ = machine.handle(.hearing(true), at: .zero)
        return machine
    }

    private func heard(
        _ seconds: Double, _ beacon: BeaconIdentity = ScannerStage.beacon(), rssi: Double = -60
    ) -> RegionMachine.Event {
        .heard(RangeEstimate(beacon: beacon, instant: at(seconds), rssi: rssi, rssiDeviation: 5, distance: nil))
    }

    /// `enter hall 3.0`, `exit hall 9.0`, `range hall 4.0 [minors]`.
    private func text(_ directives: [RegionMachine.Directive]) -> [String] {
        directives.map { directive in
            switch directive {
            case .emit(let event): "\(event.kind) \(event.regionID) \(event.instant.seconds)"
            case .range(let ranging):
                "range \(ranging.regionID) \(ranging.instant.seconds) \(ranging.ranges.map(\.beacon.minor))"
            }
        }
    }

    /// What is told wake by wake until an instant, without the rangings.
    private func events(of machine: inout RegionMachine, until last: Double) -> [String] {
        everything(of: &machine, until: last).filter { !$0.hasPrefix("range") }
    }

    private func everything(of machine: inout RegionMachine, until last: Double) -> [String] {
        var seen: [String] = []
        while let wake = machine.nextWake, wake <= at(last) { seen += text(machine.handle(.tick, at: wake)) }
        return seen
    }

    // MARK: - Enter and exit

    func testARegionIsEnteredOnceAndLeftOnceAfterItsTimeout() {
        var machine = machine()
        XCTAssertEqual(text(machine.handle(heard(3), at: at(3))), ["enter hall 3.0"])
        XCTAssertEqual(text(machine.handle(heard(4.5), at: at(4.5))), [])
        XCTAssertEqual(events(of: &machine, until: 100), ["exit hall 34.5"])
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(text(machine.handle(heard(101), at: at(101))), ["enter hall 101.0"])
    }

    func testASightingOneNanosecondBeforeTheTimeoutKeepsTheRegion() {
        var machine = machine { $0.exitTimeout = .seconds(10) }
        _ = machine.handle(heard(1), at: at(1))
        let last = Instant(nanoseconds: 10_999_999_999)
        XCTAssertEqual(events(of: &machine, until: 10.5), [])
        XCTAssertEqual(text(machine.handle(heard(0), at: last)), [])
        XCTAssertEqual(events(of: &machine, until: 100), ["exit hall 20.999999999"])
    }

    func testRegionsOfUUIDAndMajorAndMinorEachHaveTheirOwnBeacons() {
        var machine = machine()
        XCTAssertTrue(machine.track(BeaconRegion(uuid: ScannerStage.uuid, major: 2), id: "floor"))
        XCTAssertTrue(machine.track(BeaconRegion(uuid: ScannerStage.uuid, major: 2, minor: 7), id: "door"))
        XCTAssertEqual(text(machine.handle(heard(0, ScannerStage.beacon(1, 7)), at: at(0))), ["enter hall 0.0"])
        XCTAssertEqual(text(machine.handle(heard(1, ScannerStage.beacon(2, 6)), at: at(1))), ["enter floor 1.0"])
        XCTAssertEqual(text(machine.handle(heard(2, ScannerStage.beacon(2, 7)), at: at(2))), ["enter door 2.0"])
        let other = ScannerStage.beacon(2, 7, uuid: ScannerStage.otherUUID)
        XCTAssertEqual(text(machine.handle(heard(3, other), at: at(3))), [])
        XCTAssertEqual(
            text(machine.handle(heard(4, ScannerStage.beacon(2, 1)), at: at(4))), [], "keeps hall and floor")
        XCTAssertEqual(events(of: &machine, until: 100), ["exit door 32.0", "exit hall 34.0", "exit floor 34.0"])
    }

    func testSilenceIncludesOnlyTimeInWhichTheRadioReceives() {
        var machine = machine()
        _ = machine.handle(heard(9), at: at(9))
        // Passes of 10 s every 100 s: 1 s of silence in the first one, then 10 s each.
        for pass in 0..<4 {
            let begin = 100 * Double(pass)
            XCTAssertEqual(events(of: &machine, until: begin + 9), pass == 3 ? ["exit hall 309.0"] : [], "\(pass)")
            _ = machine.handle(.hearing(false), at: at(begin + 10))
            XCTAssertNil(machine.nextWake, "nothing is due while the radio does not hear")
            XCTAssertEqual(text(machine.handle(.tick, at: at(begin + 50))), [])
            XCTAssertEqual(machine.insideRegions, pass == 3 ? [] : ["hall"])
            _ = machine.handle(.hearing(true), at: at(begin + 100))
        }
    }

    func testASightingInEveryPassPreventsTheExit() {
        var machine = machine { $0.exitTimeout = .seconds(11) }
        for pass in 0..<100 {
            let begin = 100 * Double(pass)
            let seen = text(machine.handle(heard(begin + 1), at: at(begin + 1)))
            XCTAssertEqual(seen, pass == 0 ? ["enter hall 1.0"] : [])
            XCTAssertEqual(events(of: &machine, until: begin + 10), [], "pass \(pass)")
            _ = machine.handle(.hearing(false), at: at(begin + 10))
            _ = machine.handle(.hearing(true), at: at(begin + 100))
        }
    }

    func testHysteresisEntersAboveAndLeavesBelow() {
        var machine = machine {
            $0.enterRSSI = -70
            $0.exitRSSI = -76
        }
        XCTAssertEqual(text(machine.handle(heard(0, rssi: -70.1), at: at(0))), [], "too weak to enter")
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(text(machine.handle(heard(1, rssi: -70), at: at(1))), ["enter hall 1.0"])
        for second in stride(from: 2.0, through: 60, by: 2) {
            XCTAssertEqual(events(of: &machine, until: second), [], "strong enough to stay")
            _ = machine.handle(heard(second, rssi: -76), at: at(second))
        }
        for second in stride(from: 62.0, through: 88, by: 2) {
            XCTAssertEqual(events(of: &machine, until: second), [])
            _ = machine.handle(heard(second, rssi: -76.1), at: at(second))
        }
        XCTAssertEqual(events(of: &machine, until: 100), ["exit hall 90.0"], "too weak to stay")
        XCTAssertEqual(text(machine.handle(heard(101, rssi: -72), at: at(101))), [], "too weak to enter again")
    }

    // MARK: - Tracking

    func testARegionOrANameIsTrackedOnce() {
        var machine = machine()
        XCTAssertFalse(machine.track(hall, id: "hall"), "the same again")
        XCTAssertFalse(machine.track(hall, id: "another"), "the region has a name")
        XCTAssertFalse(machine.track(BeaconRegion(uuid: ScannerStage.otherUUID), id: "hall"), "the name has a region")
        XCTAssertEqual(text(machine.handle(heard(1), at: at(1))), ["enter hall 1.0"], "told once")
    }

    func testStopTrackingEmitsNoExitAndNoLaterEvent() {
        var machine = machine()
        _ = machine.handle(heard(1), at: at(1))
        XCTAssertTrue(machine.stopTracking { $1 == "hall" })
        XCTAssertFalse(machine.stopTracking { $1 == "hall" })
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(text(machine.handle(heard(2), at: at(2))), [])
        XCTAssertTrue(machine.isEmpty)
    }

    func testAPauseStoresTheRegionsAndEmitsNothing() {
        var machine = machine()
        _ = machine.handle(heard(1), at: at(1))
        machine.pause()
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(text(machine.handle(heard(2), at: at(2))), [])
        XCTAssertEqual(machine.insideRegions, [])
        machine.resume()
        XCTAssertEqual(text(machine.handle(heard(3), at: at(3))), ["enter hall 3.0"])
        machine.resume()
        XCTAssertEqual(text(machine.handle(heard(4), at: at(4))), [], "a second resume changes nothing")
    }

    func testAForgottenRegionIsEnteredAgainWithoutAnExit() {
        var machine = machine()
        _ = machine.track(BeaconRegion(uuid: ScannerStage.uuid, major: 1), id: "floor")
        _ = machine.handle(heard(1), at: at(1))
        machine.forget()
        XCTAssertEqual(text(machine.handle(heard(2), at: at(2))), ["enter hall 2.0", "enter floor 2.0"])
        machine.forget("floor")
        XCTAssertEqual(text(machine.handle(heard(3), at: at(3))), ["enter floor 3.0"])
    }

    func testClearForgetsTheList() {
        var machine = machine()
        _ = machine.handle(heard(1), at: at(1))
        machine.clear()
        XCTAssertEqual(text(machine.handle(heard(2), at: at(2))), [])
        XCTAssertTrue(machine.track(hall, id: "hall"), "it can be tracked again")
    }

    // MARK: - Ranging

    func testRangingComesOnceASecondWhileInside() {
        var machine = machine { $0.exitTimeout = .seconds(3) }
        _ = machine.handle(heard(0.2, ScannerStage.beacon(1, 2)), at: at(0.2))
        _ = machine.handle(heard(0.4, ScannerStage.beacon(1, 1)), at: at(0.4))
        _ = machine.handle(heard(0.6, ScannerStage.beacon(1, 1)), at: at(0.6))
        XCTAssertEqual(
            everything(of: &machine, until: 10),
            ["range hall 1.0 [1, 2]", "range hall 2.0 []", "range hall 3.0 []", "exit hall 3.6"])
    }

    func testNothingIsRangedOutsideAndTheRhythmContinues() {
        var machine = machine { $0.exitTimeout = .seconds(2) }
        _ = machine.handle(heard(7.3), at: at(7.3))
        XCTAssertEqual(
            everything(of: &machine, until: 50), ["range hall 8.0 [1]", "range hall 9.0 []", "exit hall 9.3"])
    }

    func testTheLastPartOfASecondIsRangedBeforeTheRadioStops() {
        var machine = machine()
        _ = machine.handle(heard(0.2), at: at(0.2))
        XCTAssertEqual(text(machine.handle(.hearing(false), at: at(0.5))), ["range hall 0.5 [1]"])
        _ = machine.handle(.hearing(true), at: at(100))
        XCTAssertEqual(text(machine.handle(.hearing(false), at: at(100.5))), [], "nothing was heard")
    }

    func testMissedRangingsAreNotRepeated() {
        var machine = machine()
        _ = machine.handle(heard(0.2), at: at(0.2))
        XCTAssertEqual(text(machine.handle(.tick, at: at(5.5))), ["range hall 5.5 [1]"])
        XCTAssertEqual(machine.nextWake, at(6))
    }

    func testReceptionsBeforeAnExitAreNotRangedAfterTheNextEntry() {
        var machine = machine {
            $0.enterRSSI = -70
            $0.exitRSSI = -76
        }
        _ = machine.handle(heard(0.5, rssi: -70), at: at(0.5))
        _ = everything(of: &machine, until: 30)
        _ = machine.handle(heard(30.2, ScannerStage.beacon(1, 2), rssi: -90), at: at(30.2))
        XCTAssertEqual(everything(of: &machine, until: 30.5), ["exit hall 30.5"])
        _ = machine.handle(heard(30.6, rssi: -70), at: at(30.6))
        XCTAssertEqual(everything(of: &machine, until: 31), ["range hall 31.0 [1]"])
    }

    func testTheRangesOfARegionAreThoseOfItsBeacons() {
        var machine = machine()
        _ = machine.track(BeaconRegion(uuid: ScannerStage.otherUUID), id: "shop")
        _ = machine.handle(heard(0.2, ScannerStage.beacon(1, 2)), at: at(0.2))
        _ = machine.handle(heard(0.4, ScannerStage.beacon(1, 9, uuid: ScannerStage.otherUUID)), at: at(0.4))
        XCTAssertEqual(text(machine.handle(.tick, at: at(1))), ["range hall 1.0 [2]", "range shop 1.0 [9]"])
    }

    // MARK: - Whatever happens

    func testEntriesAndExitsAlternateAndKeepTheTimeoutForRandomEvents() {
        for seed in [1, 2, 3, 0xC0FFEE] as [UInt64] {
            var generator = SeededGenerator(seed: seed)
            var machine = machine { $0.exitTimeout = .seconds(5) }
            var now = 0.0
            var isHearing = true
            var isInside = false
            var silence = 0.0
            var exits = 0
            for step in 0..<20_000 {
                let pause = generator.uniform() < 0.05 ? 10 * generator.uniform() : generator.uniform()
                var directives: [RegionMachine.Directive] = []
                while let wake = machine.nextWake, wake <= at(now + pause) {
                    directives += machine.handle(.tick, at: wake)
                }
                if isHearing { silence += pause }
                now += pause
                let isHeard = generator.uniform() < 0.3
                if isHeard {
                    directives += machine.handle(heard(now), at: at(now))
                } else if generator.uniform() < 0.1 {
                    isHearing.toggle()
                    directives += machine.handle(.hearing(isHearing), at: at(now))
                }
                for case .emit(let event) in directives {
                    XCTAssertEqual(event.kind, isInside ? .exit : .enter, "seed \(seed), step \(step)")
                    isInside.toggle()
                    guard event.kind == .exit else { continue }
                    exits += 1
                    XCTAssertGreaterThanOrEqual(silence, 5 - 1e-6, "seed \(seed), step \(step)")
                }
                if isHeard, isHearing { silence = 0 }
                XCTAssertEqual(machine.insideRegions, isInside ? ["hall"] : [], "seed \(seed), step \(step)")
                if isInside { XCTAssertLessThan(silence, 5 + 1e-6, "seed \(seed), step \(step): left too late") }
            }
            XCTAssertGreaterThan(exits, 50, "seed \(seed)")
        }
    }
}

/// What a scanner promises about regions: entries, exits, ranging, and what pauses them.
final class BeaconScannerRegionTests: XCTestCase {
    private let hall = BeaconRegion(uuid: ScannerStage.uuid)
    private let beginning = ScannerStage.beginning

    /// Without rests, so that all time is scanned.
    private func continuous() -> ScannerStage {
        ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: .continuous))
    }

    private func text(_ events: [RegionEvent]) -> [String] {
        events.map { "\($0.kind) \($0.regionID) \($0.instant.seconds - beginning)" }
    }

    /// The events up to the one that a mark makes: the region `mark`, tracked for it, is entered last.
    private func eventsSoFar(_ stage: ScannerStage, _ stream: AsyncStream<RegionEvent>) async throws -> [String] {
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.otherUUID), id: "mark")
        try await stage.hear(ScannerStage.beacon(uuid: ScannerStage.otherUUID))
        return text(try await Bounded.elements(of: stream, until: "the mark") { $0.regionID == "mark" }.dropLast())
    }

    // MARK: - Enter and exit

    func testARegionIsEnteredAndLeftOnce() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        try await stage.hear(ScannerStage.beacon(1, 2))
        let seen = try await stage.passTime(until: "the exit", of: events) { $0.kind == .exit }
        XCTAssertEqual(text(seen), ["enter hall 0.0", "exit hall 30.0"])
    }

    func testTheRestBetweenTwoPassesIsNotSilence() async throws {
        let stage = ScannerStage()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        let seen = try await stage.passTime(until: "the exit", of: events) { $0.kind == .exit }
        // 10 s in each of the passes that begin at 0, 100 and 200 s.
        XCTAssertEqual(text(seen), ["enter hall 0.0", "exit hall 210.0"])
    }

    // MARK: - Tracking

    func testADuplicateIsIgnored() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        let added = await [
            stage.scanner.track(hall, id: "hall"), stage.scanner.track(hall, id: "hall"),
            stage.scanner.track(hall, id: "lobby"),
        ]
        XCTAssertEqual(added, [true, false, false])
        try await stage.start()
        try await stage.hear()
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0"])
    }

    func testAMalformedUUIDIsAnErrorThatNamesIt() async throws {
        let stage = continuous()
        for text in ["", "no UUID", "B5B182C7-EAB1-4988-AA99-B5C1517008D", "B5B182C7-EAB1-4988-AA99-B5C1517008DX"] {
            do {
                try await stage.scanner.track(uuid: text, id: "hall")
                XCTFail("\"\(text)\" was accepted")
            } catch {
                XCTAssertEqual(error, .malformedUUID(text))
                XCTAssertTrue(error.description.contains("\"\(text)\""), error.description)
            }
        }
        let uuid = "b5b182c7-eab1-4988-aa99-b5c1517008d9"
        let isTracked = try await stage.scanner.track(uuid: uuid, major: 1, id: "hall")
        XCTAssertTrue(isTracked)
        try await stage.start()
        let events = stage.scanner.regionEvents
        try await stage.hear(ScannerStage.beacon(2, 1))
        try await stage.hear(ScannerStage.beacon(1, 1))
        let seen = try await Bounded.first(1, of: events)
        XCTAssertEqual(seen.map(\.regionID), ["hall"])
    }

    func testResumingTwiceIsOneEntry() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        await stage.scanner.resumeTracking()
        await stage.scanner.resumeTracking()
        try await stage.hear()
        await stage.scanner.resumeTracking()
        try await stage.hear()
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0"])
    }

    func testAPauseGivesNoRangingAndResumingEntersAgain() async throws {
        let stage = continuous()
        let (events, rangings) = (stage.scanner.regionEvents, stage.scanner.everyRanging)
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        await stage.scanner.pauseTracking()
        try await Bounded.wait(for: "the alarms' end") { try await stage.clock.waitUntilNobodySleeps() }
        stage.clock.advance(by: .seconds(5))
        try await stage.hear()
        await stage.scanner.resumeTracking()
        stage.clock.advance(by: .seconds(1))
        try await stage.hear()
        try await stage.ring(at: 7)
        let ranging = try await Bounded.first(1, of: rangings)
        XCTAssertEqual(ranging.map { $0.instant.seconds - beginning }, [7], "the first one of all")
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0", "enter hall 6.0"])
    }

    func testResumingDoesNotRestoreARemovedRegion() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        let wasTracked = await (stage.scanner.stopTracking("hall"), stage.scanner.stopTracking(hall))
        XCTAssertEqual("\(wasTracked)", "(true, false)")
        try await Bounded.wait(for: "the alarm's end") { try await stage.clock.waitUntilNobodySleeps() }
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        try await stage.hear()
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0"])
    }

    func testClearingForgetsEveryRegionWithoutExits() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid, major: 1), id: "floor")
        try await stage.start()
        try await stage.hear()
        await stage.scanner.clearTrackedRegions()
        try await Bounded.wait(for: "the alarms' end") { try await stage.clock.waitUntilNobodySleeps() }
        try await stage.hear()
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0", "enter floor 0.0"])
    }

    func testForgettingThePresenceLetsTheNextSightingEnterAgain() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        await stage.scanner.forgetPresence()
        stage.clock.advance(by: .seconds(2))
        try await stage.hear()
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0", "enter hall 2.0"])
    }

    func testAfterARestartRegionsAreEnteredAgain() async throws {
        let stage = continuous()
        let events = stage.scanner.regionEvents
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        await stage.scanner.stop()
        await stage.scanner.start()
        try await stage.source.waitUntilScanning(2)
        try await stage.hear()
        let seen = try await eventsSoFar(stage, events)
        XCTAssertEqual(seen, ["enter hall 0.0", "enter hall 0.0"])
    }

    func testTheTrackingStateReportsMonitoringAndRanging() async throws {
        let stage = continuous()
        try await expect(stage, isMonitoring: false, inside: [], "nothing is tracked")
        await stage.scanner.track(hall, id: "hall")
        try await expect(stage, isMonitoring: false, inside: [], "not started")
        try await stage.start()
        try await expect(stage, isMonitoring: true, inside: [], "nothing was heard")
        try await stage.hear()
        try await expect(stage, isMonitoring: true, inside: ["hall"], "heard")
        await stage.scanner.pauseTracking()
        try await expect(stage, isMonitoring: false, inside: [], isPaused: true, "paused")
        await stage.scanner.resumeTracking()
        try await expect(stage, isMonitoring: true, inside: [], "resumed")
        await stage.scanner.stop()
        try await expect(stage, isMonitoring: false, inside: [], "stopped")
    }

    private func expect(
        _ stage: ScannerStage, isMonitoring: Bool, inside: [String], isPaused: Bool = false, _ message: String,
        line: UInt = #line
    ) async throws {
        let state = await stage.scanner.trackingState
        let expected = TrackingState(
            isMonitoring: isMonitoring, isRanging: !inside.isEmpty, insideRegions: inside, isPaused: isPaused)
        XCTAssertEqual(state, expected, message, line: line)
    }

    // MARK: - Ranging

    func testTwoRegionsAtOnceKeepSeparateRanges() async throws {
        let stage = continuous()
        let rangings = stage.scanner.rangings
        await stage.scanner.track(hall, id: "hall")
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.otherUUID), id: "shop")
        try await stage.start()
        try await stage.hear(ScannerStage.beacon(1, 3))
        try await stage.hear(ScannerStage.beacon(1, 9, uuid: ScannerStage.otherUUID), rssi: -80)
        try await stage.ring(at: 1)
        let seen = try await Bounded.first(2, of: rangings)
        XCTAssertEqual(seen.map(\.regionID), ["hall", "shop"])
        XCTAssertEqual(seen.map { $0.ranges.map(\.beacon.minor) }, [[3], [9]])
        XCTAssertEqual(seen.map { $0.ranges.map(\.rssi) }, [[-60], [-80]])
        XCTAssertEqual(seen.map { $0.instant.seconds - beginning }, [1, 1])
    }

    func testRangingComesOnceASecondAndEmptySetsOnlyInTheirStream() async throws {
        let stage = continuous()
        let (rangings, all) = (stage.scanner.rangings, stage.scanner.everyRanging)
        await stage.scanner.track(hall, id: "hall")
        try await stage.start()
        try await stage.hear()
        try await stage.ring(at: 1)
        let first = try await Bounded.first(1, of: all)
        XCTAssertEqual(first.map(\.ranges.count), [1])
        try await stage.ring(at: 2)
        let second = try await Bounded.first(1, of: all)
        XCTAssertEqual(second.map(\.ranges.count), [0])
        try await stage.hear()
        try await stage.ring(at: 3)
        let seen = try await Bounded.first(2, of: rangings)
        XCTAssertEqual(seen.map { $0.instant.seconds - beginning }, [1, 3])
    }

    func testARecordingYieldsTheSameRegionEventsEachTime() async throws {
        let readings = (0..<100).map { ScannerStage.sighting(at: beginning + Double($0) / 4) }
        var runs: [[RegionRanging]] = []
        for _ in 0..<2 {
            let stage = ScannerStage(ScriptedSource(readings), ScannerSettings(dutyCycle: .continuous))
            let (rangings, events) = (stage.scanner.rangings, stage.scanner.regionEvents)
            await stage.scanner.track(hall, id: "hall")
            await stage.scanner.start()
            let seen = try await Bounded.first(1, of: events)
            XCTAssertEqual(text(seen), ["enter hall 0.0"])
            runs.append(try await Bounded.first(25, of: rangings))
        }
        XCTAssertEqual(runs[0], runs[1])
        XCTAssertEqual(runs[0].last?.instant.seconds, beginning + 24.75, "the last part of a second too")
    }
}
