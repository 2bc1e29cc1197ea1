import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// When passes begin and end.
final class DutyCycleMachineTests: XCTestCase {
    private typealias Machine = DutyCycleMachine

    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    /// The instants in seconds at which passes begin (positive) and end (negative), wake by wake.
    private func boundaries(of machine: inout Machine, until last: Double) -> [String] {
        var seen: [String] = []
        while let wake = machine.nextWake, wake.seconds <= last {
            for directive in machine.handle(.tick, at: wake) {
                seen.append("\(directive == .beginPass ? "begin" : "end") \(wake.seconds)")
            }
        }
        return seen
    }

    func testTheFirstPassBeginsAtOnce() {
        var machine = Machine(DutyCycle())
        XCTAssertEqual(machine.handle(.start, at: at(3)), [.beginPass])
        XCTAssertEqual(machine.state, .scanning(until: at(13)))
        XCTAssertTrue(machine.isScanning)
    }

    /// The first pass begins at once and takes 10 s. Between two passes are 90 s, so a period is 100 s.
    func testStartAt0StopAt10NextStartAt100() {
        var machine = Machine(DutyCycle())
        XCTAssertEqual(machine.handle(.start, at: .zero), [.beginPass])
        XCTAssertEqual(
            boundaries(of: &machine, until: 210), ["end 10.0", "begin 100.0", "end 110.0", "begin 200.0", "end 210.0"])
    }

    /// The factor multiplies the rest between two passes.
    func testAFactorOfTwoMakesTheNextStartAt190() {
        var machine = Machine(DutyCycle(scanDuration: .seconds(10), interval: .seconds(90), intervalFactor: 2))
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(boundaries(of: &machine, until: 200), ["end 10.0", "begin 190.0", "end 200.0"])
    }

    func testAContinuousPassHasNoEndUntilStop() {
        var machine = Machine(.continuous)
        XCTAssertEqual(machine.handle(.start, at: .zero), [.beginPass])
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(machine.handle(.tick, at: at(1e9)), [])
        XCTAssertEqual(machine.handle(.stop, at: at(1e9)), [.endPass])
        XCTAssertEqual(machine.state, .stopped)
    }

