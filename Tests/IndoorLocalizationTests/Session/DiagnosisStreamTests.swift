import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The diagnoses of a localizer: a value, a stream and outputs.
final class DiagnosisStreamTests: XCTestCase {
    private func reasons(
        in stream: AsyncStream<SessionDiagnosis>, until last: SessionDiagnosis.Reason
    ) async throws -> [SessionDiagnosis.Reason] {
        try await Bounded.elements(of: stream, until: last.rawValue) { $0.reason == last }.map(\.reason)
    }

    func testTheStreamBeginsWithTheCurrentReasonAndContainsEveryChange() async throws {
        let stage = LocalizerStage()
        let diagnoses = stage.localizer.diagnoses
        try await stage.run()
        let seen = try await reasons(in: diagnoses, until: .located)
        XCTAssertEqual(seen.first, .notRunning)
        XCTAssertEqual(seen.last, .located)
        XCTAssertTrue(seen.contains(.searching), "\(seen)")
        let current = await stage.localizer.diagnosis
        XCTAssertEqual(current.reason, .located)
        XCTAssertNil(current.help)
        let again = try await Bounded.first(1, of: stage.localizer.diagnoses)
        XCTAssertEqual(again.map(\.reason), [.located])
        await stage.localizer.stop()
        let last = try await Bounded.elements(of: stage.localizer.diagnoses, until: "the end") {
            $0.reason == .notRunning
        }
        XCTAssertEqual(last.last?.state, .idle)
    }

    func testALiveSessionThatReceivesNothingEmitsItAfterFiveSecondsOfTheClock() async throws {
        let stage = LocalizerStage()
        let outputs = stage.localizer.outputs
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        let begin = stage.clock.now
        try await stage.ring(within: 5)
        let seen = try await Bounded.elements(of: outputs, until: "a diagnosis") {
            if case .diagnosis = $0.content { true } else { false }
        }
        guard case .diagnosis(let diagnosis)? = seen.last?.content else { return XCTFail("\(seen)") }
        XCTAssertEqual(diagnosis.reason, .noReadings)
        XCTAssertEqual(begin.duration(to: stage.clock.now), .seconds(5))
        XCTAssertEqual(seen.last?.instant, Instant(seconds: 5))
    }

    func testARadioThatIsOffAndOnAgainIsEmittedTwice() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        _ = try await reasons(in: stage.localizer.diagnoses, until: .located)
        let diagnoses = stage.localizer.diagnoses
        func radio(_ status: RadioEvent.Status, at seconds: Double) {
            let instant = Instant(seconds: LocalizerStage.beginning + seconds)
            stage.source.send(.radio(RadioEvent(instant: instant, status: status, adapter: "hci0")))
        }
        radio(.blocked, at: 5.6)
        radio(.scanning, at: 6)
        stage.source.send(SessionStage.heard(1, at: LocalizerStage.beginning + 6.1))
        let seen = try await Bounded.first(3, of: diagnoses)
        XCTAssertEqual(seen.map(\.reason), [.located, .radioFailed, .located])
        XCTAssertEqual(seen[1].description, "The radio cannot receive: hci0 is blocked by a radio switch (rfkill).")
    }

    func testARequestForALocationFailsWithTheReason() async throws {
        let stage = LocalizerStage()
        let localizer = stage.localizer
        let request = Task { try await localizer.requestLocation(timeout: .seconds(10)) }
        try await stage.reach("searchVenue")
        let alarms = Task { [clock = stage.clock] in
            while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        do {
            let place = try await request.value
            XCTFail("\(place)")
        } catch let error as LocalizationError {
            let message =
                #/no position came within 10\.0 s, as no reading arrived for \d+ s; check that beacons are near, and .+/#
            XCTAssertNotNil(try message.wholeMatch(in: error.message), error.message)
        }
    }

    func testAReplayAndALocalizerEmitTheSameDiagnosesOfUnknownBeacons() async throws {
        let readings = (0..<400).map { tick in
            SessionStage.heard(7, UInt16(tick % 20), at: 3 + Double(tick) / 20, rssi: -50 - Double(tick % 20))
        }
        let stage = LocalizerStage(ScriptedSource(readings))
        let outputs = stage.localizer.outputs
        await stage.localizer.start()
        var replay = SessionReplay(
            venues: [SessionStage.office, SessionStage.shop], settings: LocalizerStage.settings, seed: 1)
        var expected = replay.start()
        for reading in readings { expected += replay.handle(reading) }
        XCTAssertEqual(replay.diagnosis.unknownBeacons.count, 20)
        expected += replay.finish()
        try await stage.reach("idle")
        let seen = try await Bounded.first(expected.count, of: outputs)
        XCTAssertEqual(seen, expected)
        let emitted = expected.compactMap { output in
            if case .diagnosis(let diagnosis) = output.content { (output.instant.seconds, diagnosis) } else { nil }
        }
        XCTAssertEqual(emitted.map(\.0), [8])
        XCTAssertEqual(emitted.map(\.1.reason), [.unknownBeacons])
        XCTAssertEqual(emitted.first?.1.unknownBeacons, (0..<20).map { SessionStage.beacon(7, $0) })
    }
}
