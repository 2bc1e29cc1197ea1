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

/// What is told of a setting that cannot be taken.
final class SettingsProblemTests: XCTestCase {
    private func message(_ key: String, _ value: JSONValue, from source: SettingsSource = .file) -> String {
        var settings = SettingsStack()
        return settings.load([SettingsEntry(key: key, value: value)], from: source).map(\.message).joined()
    }

    func testAProblemSuggestsTheKeyNearestToAnUnknownOne() {
        for (wrong, right) in [
            ("positioning.particelCount", "positioning.particleCount"), ("PositionInterval", "positionInterval"),
            ("positionIntervall", "positionInterval"), ("particleCount", "positioning.particleCount"),
            ("ble.scan.duration-ms", "ble.scan.duration-msec"), ("rssiTreshold", "rssiThreshold"),
            ("dutyCycle.interval", "scanner.dutyCycle.interval"),
        ] {
            XCTAssertEqual(message(wrong, 1), "there is no setting \(wrong); did you mean \(right)?")
        }
        XCTAssertEqual(
            message("favouriteColour", "blue"),
            "there is no setting favouriteColour; 'indoorloc config keys' lists them all")
        XCTAssertEqual(message("", 1), "there is no setting ; 'indoorloc config keys' lists them all")
    }

    func testAProblemNamesTheExpectedType() {
        for (key, value, text) in [
            ("positionInterval", "fast", "must be a number in [0.05, 86400] s, not \"fast\""),
            ("positionInterval", .null, "must be a number in [0.05, 86400] s, not null"),
            ("positioning.particleCount", 1500.5, "must be a whole number in [100, 1000000], not 1500.5"),
            ("positioning.method", 3, "must be one of particle, fingerprint, trilateration, not 3"),
            ("scanner.dutyCycle.isContinuous", 1, "must be true or false, not 1"),
            ("ble.scan.interval-msec", .array([]), "must be a number in [0, 86400000] ms, not an array"),
        ] as [(String, JSONValue, String)] {
            XCTAssertEqual(message(key, value), "\(key) \(text)")
        }
    }

    func testAProblemNamesTheValidRange() {
        for (key, value, text) in [
            ("positionInterval", 0.04, "must be in [0.05, 86400] s, not 0.04"),
            ("venueLostTimeout", 0, "must be above 0 and at most 86400 s, not 0"),
            ("rssiThreshold", 1, "must be in [-127, 0] dBm, not 1"),
            ("positioning.method", "magic", "must be one of particle, fingerprint, trilateration, not \"magic\""),
            ("ble.scan.duration-msec", 5, "must be in [10, 86400000] ms, not 5"),
            ("cron.ios-bg-mode", 4, "must be in [0, 3], not 4"),
            ("areaDwell", 1e300, "must be in [0, 86400] s, not 1e+300"),
            ("areaDwell", 1e9, "must be in [0, 86400] s, not 1000000000"),
        ] as [(String, JSONValue, String)] {
            XCTAssertEqual(message(key, value), "\(key) \(text)")
        }
    }

    func testLoadingReportsAllProblemsAndKeepsValidEntries() throws {
        var settings = SettingsStack()
        let problems = settings.load(
            [
                SettingsEntry(key: "areaDwel", value: 1, place: "settings.json:2"),
                SettingsEntry(key: "areaDwell", value: 4, place: "settings.json:3"),
                SettingsEntry(key: "retryPause", value: "long", place: "settings.json:4"),
                SettingsEntry(key: "rssiThreshold", value: 5),
            ], from: .file)
        XCTAssertEqual(
            problems.map(\.description),
            [
                "settings.json:2: there is no setting areaDwel; did you mean areaDwell?",
                "settings.json:4: retryPause must be a number above 0 and at most 86400 s, not \"long\"",
                "file: rssiThreshold must be in [-127, 0] dBm, not 5",
            ])
        settings.apply()
        XCTAssertEqual(try settings.setting("areaDwell").place, "settings.json:3")
        XCTAssertEqual(settings.resolved.localization.areaDwell, .seconds(4))
    }

    func testAVenueCannotSetSettingsThatApplyBeforeItIsKnown() {
        for key in ["forcedVenue", "venueSearch.lead", "retryPause", "scanner.rssiThreshold", "remote.interval"] {
            XCTAssertTrue(message(key, 1, from: .venue).hasPrefix("\(key) cannot be set by a venue"), key)
        }
        XCTAssertEqual(message("areaDwell", 1, from: .venue), "")
        XCTAssertTrue(message("areaDwell", 1, from: .default).contains("cannot be set as default"))
    }