    func testStopEndsThePresentPassAndNothingFollows() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.stop, at: at(4)), [.endPass])
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [])
        XCTAssertEqual(machine.handle(.stop, at: at(11)), [])
        XCTAssertEqual(machine.state, .stopped)
    }

    func testStopBetweenTwoPassesEndsNone() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.tick, at: at(10))
        XCTAssertEqual(machine.state, .waiting(until: at(100)))
        XCTAssertEqual(machine.handle(.stop, at: at(50)), [])
        XCTAssertEqual(machine.state, .stopped)
    }

    func testStartingTwiceIsOneStart() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.start, at: at(5)), [])
        XCTAssertEqual(machine.state, .scanning(until: at(10)))
        _ = machine.handle(.tick, at: at(10))
        XCTAssertEqual(machine.handle(.start, at: at(20)), [])
        XCTAssertEqual(machine.state, .waiting(until: at(100)))
    }

    func testAChangedCycleAppliesFromTheNextBoundary() {
        let quick = DutyCycle(scanDuration: .seconds(1), interval: .seconds(2))
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.change(quick), at: at(5)), [])
        XCTAssertEqual(boundaries(of: &machine, until: 15), ["end 10.0", "begin 12.0", "end 13.0", "begin 15.0"])
        XCTAssertEqual(machine.handle(.tick, at: at(16)), [.endPass])
        XCTAssertEqual(machine.handle(.change(DutyCycle()), at: at(17)), [])
        XCTAssertEqual(boundaries(of: &machine, until: 28), ["begin 18.0", "end 28.0"], "the rest was not prolonged")
    }

    func testACycleThatBecomesContinuousContinuesAtItsNextBoundary() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.change(.continuous), at: at(5))
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [], "the pass goes on")
        XCTAssertEqual(machine.state, .scanning(until: nil))
    }

    func testAContinuousPassThatIsGivenACycleEndsOneDurationLater() {
        var machine = Machine(.continuous)
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.change(DutyCycle()), at: at(77)), [])
        XCTAssertEqual(boundaries(of: &machine, until: 177), ["end 87.0", "begin 177.0"])
    }

    func testWithoutAnIntervalPassesFollowEachOther() {
        var machine = Machine(DutyCycle(scanDuration: .seconds(10), interval: .zero))
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(boundaries(of: &machine, until: 20), ["end 10.0", "begin 10.0", "end 20.0", "begin 20.0"])
    }

    func testATickThatComesLateLeavesThePauseAsItIs() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.tick, at: at(3600)), [.endPass])
        XCTAssertEqual(machine.state, .waiting(until: at(3690)))
    }

    func testAGapOfYearsTakesABoundedNumberOfSteps() {
        var machine = Machine(DutyCycle(scanDuration: .milliseconds(10), interval: .zero))
        _ = machine.handle(.start, at: .zero)
        _ = machine.catchUp(to: at(3e9))
        XCTAssertEqual(machine.nextWake, at(3e9))
        _ = machine.catchUp(to: at(3e9 + 0.005))
        XCTAssertGreaterThan(machine.nextWake ?? .zero, at(3e9 + 0.005))
    }

    func testEveryPassBeginsOnceAndEndsOnceForRandomEvents() {
        for seed in [1, 2, 3, 0xC0FFEE] as [UInt64] {
            var generator = SeededGenerator(seed: seed)
            var machine = Machine(DutyCycle())
            var now = 0.0
            var isOn = false
            var passes = 0
            for step in 0..<20_000 {
                now += 30 * generator.uniform()
                let event = event(&generator)
                let directives = machine.handle(event, at: at(now))
                XCTAssertLessThanOrEqual(directives.count, 1, "seed \(seed), step \(step)")
                for directive in directives {
                    XCTAssertEqual(directive, isOn ? .endPass : .beginPass, "seed \(seed), step \(step)")
                    isOn.toggle()
                    passes += 1
                }
                XCTAssertEqual(machine.isScanning, isOn, "seed \(seed), step \(step)")
                if event == .stop { XCTAssertNil(machine.nextWake, "seed \(seed), step \(step)") }
                if event == .tick, let wake = machine.nextWake {
                    XCTAssertGreaterThanOrEqual(wake, at(now), "seed \(seed), step \(step): a tick does what is due")
                }
            }
            XCTAssertGreaterThan(passes, 1000, "seed \(seed)")
        }
    }

    private func event(_ generator: inout SeededGenerator) -> Machine.Event {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<3: .start
        case 3: .stop
        case 4:
            .change(
                DutyCycle(
                    scanDuration: .seconds(1 + 20 * generator.uniform()), interval: .seconds(50 * generator.uniform()),
                    intervalFactor: 2 * generator.uniform()))
        case 5: .change(.continuous)
        default: .tick
        }
    }

    func testAShiftOfTheTimelineShiftsTheBoundaries() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        machine.shift(by: .seconds(5000))
        XCTAssertEqual(boundaries(of: &machine, until: 5100), ["end 5010.0", "begin 5100.0"])
    }
}

/// A source whose radio rests between passes.
final class DutyCycledSourceTests: XCTestCase {
    private struct Broken: Error {}

    /// A source whose scan goes on after it was cancelled, as a radio does that takes a while to stop.
    private struct SlowSource: ScanSource {
        struct State: Sendable {
            var hasBegun = false
            var isCancelled = false
            var mayEnd = false
        }

        let pace = ScanPace.live
        let state = WatchedState(State())

        func readings() -> AsyncThrowingStream<SensorReading, any Error> {
            AsyncThrowingStream {
                state.update { $0.hasBegun = true }
                await withTaskCancellationHandler {
                    // The cancellation doesn't reach a separate task.
                    _ = await Task { try await state.wait { $0.mayEnd } }.result
                } onCancel: {
                    state.update { $0.isCancelled = true }
                }
                return nil
            }
        }
    }

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

