import IndoorLocalization
import XCTest

@testable import LocalizationSession

/// Whether the one list holds every setting, once.
final class SettingsRegistryTests: XCTestCase {
    /// The names of all stored numbers, flags and words within a value, by reflection.
    private func leaves(of value: Any, prefix: String = "") -> [String] {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct where !(value is Duration):
            return mirror.children.flatMap { child -> [String] in
                guard let label = child.label else { return [] }
                return leaves(of: child.value, prefix: prefix.isEmpty ? label : "\(prefix).\(label)")
            }
        default: return [prefix]
        }
    }

    func testEveryStoredSettingIsInTheListOnce() {
        var settings = ResolvedSettings()
        settings.scanner.timing = .whole
        let stored = leaves(of: settings).map { path in
            var path = path
            if path.hasPrefix("localization.") { path.removeFirst("localization.".count) }
            return path == "scanner.timing" ? "scanner.timing.window scanner.timing.interval" : path
        }.flatMap { $0.split(separator: " ").map(String.init) }
        let listed = Set(ResolvedSettings.list.map(\.key))
        XCTAssertEqual(Set(stored).subtracting(listed).sorted(), [], "stored, but not in the list")
        XCTAssertEqual(listed.subtracting(stored).sorted(), [], "in the list, but not stored")
        XCTAssertEqual(ResolvedSettings.list.count, stored.count, "none is listed twice")
    }

    func testTheDefaultsAreInRangeAndAreReadAsTheyAre() {
        let settings = SettingsStack()
        XCTAssertEqual(settings.resolved, ResolvedSettings())
        XCTAssertEqual(settings.problems, [])
        XCTAssertEqual(ResolvedSettings().localization.problems, [])
        XCTAssertEqual(ResolvedSettings().scanner.problems, [])
        XCTAssertEqual(ResolvedSettings().remote.problems, [])
        XCTAssertTrue(settings.effective.allSatisfy { $0.source == .default })
    }

    func testEverySettingCanBeSetAtBothEndsOfItsRangeAndReadsBack() throws {
        for entry in SettingsRegistry.standard.entries {
            let setting = entry.setting
            let values: [JSONValue] =
                switch setting.limits {
                case .flag: [true, false]
                case .wholeNumber(let range):
                    [.number(Double(range.lowerBound)), .number(Double(range.upperBound))]
                case .number(let range): [.number(range.lowerBound), .number(range.upperBound)]
                case .duration(let least, let isOpen, let most):
                    [.number(isOpen ? least.seconds + 1e-6 : least.seconds), .number(most.seconds)]
                case .choice(let words): words.map(JSONValue.string)
                case .text: ["text"]
                }
            for value in values {
                var settings = SettingsStack()
                try settings.override(setting.key, value)
                settings.apply()
                XCTAssertEqual(try settings.setting(setting.key).value, value, setting.key)
                XCTAssertEqual(try settings.setting(setting.key).source, .override, setting.key)
            }
            XCTAssertTrue(setting.summary.hasSuffix("."), "\(setting.key) says what it does")
        }
    }

    func testTheReferencesKeysReadTheirDefaults() throws {
        let settings = SettingsStack()
        for (key, value) in [
            ("ble.scan.duration-msec", 10_000), ("ble.scan.interval-msec", 90_000), ("ble.scan.interval-x-factor", 1),
            ("ble.scan.duration-ios-cl-msec", 10_000), ("ble.scan.interval-ios-cl-msec", 90_000),
            ("ble.scan.interval-ios-cl-x-factor", 1), ("dtn.use-cellular", true), ("cron.ios-bg-mode", 2),
            ("cron.ios-bg-mode-distance-meters", 20), ("cron.ios-infinite-scan", false),
            ("cron.pull-config-interval-msec", 300_000), ("core.debug-log.enable", false), ("ble.enable", true),
            ("ble.scan.background", 2), ("core.heartbeat.history", 100),
        ] as [(String, JSONValue)] {
            XCTAssertEqual(try settings.setting(key).value, value, key)
            XCTAssertEqual(try settings.setting(key).source, .default, key)
            // A default that is no default of anything would read the same.
            var changed = settings
            let other: JSONValue
            switch value {
            case .bool(let flag): other = .bool(!flag)
            case .number(let number): other = .number(number + 1)
            default: return XCTFail("\(key) is neither a number nor a flag")
            }
            try changed.override(key, other)
            changed.apply()
            XCTAssertEqual(try changed.setting(key).value, other, key)
            try changed.override(key, nil)
            changed.apply()
            XCTAssertEqual(try changed.setting(key).value, value, "\(key) falls back to its default")
        }
        let scanner = settings.resolved.scanner.dutyCycle
        XCTAssertEqual(scanner.scanDuration, .milliseconds(10_000), "what is read is what counts")
        XCTAssertEqual(scanner.interval, .milliseconds(90_000))
        XCTAssertEqual(scanner.intervalFactor, 1)
    }

    func testTheBackgroundModesAreNumbers0To3() throws {
        for mode in PowerMode.allCases {
            var settings = SettingsStack()
            try settings.override("cron.ios-bg-mode", .number(Double(mode.rawValue)))
            settings.apply()
            XCTAssertEqual(settings.resolved.scanner.dutyCycle, mode.dutyCycle, mode.name)
            XCTAssertEqual(settings.resolved.scanner.timing, mode.timing, mode.name)
            XCTAssertEqual(try settings.setting("cron.ios-bg-mode").value, .number(Double(mode.rawValue)), mode.name)
        }
    }

    func testAliasesAreInTheirOwnUnit() throws {
        var settings = SettingsStack()
        try settings.override("ble.scan.duration-msec", 2500)
        try settings.override("ble.scan.interval-msec", 7500.5)
        try settings.override("cron.pull-config-interval-msec", 60_000)
        settings.apply()
        XCTAssertEqual(settings.resolved.scanner.dutyCycle.scanDuration, .milliseconds(2500))
        XCTAssertEqual(settings.resolved.scanner.dutyCycle.interval, .microseconds(7_500_500))
        XCTAssertEqual(settings.resolved.remote.interval, .seconds(60))
        XCTAssertEqual(try settings.setting("ble.scan.interval-msec").value, 7500.5)
        XCTAssertEqual(try settings.setting("ble.scan.interval-msec").unit, "ms")
        XCTAssertEqual(try settings.setting("scanner.dutyCycle.interval").value, 7.5005)
    }

    func testAnAliasHasTheKindOfItsSetting() throws {
        for alias in SettingsRegistry.standard.aliases {
            let setting = try XCTUnwrap(SettingsRegistry.standard.entry(alias.target), alias.key).setting
            XCTAssertNil(SettingsRegistry.standard.entry(alias.key), "\(alias.key) is a setting, too")
            let values: [SettingValue] =
                switch alias.limits {
                case .flag: [.flag(false), .flag(true)]
                case .wholeNumber(let range): [.number(Double(range.lowerBound)), .number(Double(range.upperBound))]
                case .number(let range): [.number(range.lowerBound), .number(range.upperBound)]
                default: []
                }
            XCTAssertEqual(values.count, 2, "\(alias.key): add its limits to this test")
            for value in values {
                let converted = alias.toTarget(value)
                XCTAssertTrue(setting.limits.contains(converted), "\(alias.key): \(value) is \(converted)")
                XCTAssertEqual(alias.fromTarget(converted), value, alias.key)
            }
        }
    }

    func testAboutSeventySettingsArePublicAndAtMostSixteenOfTheEngine() {
        let keys = SettingsRegistry.standard.entries.filter(\.isPublic).map(\.setting.key)
        XCTAssertLessThanOrEqual(keys.count, 70)
        XCTAssertLessThanOrEqual(keys.count { $0.hasPrefix("positioning.") && $0 != "positioning.particleFilter" }, 15)
    }

    func testASettingWithinAnotherStructKeepsItsStability() throws {
        let registry = SettingsRegistry.standard
        for (key, origin) in [
            ("positioning.signal.shadowing", .surveys), ("positioning.recoveryShare", .tracks),
            ("positioning.ranges.uwb.excess", .publications), ("motion.climbSpeed", .estimate),
            ("scanner.ranging.exponent", .estimate), ("positioning.radiusDoubt", .tracks),
        ] as [(String, DefaultOrigin)] {
            let setting = try XCTUnwrap(registry.entry(registry.alias(key)?.target ?? key)).setting
            XCTAssertEqual(setting.stability.origin, origin, key)
            XCTAssertTrue(registry.isExpert(key), key)
            XCTAssertTrue(try SettingsStack().setting(key).isExpert, key)
        }
        for key in ["positionInterval", "positioning.method", "dtn.use-cellular", "scanner.timing.window", "nothing"] {
            XCTAssertFalse(registry.isExpert(key), key)
        }
        XCTAssertFalse(try XCTUnwrap(registry.entry("dtn.use-cellular")).isPublic)
    }

    func testANoteNamesEachExpertSettingOfASource() {
        var settings = SettingsStack()
        _ = settings.load(
            [
                SettingsEntry(key: "positioning.motion.turnRate", value: 0.2, place: "a.json:3"),
                SettingsEntry(key: "areaDwell", value: 1, place: "a.json:1"),
                SettingsEntry(key: "venueSearch.lead", value: 3),
            ], from: .file)
        settings.apply()
        XCTAssertEqual(
            settings.expertNotes(of: .file),
            [
                "file: venueSearch.lead is an expert key, which may change or go in any release",
                "a.json:3: positioning.motion.turnRate is an expert key, which may change or go in any release",
            ])
        XCTAssertEqual(settings.expertNotes(of: .remote), [])
    }
}
