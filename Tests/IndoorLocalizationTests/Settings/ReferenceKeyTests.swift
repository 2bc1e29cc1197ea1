import IndoorLocalization
import XCTest

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