    func testARestBeginsWhenThePassIsOverAndNotWhenTheRadioHasStopped() async throws {
        let (source, clock) = (SlowSource(), ManualClock())
        let (_, task) = gather(source.dutyCycled(DutyCycle(), clock: clock))
        defer { task.cancel() }
        try await Bounded.wait(for: "the pass") { try await source.state.wait { $0.hasBegun } }
        clock.advance(to: try await Bounded.wait(for: "the pass's alarm") { try await clock.waitForSleeper() })
        try await Bounded.wait(for: "the end of the pass") { try await source.state.wait { $0.isCancelled } }
        clock.advance(by: .seconds(7))
        source.state.update { $0.mayEnd = true }
        let next = try await Bounded.wait(for: "the next pass's alarm") { try await clock.waitForSleeper() }
        XCTAssertEqual(next.seconds, 100)
    }

    func testARecordingIsCutByItsInstantsAndKeepsOtherSensors() async throws {
        let heard = (0..<105).map { ScannerStage.sighting(at: 50 + Double($0)) }
        let step = SensorReading.step(Step(instant: Instant(seconds: 90)))
        let source = ScriptedSource(Array(heard[0..<41]) + [step] + Array(heard[41...]))
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
        clock.advance(to: try await Bounded.wait(for: "the pass's alarm") { try await clock.waitForSleeper() })
        try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
        clock.advance(to: try await Bounded.wait(for: "the next pass's alarm") { try await clock.waitForSleeper() })
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
        let (positions, states) = (localizer.positions, localizer.states)
        await localizer.start()
        try await source.waitUntilScanning()
        // Before the session knows its venues, a reading identifies none.
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        for reading in LocalizerStage.walk(from: 0, for: 5) { source.send(reading) }
        let position = try await Bounded.first(1, of: positions)[0]
        XCTAssertEqual(position.venueID, 1)
        clock.advance(to: try await Bounded.wait(for: "the pass's alarm") { try await clock.waitForSleeper() })
        try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
        await localizer.stop()
    }
}

/// A source that is told, while it scans, when its radio is to rest.
final class SteeredSourceTests: XCTestCase {
    private func schedule(_ scan: Int, _ rest: Int) -> ScanSchedule {
        ScanSchedule(cycle: DutyCycle(scanDuration: .seconds(scan), interval: .seconds(rest)))
    }

    /// Waits for the next alarm and lets it ring; returns its second.
    private func ring(_ clock: ManualClock) async throws -> Double {
        let alarm = try await Bounded.wait(for: "an alarm") { try await clock.waitForSleeper() }
        clock.advance(to: alarm)
        return alarm.seconds
    }

    /// Lets alarms ring, also those of the session, up to the one at a second; returns its second.
    ///
    /// A later alarm of the session doesn't ring while the radio's alarm is still to be set.
    private func ring(_ clock: ManualClock, until second: Double) async throws -> Double {
        while true {
            let alarm = try await Bounded.wait(for: "an alarm at \(second) s") {
                try await clock.waitForSleeper(dueBy: Instant(seconds: second))
            }
            clock.advance(to: alarm)
            if alarm.seconds >= second { return alarm.seconds }
        }
    }

    func testAnEndlessPassEndsOneScanDurationAfterTheChange() async throws {
        let (source, clock, steering) = (ScriptedSource(), ManualClock(), ScanSteering())
        let readings = source.dutyCycledBySettings(steering, clock: clock).readings()
        let task = Task { for try await _ in readings {} }
        defer { task.cancel() }
        try await source.waitUntilScanning()
        clock.advance(by: .seconds(5))
        try steering.set(schedule(2, 8))
        var alarm = try await ring(clock)
        XCTAssertEqual(alarm, 7)
        try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
        XCTAssertEqual(source.scanCount, 1, "the scan that was on went on")
        alarm = try await ring(clock)
        XCTAssertEqual(alarm, 15)
        try await source.waitUntilScanning(2)
        // From the next boundary on: this pass ends as it would have, and the one behind the rest has no end.
        try steering.set(schedule(3, 1))
        alarm = try await ring(clock)
        XCTAssertEqual(alarm, 17)
        alarm = try await ring(clock)
        XCTAssertEqual(alarm, 18)
        try await source.waitUntilScanning(3)
        try steering.set(ScanSchedule())
        alarm = try await ring(clock)
        XCTAssertEqual(alarm, 21)
        try await source.waitUntilScanning(4)
        try await Bounded.wait(for: "silence of the clock") { try await clock.waitUntilNobodySleeps() }
    }

