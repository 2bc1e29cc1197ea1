import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A radio with other sources beside it, as one source.
final class CombinedSourceTests: XCTestCase {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "unplugged" }
    }

    private let clock = ManualClock()
    private let radio = ScriptedSource()
    private let sensors = ScriptedSource()

    private func pressure(_ seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: 1000))
    }

    private func combined() -> CombinedSource { CombinedSource(radio, with: [sensors], clock: clock) }

    /// Reads a source in a task of its own; the readings and errors so far, and how it ended.
    private struct Reader: Sendable {
        let seconds = WatchedState<[Double]>([])
        let errors = WatchedState<[LocalizationError]>([])
        let end = WatchedState<String?>(nil)
        let task: Task<Void, Never>

        init(_ source: CombinedSource) {
            let readings = source.readings { [errors] error in errors.update { $0.append(error) } }
            task = Task { [seconds, end] in
                do {
                    for try await reading in readings { seconds.update { $0.append(reading.instant.seconds) } }
                    end.update { $0 = "ended" }
                } catch { end.update { $0 = "\(error)" } }
            }
        }

        func wait(for expected: [Double]) async throws {
            try await Bounded.wait(for: "\(expected)") { [seconds] in try await seconds.wait { $0 == expected } }
        }

        func waitForEnd() async throws -> String? {
            try await Bounded.wait(for: "the end") { [end] in try await end.wait { $0 != nil } }
            return end.value
        }
    }

    private func read(_ source: CombinedSource) async throws -> Reader {
        let reader = Reader(source)
        try await radio.waitUntilScanning()
        try await sensors.waitUntilScanning()
        return reader
    }

    func testLiveReadingsComeInTheOrderOfTheirInstants() async throws {
        let source = combined()
        let reader = try await read(source)
        radio.send(pressure(2))
        sensors.send(pressure(1))
        sensors.send(pressure(3))
        try await reader.wait(for: [1, 2])
        radio.send(pressure(3))
        try await reader.wait(for: [1, 2, 3, 3])
        XCTAssertEqual(source.lateReadings, 0)
        reader.task.cancel()
    }

    func testASilentCompanionDelaysTheRadioNoLongerThanTheWindow() async throws {
        let source = combined()
        let reader = try await read(source)
        radio.send(pressure(2))
        let due = try await Bounded.wait(for: "an alarm") { [clock] in try await clock.waitForSleeper() }
        XCTAssertEqual(due, Instant(seconds: 0.1))
        XCTAssertEqual(reader.seconds.value, [])
        clock.advance(to: due)
        try await reader.wait(for: [2])
        sensors.send(pressure(1))
        let late = try await Bounded.wait(for: "an alarm") { [clock] in try await clock.waitForSleeper() }
        clock.advance(to: late)
        try await reader.wait(for: [2, 2])
        XCTAssertEqual(source.lateReadings, 1)
        reader.task.cancel()
    }

    func testAFailedCompanionIsReportedAndStartedAgainWhileTheOthersContinue() async throws {
        let reader = try await read(combined())
        sensors.fail(Broken())
        try await Bounded.wait(for: "an error") { try await reader.errors.wait { !$0.isEmpty } }
        let error = try XCTUnwrap(reader.errors.value.first)
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.cause, "unplugged")
        XCTAssertEqual(
            error.message, "a companion of the leading source failed, ScriptedSource; the rest goes on without it")
        radio.send(pressure(1))
        try await reader.wait(for: [1])
        let due = try await Bounded.wait(for: "a pause") { [clock] in try await clock.waitForSleeper() }
        XCTAssertTrue(due > .zero && due <= Instant(seconds: 1), "\(due)")
        // The order of readings waits on the same clock, so the first sleeper need not be the pause.
        let passing = Task { [clock] in
            while !Task.isCancelled { clock.advance(to: try await clock.waitForSleeper()) }
        }
        try await sensors.waitUntilScanning(2)
        passing.cancel()
        sensors.send(pressure(2))
        radio.send(pressure(2))
        try await reader.wait(for: [1, 2, 2])
        reader.task.cancel()
    }

    func testTheEndOfACompanionDoesNotAffectTheOthers() async throws {
        let reader = try await read(combined())
        sensors.finish()
        try await Bounded.wait(for: "the end of the sensors") { [sensors] in try await sensors.waitUntilNothingRuns() }
        radio.send(pressure(1))
        radio.finish()
        let end = try await reader.waitForEnd()
        XCTAssertEqual(end, "ended")
        XCTAssertEqual(reader.seconds.value, [1])
        XCTAssertEqual(reader.errors.value, [])
    }

    func testAFailureOfTheRadioEndsTheStreamAfterTheWaitingReadings() async throws {
        let reader = try await read(combined())
        radio.send(pressure(1))
        radio.fail(Broken())
        let end = try await reader.waitForEnd()
        XCTAssertEqual(end, "unplugged")
        XCTAssertEqual(reader.seconds.value, [1])
        try await Bounded.wait(for: "the end of the sensors") { [sensors] in try await sensors.waitUntilNothingRuns() }
    }

    func testCancellingTheReaderEndsAllSources() async throws {
        let reader = try await read(combined())
        reader.task.cancel()
        for source in [radio, sensors] {
            try await Bounded.wait(for: "the end") { try await source.waitUntilNothingRuns() }
        }
    }

    func testRecordingsAreMergedExactlyAndToTheEndOfTheLongest() async throws {
        var generator = SeededGenerator(seed: 3)
        let parts = (0..<3).map { _ in (0..<200).map { _ in pressure(generator.uniform() * 100) } }
            .map { $0.sorted { $0.instant < $1.instant } }
        let source = CombinedSource(
            ScriptedSource(parts[0]), with: [ScriptedSource(parts[1]), ScriptedSource(parts[2])])
        XCTAssertEqual(source.pace, .recorded)
        var merged: [SensorReading] = []
        for try await reading in source.readings() { merged.append(reading) }
        XCTAssertEqual(merged, parts.flatMap { $0 }.sorted { $0.instant < $1.instant })
        XCTAssertEqual(source.lateReadings, 0)
    }

    func testReadingsOfOneInstantFollowTheOrderOfTheRecordings() async throws {
        func step(_ length: Double) -> SensorReading { .step(Step(instant: Instant(seconds: 1), length: length)) }
        let source = CombinedSource(ScriptedSource([step(1), step(2)]), with: [ScriptedSource([step(3)])])
        var merged: [SensorReading] = []
        for try await reading in source.readings() { merged.append(reading) }
        XCTAssertEqual(merged, [step(1), step(2), step(3)])
    }

    func testARecordingContinuesBesideAFailedOne() async throws {
        let broken = ScriptedSource([pressure(1)], failure: Broken())
        let source = CombinedSource(ScriptedSource([pressure(2), pressure(3)]), with: [broken])
        let reader = Reader(source)
        let end = try await reader.waitForEnd()
        XCTAssertEqual(end, "ended")
        XCTAssertEqual(reader.seconds.value, [1, 2, 3])
        XCTAssertEqual(reader.errors.value.map(\.cause), ["unplugged"])
        let reversed = Reader(CombinedSource(broken, with: [ScriptedSource([pressure(2)])]))
        let failure = try await reversed.waitForEnd()
        XCTAssertEqual(failure, "unplugged")
    }

    func testARecordingAndALiveSourceAreNotCombined() async throws {
        let reader = Reader(CombinedSource(radio, with: [ScriptedSource([pressure(1)])]))
        let end = try await reader.waitForEnd()
        XCTAssertTrue(end?.contains("cannot be combined with a live source") ?? false, "\(end ?? "")")
    }

    func testACombinationHasTheSteeringOfItsRadio() {
        let steering = ScanSteering()
        let source = CombinedSource(radio.dutyCycledBySettings(steering), with: [sensors])
        XCTAssertTrue(source.steering === steering)
        XCTAssertNil(combined().steering)
    }

    func testASessionReportsTheErrorOfACompanionAndContinues() async throws {
        let stage = LocalizerStage()
        let localizer = Localizer(
            source: CombinedSource(stage.source, with: [sensors], clock: clock), venues: stage.venues,
            settings: LocalizerStage.settings, clock: stage.clock)
        let (errors, motion) = (localizer.errors, localizer.motion)
        await localizer.start()
        try await sensors.waitUntilScanning()
        sensors.fail(Broken())
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.cause, "unplugged")
        XCTAssertFalse(error.endsSession)
        clock.advance(to: try await Bounded.wait(for: "a pause") { [clock] in try await clock.waitForSleeper() })
        try await sensors.waitUntilScanning(2)
        sensors.send(pressure(5000))
        stage.source.send(SessionStage.heard(1, at: 5001))
        clock.advance(to: try await Bounded.wait(for: "an alarm") { [clock] in try await clock.waitForSleeper() })
        _ = try await Bounded.first(1, of: motion)
        let state = await localizer.state
        XCTAssertFalse(state.isOver)
        await localizer.stop()
    }

    func testAllReadersOfASharedCombinationGetTheErrorOfACompanion() async throws {
        let shared = SharedScanSource(combined())
        let errors = WatchedState<[String?]>([])
        let readers = (0..<2).map { number in
            let readings = shared.readings { error in errors.update { $0.append("\(number) \(error.cause ?? "")") } }
            return Task { for try await _ in readings {} }
        }
        try await sensors.waitUntilScanning()
        sensors.fail(Broken())
        try await Bounded.wait(for: "both errors") { try await errors.wait { $0.count == 2 } }
        XCTAssertEqual(errors.value.compactMap(\.self).sorted(), ["0 unplugged", "1 unplugged"])
        for reader in readers { reader.cancel() }
    }

    func testGNSSReadingsDeliverTheFixesOfAReceiver() async throws {
        let fix = GNSSFix(
            instant: Instant(seconds: 1), coordinate: Coordinate(latitude: 52, longitude: 13), accuracy: 5)
        let receiver = ScriptedSource([.gnss(fix)], pace: .live)
        var readings: [SensorReading] = []
        for try await reading in GNSSReadings(receiver).readings() { readings.append(reading) }
        XCTAssertEqual(readings, [.gnss(fix)])
    }
}
