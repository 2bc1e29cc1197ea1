import IndoorLocalization
import XCTest

/// Which of several sources counts, and when.
final class SettingsStackTests: XCTestCase {
    private func source(_ settings: SettingsStack, _ key: String) throws -> String {
        let setting = try settings.setting(key)
        return "\(setting.value.summary) \(setting.source.rawValue)"
    }

    func testARequestKeepsTheBetterOneAndAnOverrideSetsAndResets() throws {
        var settings = SettingsStack()
        try settings.request("positionInterval", 0.1)
        try settings.request("positionInterval", 0.5)
        settings.apply()
        XCTAssertEqual(settings.resolved.localization.positionInterval, .milliseconds(100))
        try settings.override("positionInterval", 0.5)
        settings.apply()
        XCTAssertEqual(settings.resolved.localization.positionInterval, .milliseconds(500))
        try settings.override("positionInterval", nil)
        settings.apply()
        XCTAssertEqual(
            settings.resolved.localization.positionInterval, LocalizationSettings().positionInterval,
            "the request is forgotten, too")
        XCTAssertEqual(try settings.setting("positionInterval").source, .default)
    }

    func testNothingTakesEffectBeforeApply() throws {
        var settings = SettingsStack()
        let before = settings.effective
        try settings.override("rssiThreshold", -80)
        try settings.request("positionInterval", 0.1)
        XCTAssertEqual(settings.load([SettingsEntry(key: "areaDwell", value: 1)], from: .file), [])
        XCTAssertTrue(settings.hasChanges)
        XCTAssertEqual(settings.effective, before)
        XCTAssertEqual(settings.resolved, ResolvedSettings())
        XCTAssertEqual(settings.apply(), ["rssiThreshold", "positionInterval", "areaDwell"])
        XCTAssertFalse(settings.hasChanges)
        XCTAssertEqual(settings.resolved.localization.rssiThreshold, -80)
        settings.clear()
        XCTAssertEqual(settings.resolved.localization.rssiThreshold, -80, "a clear, too, waits")
        XCTAssertEqual(settings.apply().count, 3)
        XCTAssertEqual(settings.effective, before)
    }

    func testTheHigherSourceTakesPrecedenceInEveryOrder() throws {
        // One key for each set of sources, so that every pair is seen; a later source gives a greater number.
        let sources: [SettingsSource] = [.venue, .remote, .file, .request, .override]
        for shift in sources.indices {
            let order = Array(sources[shift...] + sources[..<shift])
            for highest in sources.indices {
                var settings = SettingsStack()
                for source in order where source <= sources[highest] {
                    let value = JSONValue.number(Double(source.hashRank))
                    switch source {
                    case .override: try settings.override("areaDwell", value)
                    case .request: try settings.request("areaDwell", value)
                    default:
                        XCTAssertEqual(settings.load([SettingsEntry(key: "areaDwell", value: value)], from: source), [])
                    }
                }
                settings.apply()
                let setting = try settings.setting("areaDwell")
                XCTAssertEqual(setting.source, sources[highest], "order \(order)")
                XCTAssertEqual(setting.value, .number(Double(sources[highest].hashRank)), "order \(order)")
            }
        }
    }

    /// The program overrides the server, which overrides the default.
    func testAnOverrideBeatsAServerInAnyOrderAndClearRemovesTheOverride() throws {
        let entry = { (number: Double) in [SettingsEntry(key: "ble.scan.duration-msec", value: .number(number))] }
        for isRemoteFirst in [true, false] {
            var settings = SettingsStack()
            if isRemoteFirst { XCTAssertEqual(settings.load(entry(2000), from: .remote), []) }
            try settings.override("ble.scan.duration-msec", 1000)
            if !isRemoteFirst { XCTAssertEqual(settings.load(entry(2000), from: .remote), []) }
            settings.apply()
            XCTAssertEqual(settings.resolved.scanner.dutyCycle.scanDuration, .seconds(1))
            settings.clear()
            settings.apply()
            XCTAssertEqual(settings.resolved.scanner.dutyCycle.scanDuration, .seconds(2))
            XCTAssertEqual(settings.load([], from: .remote), [])
            settings.apply()
            XCTAssertEqual(settings.resolved.scanner.dutyCycle.scanDuration, .seconds(10))
        }
    }

    func testAFileAndKeysSetGiveTheSameTreeAndTheLastWriteCounts() throws {
        let tree: [String: JSONValue] = [
            "ble": .object(["scan": .object(["duration-msec": 5000, "interval-msec": 1000, "interval-x-factor": 2])]),
            "dtn": .object(["use-cellular": false]),
        ]
        var byFile = SettingsStack()
        XCTAssertEqual(byFile.load(SettingsEntry.entries(of: tree), from: .file), [])
        byFile.apply()
        var byKeys = SettingsStack()
        try byKeys.override("ble.scan.duration-msec", 4000)
        try byKeys.override("ble.scan.duration-msec", 5000)
        try byKeys.override("ble.scan.interval-msec", 1000)
        try byKeys.override("ble.scan.interval-x-factor", 2)
        try byKeys.override("dtn.use-cellular", false)
        byKeys.apply()
        XCTAssertEqual(byFile.resolved, byKeys.resolved)
        XCTAssertEqual(byFile.effective.map(\.value), byKeys.effective.map(\.value))
        XCTAssertEqual(byFile.resolved.scanner.dutyCycle.intervalFactor, 2)
        XCTAssertEqual(
            byFile.load(
                [SettingsEntry(key: "areaDwell", value: 1), SettingsEntry(key: "areaDwell", value: 2)], from: .file),
            [])
        byFile.apply()
        XCTAssertEqual(byFile.resolved.localization.areaDwell, .seconds(2))
        XCTAssertEqual(
            byFile.resolved.scanner.dutyCycle.scanDuration, .seconds(10), "the new file replaced the old one")
    }