    func testAScheduleOutOfRangeIsRefused() throws {
        let steering = ScanSteering()
        XCTAssertThrowsError(try steering.set(schedule(0, 1))) {
            XCTAssertEqual(($0 as? LocalizationError)?.code, .generic)
        }
        XCTAssertEqual(steering.schedule, ScanSchedule())
    }

    func testARecordingIsNotCut() async throws {
        let source = ScriptedSource((0..<20).map { ScannerStage.sighting(at: Double($0)) })
        var count = 0
        let steered = source.dutyCycledBySettings(ScanSteering(schedule(1, 9)))
        for try await _ in steered.readings() { count += 1 }
        XCTAssertEqual(count, 20)
    }

    func testThePauseBetweenTwoWindowsIsKeptByALocalizersRadio() async throws {
        var settings = SettingsStack()
        try settings.override("scanner.dutyCycle.scanDuration", 1)
        try settings.override("scanner.dutyCycle.interval", 0.25)
        settings.apply()
        let (source, clock) = (ScriptedSource(), ManualClock())
        let localizer = Localizer(
            source: source.dutyCycledBySettings(clock: clock), venues: VenueLibrary([SessionStage.office]),
            settings: settings, clock: ManualClock())
        await localizer.start()
        for pass in 1...3 {
            try await source.waitUntilScanning(pass)
            let end = try await ring(clock)
            XCTAssertEqual(end, 1.25 * Double(pass) - 0.25, "the end of window \(pass)")
            try await Bounded.wait(for: "the end of the window") { try await source.waitUntilNothingRuns() }
            let next = try await ring(clock)
            XCTAssertEqual(next, 1.25 * Double(pass), "the end of the pause behind it")
        }
        await localizer.stop()
    }

    func testALocalizerKeepsTheDutyCycleOfItsSettingsOnAPlainRadio() async throws {
        var settings = SettingsStack()
        try settings.override("scanner.dutyCycle.scanDuration", 2)
        try settings.override("scanner.dutyCycle.interval", 8)
        settings.apply()
        let companion = ScriptedSource()
        for isCombined in [false, true] {
            let (source, clock) = (ScriptedSource(), ManualClock())
            let venues = VenueLibrary([SessionStage.office])
            let localizer =
                isCombined
                ? Localizer(
                    source: CombinedSource(source.decoding([]), with: [companion], clock: clock), venues: venues,
                    settings: settings, clock: clock)
                : Localizer(source: source, venues: venues, settings: settings, clock: clock)
            await localizer.start()
            for pass in 1...3 {
                try await source.waitUntilScanning(pass)
                let end = try await ring(clock, until: 10 * Double(pass) - 8)
                XCTAssertEqual(end, 10 * Double(pass) - 8, "the end of pass \(pass)")
                try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
                if isCombined {
                    try await companion.waitUntilScanning()
                    XCTAssertEqual(companion.runningScanCount, 1, "only the radio rests")
                }
                let next = try await ring(clock, until: 10 * Double(pass))
                XCTAssertEqual(next, 10 * Double(pass), "the end of the rest behind it")
            }
            await localizer.stop()
        }
    }