    func testAWrongOverrideOrRequestThrowsAndChangesNothing() throws {
        var settings = SettingsStack()
        let before = settings
        XCTAssertThrowsError(try settings.override("areaDwell", -1)) { error in
            XCTAssertEqual("\(error)", "override: areaDwell must be in [0, 86400] s, not -1")
        }
        XCTAssertThrowsError(try settings.override("areaDwel", nil))
        XCTAssertThrowsError(try settings.request("areaDwell", "x"))
        XCTAssertThrowsError(try settings.setting("nothing"))
        XCTAssertEqual(settings, before)
    }

    func testSettingsRejectNumbersThatJSONCannotRepresent() {
        for number in [Double.nan, .infinity, -.infinity] {
            XCTAssertNotEqual(message("rssiThreshold", .number(number)), "", "\(number)")
            XCTAssertNotEqual(message("areaDwell", .number(number)), "", "\(number)")
            XCTAssertNotEqual(message("positioning.particleCount", .number(number)), "", "\(number)")
        }
    }
}

/// Keys of the Nodle SDK's configuration, as its documents and samples give them.
final class ReferenceKeyTests: XCTestCase {
    private func stack(_ givers: [(SettingsSource, [(String, JSONValue)])]) throws -> SettingsStack {
        var settings = SettingsStack()
        for (source, entries) in givers {
            if source == .override {
                for (key, value) in entries { try settings.override(key, value) }
            } else {
                let problems = settings.load(entries.map { SettingsEntry(key: $0.0, value: $0.1) }, from: source)
                XCTAssertEqual(problems, [])
            }
        }
        settings.apply()
        return settings
    }

    private let keys: [(String, JSONValue)] = [("ble.scan.duration-msec", 20_000), ("ble.scan.interval-msec", 40_000)]
    private let mode: [(String, JSONValue)] = [("cron.ios-bg-mode", 0)]
    private let cycle = DutyCycle(scanDuration: .seconds(20), interval: .seconds(40))

    /// Keys of `ble.scan` count beside a background mode, as in the sample, which reads a file and sets mode 0.
    func testIndividualKeysFromTheDeviceOverrideABackgroundModeInAnyOrder() throws {
        let givers: [[(SettingsSource, [(String, JSONValue)])]] = [
            [(.override, keys + mode)], [(.override, mode + keys)], [(.file, keys + mode)],
            [(.file, keys), (.override, mode)], [(.override, mode), (.file, keys)], [(.file, mode), (.override, keys)],
            [(.remote, mode), (.file, keys)], [(.remote, keys + mode)], [(.remote, mode), (.override, keys)],
        ]
        for giver in givers {
            let settings = try stack(giver)
            XCTAssertEqual(settings.resolved.scanner.dutyCycle, cycle, "\(giver)")
            XCTAssertEqual(try settings.setting("cron.ios-bg-mode").value, 0, "\(giver)")
        }
    }

    func testAModeFromTheDeviceOverridesIndividualKeysFromAServer() throws {
        let settings = try stack([(.remote, keys), (.override, mode)])
        XCTAssertEqual(settings.resolved.scanner.dutyCycle.isContinuous, true)
    }

    func testAModeWithoutIndividualKeysHasTheValuesOfItsTable() throws {
        for mode in PowerMode.allCases {
            let settings = try stack([(.file, [("cron.ios-bg-mode", .number(Double(mode.rawValue)))])])
            XCTAssertEqual(settings.resolved.scanner.dutyCycle, mode.dutyCycle)
        }
    }

    func testAnIndividualKeyDoesNotChangeTheModesOtherValues() throws {
        let settings = try stack([(.override, [("cron.ios-bg-mode", 2), ("ble.scan.duration-msec", 5000)])])
        XCTAssertEqual(
            settings.resolved.scanner.dutyCycle, DutyCycle(scanDuration: .seconds(5), interval: .seconds(20)))
        let endless = try stack([(.override, [("cron.ios-bg-mode", 2), ("cron.ios-infinite-scan", true)])])
        XCTAssertEqual(endless.resolved.scanner.dutyCycle.isContinuous, true)
    }

    func testAPowerModeByItsOwnNameOverridesAFile() throws {
        let settings = try stack([(.file, keys), (.override, [("scanner.powerMode", "none")])])
        XCTAssertEqual(settings.resolved.scanner.dutyCycle, .continuous)
    }