    func testARequestIsBetterInTheDirectionOfItsSetting() throws {
        let cases: [(String, JSONValue, JSONValue)] = [
            ("positionInterval", 0.5, 0.1), ("positioning.particleCount", 500, 2000),
            ("positioning.method", "trilateration", "fingerprint"), ("positioning.method", "fingerprint", "particle"),
            ("scanner.powerMode", "eco", "normal"), ("scanner.powerMode", "normal", "aggressive"),
            ("scanner.powerMode", "aggressive", "none"), ("scanner.dutyCycle.isContinuous", false, true),
            ("scanner.dutyCycle.scanDuration", 1, 2), ("scanner.dutyCycle.interval", 2, 1), ("rssiThreshold", -70, -90),
        ]
        for (key, worse, better) in cases {
            for order in [[worse, better], [better, worse]] {
                var settings = SettingsStack()
                for value in order { try settings.request(key, value) }
                settings.apply()
                XCTAssertEqual(try settings.setting(key).value, better, "\(key) \(order)")
            }
        }
        var settings = SettingsStack()
        try settings.request("areaDwell", 1)
        try settings.request("areaDwell", 2)
        settings.apply()
        XCTAssertEqual(try settings.setting("areaDwell").value, 2, "where none is better, the last request counts")
    }

    func testAValueInCodeThatDiffersFromItsDefaultIsAnOverride() throws {
        var session = LocalizationSettings()
        session.positioning.method = .fingerprint
        session.positioning.signal.beaconLimit = .max
        var scanner = ScannerSettings(powerMode: .aggressive)
        scanner.regions.enterRSSI = -70
        var settings = SettingsStack(localization: session, scanner: scanner)
        XCTAssertFalse(settings.hasChanges)
        XCTAssertEqual(try source(settings, "positioning.method"), "\"fingerprint\" override")
        XCTAssertEqual(try settings.setting("positioning.method").place, "set in code")
        XCTAssertEqual(try source(settings, "positioning.particleCount"), "1500 default")
        try settings.override("areaDwell", 3)
        settings.apply()
        session.areaDwell = .seconds(3)
        XCTAssertEqual(settings.resolved.localization, session)
        XCTAssertEqual(settings.resolved.scanner, scanner)
        try settings.override("positioning.method", nil)
        settings.apply()
        XCTAssertEqual(settings.resolved.localization.positioning.method, .particle)
    }

    func testAPowerModeSetsCycleAndTimingUnlessTheSameSourceSetsThem() throws {
        var settings = SettingsStack()
        XCTAssertEqual(
            settings.load(
                [
                    SettingsEntry(key: "cron.ios-bg-mode", value: 1),
                    SettingsEntry(key: "scanner.timing.window", value: 0.02),
                ], from: .file), [])
        settings.apply()
        XCTAssertEqual(settings.resolved.scanner.dutyCycle, .continuous)
        XCTAssertEqual(
            settings.resolved.scanner.timing, ScanTiming(window: .milliseconds(20), interval: .milliseconds(60)))
        XCTAssertEqual(try source(settings, "scanner.powerMode"), "\"aggressive\" file")
        XCTAssertEqual(try source(settings, "cron.ios-bg-mode"), "1 file")
        try settings.override("scanner.powerMode", "normal")
        settings.apply()
        XCTAssertEqual(settings.resolved.scanner.dutyCycle, PowerMode.normal.dutyCycle)
        XCTAssertEqual(settings.resolved.scanner.timing, .whole, "a mode set in code beats a window in a file")
    }

    func testTheParticleFilterCanBeSwitchedOffByItsOwnKey() throws {
        var settings = SettingsStack()
        try settings.override("positioning.particleFilter", false)
        settings.apply()
        XCTAssertEqual(settings.resolved.localization.positioning.method, .fingerprint)
        try settings.override("positioning.method", "trilateration")
        settings.apply()
        XCTAssertEqual(settings.resolved.localization.positioning.method, .trilateration)
        XCTAssertEqual(try source(settings, "positioning.particleFilter"), "false override")
    }

    func testOneHalfOfTheRadiosTimingCompletesTheOther() throws {
        for key in ["window", "interval"] {
            var settings = SettingsStack()
            try settings.override("scanner.timing.\(key)", 0.06)
            settings.apply()
            XCTAssertEqual(settings.resolved.scanner.timing, .whole, key)
            try settings.override("scanner.timing.\(key)", .null)
            settings.apply()
            XCTAssertNil(settings.resolved.scanner.timing, key)
        }
    }