    func testThePlainRadioOfALocalizerBeginsToRestInAVenueWithADutyCycle() async throws {
        var office = SessionStage.office
        office.settings = ["scanner.dutyCycle.scanDuration": 2, "scanner.dutyCycle.interval": 8]
        let (source, clock) = (ScriptedSource(), ManualClock())
        let localizer = Localizer(source: source, venues: VenueLibrary([office]), clock: clock)
        let states = localizer.states
        await localizer.start()
        try await source.waitUntilScanning()
        // Before the session knows its venues, a reading identifies none.
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        source.send(SessionStage.heard(1, at: 1))
        try await source.waitUntilScanning(2)
        // Not later ones: after half a minute of silence, the session leaves the venue and its duty cycle.
        _ = try await ring(clock, until: 2)
        try await Bounded.wait(for: "the end of the pass") { try await source.waitUntilNothingRuns() }
        await localizer.stop()
    }

    func testADutyCycleSetInCodeStays() async throws {
        var settings = SettingsStack()
        try settings.override("scanner.dutyCycle.scanDuration", 2)
        settings.apply()
        let (source, clock) = (ScriptedSource(), ManualClock())
        let cycle = DutyCycle(scanDuration: .seconds(5), interval: .seconds(5))
        let localizer = Localizer(
            source: source.dutyCycled(cycle, clock: clock), venues: VenueLibrary([SessionStage.office]),
            settings: settings, clock: ManualClock())
        await localizer.start()
        try await source.waitUntilScanning()
        let end = try await ring(clock)
        XCTAssertEqual(end, 5)
        await localizer.stop()
    }

    func testADutyCycleForASharedRadioIsReported() async throws {
        var settings = SettingsStack()
        try settings.override("scanner.dutyCycle.scanDuration", 2)
        try settings.override("scanner.dutyCycle.interval", 8)
        settings.apply()
        let radio = ScriptedSource()
        let localizer = Localizer(
            source: SharedScanSource(radio), venues: VenueLibrary([SessionStage.office]), settings: settings,
            clock: ManualClock())
        let errors = localizer.errors
        await localizer.start()
        let told = try await Bounded.first(1, of: errors)
        XCTAssertEqual(told[0].code, .generic)
        XCTAssertTrue(told[0].message.contains("scanner.dutyCycle"), told[0].message)
        try await radio.waitUntilScanning()
        await localizer.stop()
    }

    func testALocalizerSetsTheDutyCycleOfTheVenueOnItsSource() async throws {
        var office = SessionStage.office
        office.settings = ["scanner.powerMode": "eco"]
        let (source, clock, steering) = (ScriptedSource(), ManualClock(), ScanSteering())
        let localizer = Localizer(
            source: source.dutyCycledBySettings(steering, clock: clock), venues: VenueLibrary([office]), clock: clock)
        let states = localizer.states
        await localizer.start()
        try await source.waitUntilScanning()
        XCTAssertEqual(steering.schedule, ScanSchedule())
        // Before the session knows its venues, a reading identifies none.
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        source.send(SessionStage.heard(1, at: 1))
        try await Bounded.wait(for: "the venue") {
            for await state in states where state.name == "findFloor" { break }
        }
        XCTAssertEqual(steering.schedule, ScanSchedule(cycle: DutyCycle(), timing: .whole))
        let place = try await localizer.settings.setting("scanner.dutyCycle.interval").place
        XCTAssertEqual(place, "$.settings[\"scanner.powerMode\"]")
        await localizer.stop()
    }

    func testAScannerKeepsTheScheduleOfItsSettings() async throws {
        var settings = SettingsStack()
        try settings.override("ble.scan.duration-msec", 3000)
        try settings.override("ble.scan.interval-msec", 5000)
        settings.apply()
        let (source, clock) = (ScriptedSource(), ManualClock())
        let scanner = BeaconScanner(source: source, settings: ScannerSettings(dutyCycle: .continuous), clock: clock)
        await scanner.start()
        try await scanner.setSchedule(ScanSchedule(settings))
        let ends = [try await ring(clock), try await ring(clock)]
        XCTAssertEqual(ends, [3, 8])
        await scanner.stop()
    }
}