    /// Each key is accepted with its default, and reads as it.
    func testSettingsAcceptEveryKeyOfTheReference() throws {
        let tree: [(String, JSONValue)] = [
            ("ble.enable", true), ("ble.scan.background", 2), ("location.min-interval-msec", 30_000),
            ("location.fix-timeout-msec", 15_000), ("ble.stat.report-interval-msec", 86_400_000),
            ("cell.scan.interval-msec", 50_000), ("heartbeat.resolution-h3", 7),
            ("cron.check-network-interval-msec", 30_000), ("cron.check-heartbeat-interval-msec", 60_000),
            ("cron.ios-bt-refresh-sec", 300), ("id.expire-sec", -1), ("ble.background-mode", false),
            ("heartbeat.background-mode", false), ("core.debug-log.enable", false), ("core.heartbeat.history", 100),
            ("cron.pull-config-interval-msec", 300_000), ("cron.ios-bg-mode", 2), ("dtn.use-cellular", true),
            ("cron.ios-bg-mode-distance-meters", 20), ("cron.ios-infinite-scan", false),
            ("ble.scan.duration-msec", 10_000), ("ble.scan.interval-msec", 90_000), ("ble.scan.interval-x-factor", 1),
            ("ble.scan.duration-ios-cl-msec", 10_000), ("ble.scan.interval-ios-cl-msec", 90_000),
            ("ble.scan.interval-ios-cl-x-factor", 1),
        ]
        for (key, value) in tree { XCTAssertEqual(try SettingsStack().setting(key).value, value, key) }
        XCTAssertEqual(try stack([(.file, tree)]).resolved.scanner.dutyCycle, DutyCycle())
    }

    func testAKeyWithoutEffectHasAReason() throws {
        let settings = try stack([(.file, [("dtn.use-cellular", false), ("ble.scan.duration-msec", 5000)])])
        XCTAssertEqual(
            try settings.setting("dtn.use-cellular").reasonOfNoEffect,
            "the system chooses the network for an upload")
        XCTAssertNil(try settings.setting("ble.scan.duration-msec").reasonOfNoEffect)
        XCTAssertNil(try settings.setting("scanner.dutyCycle.scanDuration").reasonOfNoEffect)
    }

    func testSettingsAcceptAndListAnUnpublishedKeyOfAFamily() throws {
        let settings = try stack([
            (.file, [("cell.scan.strength", 3), ("iotee.eid.tx", "dtn://x"), ("wifi.list", .array([1, 2]))])
        ])
        let shown = settings.effective.suffix(3)
        XCTAssertEqual(shown.map(\.key), ["cell.scan.strength", "iotee.eid.tx", "wifi.list"])
        XCTAssertEqual(shown.map(\.value), [3, "dtn://x", "an array"])
        XCTAssertTrue(shown.allSatisfy { $0.source == .file && $0.reasonOfNoEffect != nil })
        XCTAssertEqual(try settings.setting("cell.scan.strength").value, 3)
        XCTAssertEqual(settings.resolved, ResolvedSettings())
        XCTAssertThrowsError(try SettingsStack().setting("cell.scan.strength"))
    }

    func testSettingsRejectAMisspelledKeyOfAFamily() {
        var settings = SettingsStack()
        for (slip, right) in [
            ("dtn.use-celular", "dtn.use-cellular"), ("cron.ios-bg-mod", "cron.ios-bg-mode"),
            ("id.expire-secs", "id.expire-sec"),
        ] {
            XCTAssertEqual(
                settings.load([SettingsEntry(key: slip, value: 1)], from: .file).map(\.reason),
                [.unknownKey(nearest: right)])
        }
        // A venue's packet is no configuration of that SDK.
        XCTAssertEqual(settings.enter(["cell.scan.strength": 3]).count, 1)
    }
}

