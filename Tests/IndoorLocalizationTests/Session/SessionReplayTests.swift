import IndoorLocalization
import XCTest

final class SessionReplayTests: XCTestCase {
    private func outputs(
        _ readings: [SensorReading], venues: [Venue] = [SessionStage.office, SessionStage.shop],
        _ settings: LocalizationSettings = LocalizerStage.settings, seed: UInt64 = 0, end: Instant? = nil
    ) -> [SessionReplay.Output] {
        var replay = SessionReplay(venues: venues, settings: settings, seed: seed)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        outputs += replay.finish(at: end)
        XCTAssertTrue(replay.state == .idle || replay.state.name == "error")
        return outputs
    }

    private func states(_ outputs: [SessionReplay.Output]) -> [String] {
        outputs.compactMap { if case .state(let state) = $0.content { state.name } else { nil } }
    }

    func testAWalkGoesThroughAllStates() {
        let seen = outputs(LocalizerStage.walk(from: 0, for: 5))
        XCTAssertEqual(
            states(seen),
            [
                "started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning", "idle",
            ])
        XCTAssertEqual(seen.map(\.instant), seen.map(\.instant).sorted())
    }

    func testSettingsOutOfRangeAreACriticalErrorAndNothingElse() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = 5
        let seen = outputs(LocalizerStage.walk(from: 0, for: 5), settings)
        guard seen.count == 2, case .state(.error(let error)) = seen[0].content else { return XCTFail("\(seen)") }
        XCTAssertEqual(error.code, .critical)
        XCTAssertTrue(error.message.contains("rssiThreshold must be in [-127, 0] dBm, not 5"), error.message)
        XCTAssertEqual(seen[1].content, .error(error))
    }

    func testAReplayEmitsAVenueFoundBySatellites() {
        let seen = outputs([SessionStage.gnss(52, at: 1), SessionStage.gnss(52, at: 2)])
        XCTAssertTrue(seen.contains { $0.content == .downloadedVenue(SessionStage.office) })
        XCTAssertEqual(states(seen), ["started", "searchVenue", "idle"], "no beacon has been received")
    }

    func testAReplayEmitsEventsOfRoomsAndFences() {
        let seen = outputs(LocalizerStage.walk(from: 0, for: 15))
        let kinds = seen.compactMap { if case .event(let event) = $0.content { event.kind } else { nil } }
        // The beacons hang in the middle of both; whoever hears them this well is there.
        XCTAssertEqual(kinds.count % 2, 0, "whatever is entered is left in the end: \(kinds)")
        XCTAssertFalse(kinds.isEmpty)
    }

    func testAVenueThatIsNotInTheListIsReported() {
        var settings = LocalizerStage.settings
        settings.forcedVenue = 9
        let seen = outputs([], settings)
        let errors = seen.compactMap { if case .error(let error) = $0.content { error.code } else { nil } }
        XCTAssertEqual(errors, [.generic])
    }

    func testTheEndOfAReplayMayBeAfterItsLastReading() {
        let seen = outputs(LocalizerStage.walk(from: 0, for: 5), end: Instant(seconds: 100))
        let lost = seen.first { $0.content == .state(.searchVenue) && $0.instant > Instant(seconds: 5) }
        XCTAssertEqual(lost?.instant.seconds ?? 0, 35, accuracy: 1, "30 s after the last beacon")
        XCTAssertEqual(seen.last?.instant, Instant(seconds: 100))
    }

    func testAReplayEmitsNoTwoPositionsAtOneInstant() {
        // The first position and the interval tell when the later ones are due; a walk ends right then.
        func positions(_ end: Instant?) -> [Instant] {
            outputs(LocalizerStage.walk(from: 0, for: 5), end: end).compactMap {
                if case .position = $0.content { $0.instant } else { nil }
            }
        }
        let ordinary = positions(nil)
        let due = ordinary[ordinary.count - 2].advanced(by: LocalizerStage.settings.positionInterval * 3)
        for end in [due, due.advanced(by: .milliseconds(1))] {
            let told = positions(end)
            XCTAssertEqual(told.last, end)
            XCTAssertEqual(Set(told).count, told.count, "\(told.suffix(3))")
        }
    }

    func testReadingsOutOfOrderDoNotTurnTimeBack() {
        var readings = LocalizerStage.walk(from: 0, for: 10)
        readings.insert(SessionStage.heard(1, at: 1), at: 70)
        readings.insert(SessionStage.heard(2, at: 0.5), at: 80)
        let seen = outputs(readings)
        XCTAssertEqual(seen.map(\.instant), seen.map(\.instant).sorted())
    }

    func testEqualSeedsGiveEqualOutputs() {
        let readings = LocalizerStage.walk(from: 0, for: 10)
        XCTAssertEqual(outputs(readings, seed: 5), outputs(readings, seed: 5))
        XCTAssertNotEqual(outputs(readings, seed: 5), outputs(readings, seed: 6), "the seed is used")
    }

    func testAReplayUsesTheFirstOfTwoVenuesWithOneNumber() {
        var double = SessionStage.shop
        double.id = 1
        let seen = outputs([SessionStage.heard(2, at: 0)], venues: [SessionStage.office, double])
        XCTAssertEqual(states(seen), ["started", "searchVenue", "idle"], "the beacon of the second is unknown")
    }
}
