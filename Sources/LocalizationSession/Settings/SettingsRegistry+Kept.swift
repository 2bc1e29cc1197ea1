import IndoorVocabulary

extension SettingsRegistry {
    /// Keys of the Nodle SDK's configuration that have no effect in this package. Files with these keys are accepted,
    /// and the keys are listed.
    static let keptSettings: [Entry] =
        [
            kept("ble.enable", .flag, .flag(true), "a scan runs from start to stop"),
            kept("ble.background-mode", .flag, .flag(false), noBackground),
            kept("ble.scan.background", .wholeNumber(0...3), .number(2), noBackground),
            kept("ble.eid.scan-sink", .text, .text(""), noBundles),
            kept("core.debug-log.enable", .flag, .flag(false), "the package logs nothing; a stream reports errors"),
            kept("cron.ios-bg-mode-distance-meters", .number(0...1_000_000), unit: "m", .number(20), noWaking),
            kept("devkey", .text, .text(""), "the package needs no key"),
            kept("dtn.default-pull-url", .text, .text(""), noBundles),
            kept("dtn.default-push-url", .text, .text(""), "records are uploaded to --upload-url"),
            kept("dtn.use-cellular", .flag, .flag(true), "the system chooses the network for an upload"),
            kept("heartbeat.background-mode", .flag, .flag(false), noBackground),
            kept("heartbeat.resolution-h3", .wholeNumber(0...15), .number(7), "a heartbeat contains no location"),
            kept("id.expire-sec", .number(-1...1e12), unit: "s", .number(-1), "the name of a device does not expire"),
            kept("nodle.authority", .text, .text(""), noBundles),
        ]
        + durations("ble.stat.report", 86_400_000, "heartbeats contain the counters of the scan")
        + durations("cell.scan.interval", 50_000, "the package does not scan cellular networks")
        + durations("location.min-interval", 30_000, "positions are emitted as soon as they are available")
        + durations("location.fix-timeout", 15_000, "the satellite receiver runs continuously")
        + ["cron", "core"].flatMap {
            durations("\($0).check-network", 30_000, "uploads are retried until the network is available")
        }
        + ["", "-sec"].map {
            kept(
                "cron.ios-bt-refresh\($0)", .number(0...1e12), unit: "s", .number(300),
                "the system reports when a lost radio returns")
        }

    /// The prefixes of keys that only the Nodle SDK uses; not all of the keys are published.
    private static let families = ["ble.eid.", "ble.stat.", "cell.", "dtn.", "id.", "iotee.", "nodle.", "wifi."]

    /// The reason that keys accepted by their prefix alone have no effect.
    static let reasonOfFamily = "a key of the Nodle SDK that this package does not use"

    /// Returns whether an unlisted key is accepted by its prefix. Keys that look like a misspelling of a listed key
    /// aren't accepted.
    func isKept(_ key: String) -> Bool {
        guard key.utf8.count <= 100, let family = Self.families.first(where: key.hasPrefix) else { return false }
        return !entries.contains { entry in
            entry.setting.key.hasPrefix(family) && EditDistance.between(entry.setting.key, key) <= 2
        }
    }

    private static let noBackground = "a service has no background mode"
    private static let noWaking = "a service needs no movement to wake up"
    private static let noBundles = "records are uploaded to your own server, not through a bundle network"

    /// Returns entries for a duration in milliseconds, with and without the unit in the key.
    private static func durations(_ key: String, _ standard: Double, _ reason: String) -> [Entry] {
        let tellsKind = key.hasSuffix("interval") || key.hasSuffix("timeout")
        let endings = ["", "-msec"] + (tellsKind ? [] : ["-interval-msec"])
        return endings.map { kept(key + $0, .number(0...1e12), unit: "ms", .number(standard), reason) }
    }

    private static func kept(
        _ key: String, _ limits: SettingLimits, unit: String = "", _ standard: SettingValue, _ reason: String
    ) -> Entry {
        Entry(
            setting: Setting(
                key: key, limits: limits, unit: unit, isOptional: false, preference: nil, scope: .session,
                summary: "Accepted, no effect: \(reason).",
                read: { _ in standard }, write: { _, _ in }, dependentLimits: nil),
            role: .kept(standard, reason: reason))
    }
}

extension SettingValue {
    /// Creates a value of any type that is listed but has no effect.
    init(kept value: JSONValue) {
        self =
            switch value {
            case .null: .none
            case .bool(let flag): .flag(flag)
            case .number(let number): .number(number)
            case .string(let text): .text(text)
            case .array, .object: .text(value.summary)
            }
    }
}