    func testProblemsNameContradictorySettingsWithTheirSource() throws {
        var settings = SettingsStack()
        try settings.override("scanner.timing.interval", 0.03)
        XCTAssertEqual(
            settings.load([SettingsEntry(key: "scanner.timing.window", value: 0.05, place: "a.json:3")], from: .file),
            [])
        settings.apply()
        XCTAssertEqual(
            settings.problems.map(\.description),
            ["a.json:3: scanner.timing.window must be in [0.0025, 0.03] s, not 0.05"])
    }

    func testACopyIsIndependent() throws {
        var first = SettingsStack()
        let second = first
        try first.override("areaDwell", 9)
        first.apply()
        XCTAssertEqual(second, SettingsStack())
        XCTAssertNotEqual(first, second)
    }
}

extension SettingsSource {
    fileprivate var hashRank: Int { Self.allCases.firstIndex(of: self) ?? -1 }
}

/// When a server is asked for settings, and what becomes of its answers.
final class RemoteSettingsMachineTests: XCTestCase {
    private let entries = [SettingsEntry(key: "areaDwell", value: 1)]
    private let network = LocalizationError(code: .network, message: "the server is away")

    private func machine(interval: Int = 300) -> RemoteSettingsMachine {
        var settings = RemotePullSettings()
        settings.interval = .seconds(interval)
        return RemoteSettingsMachine(settings, seed: 1)
    }

    func testTheMachineRequestsImmediatelyAndThenAtTheIntervalWithTheTag() {
        var machine = machine()
        XCTAssertEqual(machine.handle(.start, at: .zero), [.ask(unless: nil)])
        XCTAssertEqual(machine.state, .asking)
        XCTAssertEqual(machine.handle(.document(entries, tag: "\"1\""), at: Instant(seconds: 2)), [.use(entries)])
        XCTAssertEqual(machine.nextWake, Instant(seconds: 302))
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 301)), [], "too early")
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 302)), [.ask(unless: "\"1\"")])
        XCTAssertEqual(machine.handle(.unchanged, at: Instant(seconds: 303)), [])
        XCTAssertEqual(machine.state, .waiting(until: Instant(seconds: 603)))
    }

    func testTheMachineUsesOnlyNewSettingsOfAServerWithoutTags() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.document(entries, tag: nil), at: .zero), [.use(entries)])
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 300)), [.ask(unless: nil)])
        XCTAssertEqual(machine.handle(.document(entries, tag: nil), at: Instant(seconds: 300)), [])
        _ = machine.handle(.tick, at: Instant(seconds: 600))
        XCTAssertEqual(machine.handle(.document([], tag: nil), at: Instant(seconds: 600)), [.use([])])
    }

    func testTheMachineKeepsSettingsAfterAFailureAndRetriesAfterGrowingPauses() throws {
        var machine = machine(interval: 40)
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.document(entries, tag: "\"1\""), at: .zero)
        var now = Instant(seconds: 40)
        var pauses: [Double] = []
        for _ in 0..<8 {
            XCTAssertEqual(machine.handle(.tick, at: now), [.ask(unless: "\"1\"")])
            XCTAssertEqual(machine.handle(.failed(network), at: now), [.report(network)])
            let wake = try XCTUnwrap(machine.nextWake)
            pauses.append(now.duration(to: wake).seconds)
            now = wake
        }
        XCTAssertTrue((2.5...5).contains(pauses[0]), "\(pauses)")
        XCTAssertTrue((5...10).contains(pauses[1]), "\(pauses)")
        XCTAssertLessThanOrEqual(pauses.max() ?? .infinity, 40, "no pause is longer than the interval")
        XCTAssertEqual(machine.handle(.tick, at: now), [.ask(unless: "\"1\"")])
        XCTAssertEqual(machine.handle(.unchanged, at: now), [], "what was given still counts")
        XCTAssertEqual(machine.nextWake, now.advanced(by: .seconds(40)))
    }

    func testTheMachineRetriesARefusedRequestOnlyAtTheInterval() {
        for code in [LocalizationError.Code.credential, .generic] {
            var machine = machine()
            _ = machine.handle(.start, at: .zero)
            let error = LocalizationError(code: code, message: "no")
            XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error)])
            XCTAssertEqual(machine.nextWake, Instant(seconds: 300))
        }
    }

    func testAStoppedMachineReturnsNoDirectives() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.stop, at: .zero), [.cancel])
        XCTAssertEqual(machine.handle(.document(entries, tag: nil), at: .zero), [])
        XCTAssertEqual(machine.handle(.failed(network), at: .zero), [])
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 999)), [])
        XCTAssertEqual(machine.state, .stopped)
        XCTAssertEqual(machine.handle(.start, at: Instant(seconds: 999)), [.ask(unless: nil)])
        XCTAssertEqual(machine.handle(.start, at: Instant(seconds: 999)), [], "it runs already")
    }
}