/// Settings of a scan: their defaults, presets and ranges.
final class PowerModeTests: XCTestCase {
    func testTheDefaultsAreThoseOfTheReference() {
        let cycle = DutyCycle()
        XCTAssertEqual(cycle.scanDuration, .milliseconds(10_000))
        XCTAssertEqual(cycle.interval, .milliseconds(90_000))
        XCTAssertEqual(cycle.intervalFactor, 1)
        XCTAssertFalse(cycle.isContinuous)
        XCTAssertEqual(ResolvedSettings().scanner.dutyCycle, cycle, "what configuration files begin with")
        XCTAssertEqual(ScannerSettings().dutyCycle, .continuous, "what code begins with")
        XCTAssertEqual(cycle.share, 0.1, accuracy: 1e-12)
    }

    func testThePowerModesHaveTheNumbers0To3() {
        XCTAssertEqual((0...3).map(PowerMode.init(rawValue:)), [PowerMode.none, .aggressive, .normal, .eco])
        XCTAssertNil(PowerMode(rawValue: 4))
        XCTAssertEqual(PowerMode.allCases.count, 4)
    }

    func testEachModeListensForItsDocumentedShareOfTheTime() {
        for (mode, share) in [(PowerMode.none, 1.0), (.aggressive, 0.5), (.normal, 1.0 / 3), (.eco, 0.1)] {
            XCTAssertEqual(mode.timing.share * mode.dutyCycle.share, share, accuracy: 1e-12, "\(mode)")
            XCTAssertEqual(ScannerSettings(powerMode: mode).problems, [], "\(mode)")
            XCTAssertEqual(ScannerSettings(powerMode: mode).timing, mode.timing, "\(mode)")
        }
        XCTAssertTrue(PowerMode.none.dutyCycle.isContinuous)
        XCTAssertTrue(PowerMode.aggressive.dutyCycle.isContinuous)
    }

    func testATimingIsWithinWhatControllersAccept() {
        let longest = Duration.milliseconds(10_240)
        XCTAssertEqual(ScanTiming(window: .microseconds(2500), interval: longest).problems, [])
        XCTAssertEqual(ScanTiming(window: longest, interval: longest).problems, [])
        for (window, interval) in [(0, 0), (-5, 1), (50, 20), (1, 20), (20, 10_241), (.max, .max)] as [(Int64, Int64)] {
            let timing = ScanTiming(window: .milliseconds(window), interval: .milliseconds(interval))
            XCTAssertFalse(timing.problems.isEmpty, "\(timing)")
        }
    }

    func testProblemsNameTheValuesThatAreOutOfRange() {
        var settings = ScannerSettings()
        settings.dutyCycle = DutyCycle(scanDuration: .zero, interval: .seconds(-1), intervalFactor: .nan)
        settings.timing = ScanTiming(window: .milliseconds(500), interval: .milliseconds(250))
        settings.rssiThreshold = 1
        settings.regions.exitTimeout = .zero
        settings.regions.enterRSSI = -80
        settings.regions.exitRSSI = -70
        settings.regions.rangingInterval = .zero
        settings.ranging.silence = .zero
        settings.retryPause = .zero
        XCTAssertEqual(
            settings.problems,
            [
                "dutyCycle.scanDuration must be in [0.01, 86400] s, not 0",
                "dutyCycle.interval must be in [0, 86400] s, not -1",
                "dutyCycle.intervalFactor must be in [0, 1000], not nan",
                "timing.window must be in [0.0025, 0.25] s, not 0.5",
                "rssiThreshold must be in [-127, 0] dBm, not 1",
                "regions.exitTimeout must be above 0 and at most 86400 s, not 0",
                "regions.exitRSSI must be in [-127, -80] dBm, not -70",
                "regions.rangingInterval must be in [0.1, 86400] s, not 0",
                "ranging.silence must be above 0 and at most 86400 s, not 0",
                "retryPause must be above 0 and at most 86400 s, not 0",
            ])
        XCTAssertEqual(ScannerSettings().problems, [])
        XCTAssertEqual(settings.dutyCycle.problems.count, 3)
        XCTAssertEqual(settings.regions.problems.count, 3)
    }
}
