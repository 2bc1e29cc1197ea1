import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A source whose radio rests between passes.
final class DutyCycledSourceTests: XCTestCase {
    private struct Broken: Error {}

    /// The readings of a scan, gathered by a task, until the scan ends.
    private func gather(_ source: some ScanSource) -> (AsyncStream<Double>, Task<Result<Void, any Error>, Never>) {
        let (stream, teller) = AsyncStream.makeStream(of: Double.self)
        let readings = source.readings()
        let task = Task { () -> Result<Void, any Error> in
            do {
                for try await reading in readings {
                    if case .radio = reading { continue }
                    teller.yield(reading.instant.seconds)
                }
                teller.finish()
                return .success(())
            } catch {
                teller.finish()
                return .failure(error)
            }
        }
        return (stream, task)
    }

    func testALiveSourceIsScannedPassByPass() async throws {
        let (source, clock) = (ScriptedSource(), ManualClock())
        let (seconds, task) = gather(source.dutyCycled(DutyCycle(), clock: clock))
        defer { task.cancel() }
        for pass in 0..<3 {
            try await source.waitUntilScanning(pass + 1)
            source.send(ScannerStage.sighting(at: Double(pass)))
            let heard = try await Bounded.first(1, of: seconds)
            XCTAssertEqual(heard, [Double(pass)])
            clock.advance(to: try await Bounded.wait(for: "the pass's alarm") { try await clock.waitForSleeper() })
            try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
            let begin = 100 * Double(pass + 1)
            let next = try await Bounded.wait(for: "the next pass's alarm") { try await clock.waitForSleeper() }
            XCTAssertEqual(next.seconds, begin, "pass \(pass)")
            clock.advance(to: next)
        }
    }

    func testARecordingIsCutByItsInstantsAndKeepsOtherSensors() async throws {
        let heard = (0..<105).map { ScannerStage.sighting(at: 50 + Double($0)) }
        let step = SensorReading.step(Step(instant: Instant(seconds: 90)))
        let source = ScriptedSource(heard[0..<41] + [step] + heard[41...])
        let (seconds, task) = gather(source.dutyCycled(.eco))
        let seen = try await Bounded.all(seconds)
        XCTAssertEqual(seen, [50..<60, 90..<91, 150..<155].joined().map(Double.init))
        try await task.value.get()
    }

    func testARecordingReportsEachRest() async throws {
        let source = ScriptedSource((0..<215).map { ScannerStage.sighting(at: 50 + Double($0)) })
        var told: [String] = []
        for try await reading in source.dutyCycled(.eco).readings() {
            if case .radio(let event) = reading { told.append("\(event.status.rawValue) \(event.instant.seconds)") }
        }
        XCTAssertEqual(told, ["resting 60.0", "scanning 150.0", "resting 160.0", "scanning 250.0", "resting 260.0"])
    }

    func testARadioThatIsOffInTheRecordingIsOffInTheNextPass() async throws {
        let off = ScannerStage.radio(.poweredOff, at: 58), on = ScannerStage.radio(.scanning, at: 100)
        let last = ScannerStage.sighting(at: 300)
        for (events, status) in [([off], "poweredOff"), ([off, on], "scanning")] {
            var told: [String] = []
            let source = ScriptedSource([ScannerStage.sighting(at: 50)] + events + [last])
            for try await reading in source.dutyCycled(.eco).readings() {
                guard case .radio(let event) = reading, event.instant >= Instant(seconds: 100) else { continue }
                told.append("\(event.status.rawValue) \(event.instant.seconds)")
            }
            XCTAssertEqual(
                told, ["\(status) 150.0", "resting 160.0", "\(status) 250.0", "resting 260.0"],
                "what is found in a rest is told with the next pass")
        }
    }