/// How far satellites are used, and whether they are asked for the place of the local frame.
final class SatelliteSettingsTests: XCTestCase {
    private func machine(_ settings: LocalizationSettings) -> Machine {
        var machine = Machine(settings: settings, seed: 1, reportsMotion: true) { _ in FixBelief() }
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: .zero)
        return machine
    }

    /// When outdoor positions are told of satellite positions once a second.
    private func outdoorSeconds(_ use: SatelliteUse) -> [Double] {
        var settings = LocalizationSettings()
        settings.satellites = use
        var machine = machine(settings)
        return (1...25).flatMap { second in
            machine.handle(.reading(SessionStage.gnss(10, at: Double(second))), at: Instant(seconds: Double(second)))
        }.compactMap { if case .emitOutdoor(let position) = $0 { position.instant.seconds } else { nil } }
    }

    /// The positioning modes high accuracy, low accuracy and off.
    func testSatellitesAreUsedAllOrOneInTenSecondsOrNone() {
        XCTAssertEqual(outdoorSeconds(.highAccuracy), (1...25).map(Double.init))
        XCTAssertEqual(outdoorSeconds(.lowAccuracy), [1, 11, 21])
        XCTAssertEqual(outdoorSeconds(.off), [])
    }

    func testSatellitesThatAreOffFindNoVenue() {
        for use in SatelliteUse.allCases {
            var settings = LocalizationSettings()
            settings.satellites = use
            var machine = machine(settings)
            for second in [0.0, 11] {
                _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: Instant(seconds: second))
            }
            XCTAssertEqual(machine.state.venueID, use == .off ? nil : 1, "\(use)")
        }
    }

    /// Walks ahead, which is to the east, with satellites.
    private func walk(_ machine: inout Machine, from begin: Double = 0) -> MotionEstimate? {
        var last: MotionEstimate?
        for index in 0..<60 {
            let instant = Instant(seconds: begin + Double(index) * 0.5)
            let there = Coordinate(latitude: 10, longitude: 13 + Double(index + 1) * 0.7 / 109_639)
            let readings: [SensorReading] = [
                .step(Step(instant: instant, length: 0.7, heading: 0)),
                .gnss(GNSSFix(instant: instant, coordinate: there, accuracy: 2)),
            ]
            for directive in readings.flatMap({ machine.handle(.reading($0), at: instant) }) {
                if case .emitMotion(.motion(let estimate)) = directive { last = estimate }
            }
        }
        return last
    }

    func testGlobalEstimationUsesSatellitesFromTheBeginning() throws {
        var settings = LocalizationSettings()
        var local = machine(settings)
        XCTAssertEqual(try XCTUnwrap(walk(&local)).alignment, .local)
        settings.motion.estimationMode = .global
        var global = machine(settings)
        let estimate = try XCTUnwrap(walk(&global))
        XCTAssertEqual(estimate.alignment, .global)
        XCTAssertLessThan(
            try XCTUnwrap(estimate.coordinate).distance(
                to: Coordinate(latitude: 10, longitude: 13 + 60 * 0.7 / 109_639)), 3)
    }

    func testGlobalEstimationCanBeAskedForDuringASession() throws {
        var machine = machine(LocalizationSettings())
        XCTAssertEqual(try XCTUnwrap(walk(&machine)).alignment, .local)
        var stack = SettingsStack()
        try stack.request("motion.estimationMode", "global")
        try stack.request("motion.estimationMode", "local")
        stack.apply()
        XCTAssertEqual(stack.resolved.localization.motion.estimationMode, .global, "a request for less changes nothing")
        _ = machine.handle(.settings(stack), at: Instant(seconds: 40))
        XCTAssertEqual(try XCTUnwrap(walk(&machine, from: 40)).alignment, .global)
    }

    func testTheDefaultsAreThoseOfTheReference() {
        let settings = SettingsStack().resolved
        XCTAssertEqual(settings.localization.motion.interval, .milliseconds(100), "callback rate")
        XCTAssertEqual(settings.localization.motion.estimationMode, .local)
        XCTAssertEqual(settings.localization.satellites, .highAccuracy, "positioning")
        XCTAssertEqual(ScanSchedule(SettingsStack()).cycle, .continuous, "power: performance")
        XCTAssertEqual(settings.sharing, SharingSettings(), "host and room are unset")
    }

    /// Positioning mode, network rate, host and room.
    func testEachModeHasThePrecedenceOfTheReference() throws {
        var stack = SettingsStack()
        try stack.request("satellites", "lowAccuracy")
        try stack.request("satellites", "off")
        try stack.request("sharing.interval", 0.5)
        try stack.request("sharing.interval", 2)
        try stack.request("sharing.room", "hall")
        try stack.request("sharing.room", "yard")
        try stack.request("sharing.host", "mqtt://one")
        try stack.request("sharing.host", "mqtt://two")
        XCTAssertEqual(stack.resolved.sharing, SharingSettings(), "nothing before apply")
        stack.apply()
        XCTAssertEqual(stack.resolved.localization.satellites, .lowAccuracy)
        XCTAssertEqual(stack.resolved.sharing.interval, .milliseconds(500))
        XCTAssertEqual(stack.resolved.sharing.room, "yard", "of rooms and hosts the last one counts")
        XCTAssertEqual(stack.resolved.sharing.host, "mqtt://two")
        try stack.override("satellites", "off")
        try stack.override("sharing.interval", nil)
        stack.apply()
        XCTAssertEqual(stack.resolved.localization.satellites, .off)
        XCTAssertNil(stack.resolved.sharing.interval)
    }
}
