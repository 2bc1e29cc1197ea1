import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