    func testALiveSourceReportsEachRestOnItsOwnTimeline() async throws {
        let (source, clock) = (ScriptedSource(), ManualClock())
        let (stream, teller) = AsyncStream.makeStream(of: SensorReading.self)
        let readings = source.dutyCycled(DutyCycle(), clock: clock).readings()
        let task = Task { for try await reading in readings { teller.yield(reading) } }
        defer { task.cancel() }
        try await source.waitUntilScanning()
        clock.advance(by: .seconds(4))
        source.send(ScannerStage.sighting(at: 5000))
        _ = try await Bounded.first(1, of: stream)
        for _ in 0..<2 {
            clock.advance(to: try await Bounded.wait(for: "an alarm") { try await clock.waitForSleeper() })
            if source.scanCount == 1 {
                try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
            }
        }
        let told = try await Bounded.first(2, of: stream)
        XCTAssertEqual(
            told,
            [(RadioEvent.Status.resting, 5006.0), (.scanning, 5096)].map { status, seconds in
                .radio(RadioEvent(instant: Instant(seconds: seconds), status: status))
            })
    }

    func testARadioThatIsOffStaysOffFromPassToPass() async throws {
        let (source, clock) = (ScriptedSource(), ManualClock())
        let (stream, teller) = AsyncStream.makeStream(of: SensorReading.self)
        let readings = source.dutyCycled(DutyCycle(), clock: clock).readings()
        let task = Task { for try await reading in readings { teller.yield(reading) } }
        defer { task.cancel() }
        for pass in 1...3 {
            try await source.waitUntilScanning(pass)
            let off = ScannerStage.radio(.poweredOff, at: 100 * Double(pass))
            source.send(off)
            let told = try await Bounded.first(1, of: stream)
            XCTAssertEqual(told, [off], "no word of a rest or of a scan in between")
            clock.advance(to: try await Bounded.wait(for: "an alarm") { try await clock.waitForSleeper() })
            try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
            clock.advance(to: try await Bounded.wait(for: "an alarm") { try await clock.waitForSleeper() })
        }
    }

    func testAnErrorOfTheSourceEndsTheStream() async throws {
        for pace in [ScanPace.live, .recorded] {
            let source = ScriptedSource([ScannerStage.sighting(at: 1)], pace: pace, failure: Broken())
            let (seconds, task) = gather(source.dutyCycled(DutyCycle(), clock: ManualClock()))
            let seen = try await Bounded.all(seconds)
            XCTAssertEqual(seen, [1], "\(pace)")
            let result = await task.value
            XCTAssertThrowsError(try result.get(), "\(pace)") { XCTAssertTrue($0 is Broken, "\($0)") }
        }
    }

    func testACycleOutOfRangeIsACriticalError() async throws {
        let source = ScriptedSource()
        let cycle = DutyCycle(scanDuration: .zero, interval: .zero)
        let (_, task) = gather(source.dutyCycled(cycle, clock: ManualClock()))
        let result = await task.value
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual(($0 as? LocalizationError)?.code, .critical) }
        XCTAssertEqual(source.scanCount, 0)
    }

    func testCancellingTheReaderEndsTheSource() async throws {
        for isResting in [false, true] {
            let (source, clock) = (ScriptedSource(), ManualClock())
            let (seconds, task) = gather(source.dutyCycled(DutyCycle(), clock: clock))
            try await source.waitUntilScanning()
            if isResting {
                clock.advance(to: try await Bounded.wait(for: "the pass's alarm") { try await clock.waitForSleeper() })
                try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
                _ = try await Bounded.wait(for: "the next alarm") { try await clock.waitForSleeper() }
            }
            task.cancel()
            _ = try await Bounded.all(seconds)
            try await Bounded.wait(for: "the end of the scan") { try await source.waitUntilNothingRuns() }
            try await Bounded.wait(for: "the end of the alarm") { try await clock.waitUntilNobodySleeps() }
        }
    }

    func testALocalizerWorksWithADutyCycledSource() async throws {
        let (source, clock) = (ScriptedSource(), ManualClock())
        let localizer = Localizer(
            source: source.dutyCycled(.eco, clock: clock), venues: ScriptedVenueSource([SessionStage.office]),
            settings: LocalizerStage.settings, clock: ManualClock(), seed: 1)
        let positions = localizer.positions
        await localizer.start()
        try await source.waitUntilScanning()
        for reading in LocalizerStage.walk(from: 0, for: 5) { source.send(reading) }
        let position = try await Bounded.first(1, of: positions)[0]
        XCTAssertEqual(position.venueID, 1)
        clock.advance(to: try await Bounded.wait(for: "the pass's alarm") { try await clock.waitForSleeper() })
        try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
        await localizer.stop()
    }
}
