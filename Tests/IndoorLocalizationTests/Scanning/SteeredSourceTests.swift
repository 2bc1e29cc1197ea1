import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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

    /// Lets alarms ring, also those of the session, up to the first one at or after a second; returns its second.
    private func ring(_ clock: ManualClock, until second: Double) async throws -> Double {
        while true {
            let alarm = try await ring(clock)
            if alarm >= second { return alarm }
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
                if isCombined { XCTAssertEqual(companion.runningScanCount, 1, "only the radio rests") }
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
        await localizer.start()
        try await source.waitUntilScanning()
        source.send(SessionStage.heard(1, at: 1))
        try await source.waitUntilScanning(2)
        try await Bounded.wait(for: "the end of the pass") {
            let alarms = Task { while true { clock.advance(to: try await clock.waitForSleeper()) } }
            defer { alarms.cancel() }
            try await source.waitUntilNothingRuns()
        }
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
