import IndoorVocabulary

extension SettingsRegistry {
    /// Keys of the Nodle SDK's configuration that nothing here needs: a file that has them is read, and shows them.
    static let keptSettings: [Entry] =
        [
            kept("ble.enable", .flag, .flag(true), "a scan is on from start to stop"),
            kept("ble.background-mode", .flag, .flag(false), noBackground),
            kept("ble.scan.background", .wholeNumber(0...3), .number(2), noBackground),
            kept("ble.eid.scan-sink", .text, .text(""), noBundles),
            kept("core.debug-log.enable", .flag, .flag(false), "nothing is logged; errors come on a stream"),
            kept("cron.ios-bg-mode-distance-meters", .number(0...1_000_000), unit: "m", .number(20), noWaking),
            kept("devkey", .text, .text(""), "no key is needed"),
            kept("dtn.default-pull-url", .text, .text(""), noBundles),
            kept("dtn.default-push-url", .text, .text(""), "records are sent to --upload-url"),
            kept("dtn.use-cellular", .flag, .flag(true), "the system chooses the network that carries an upload"),
            kept("heartbeat.background-mode", .flag, .flag(false), noBackground),
            kept("heartbeat.resolution-h3", .wholeNumber(0...15), .number(7), "a heartbeat does not tell where"),
            kept("id.expire-sec", .number(-1...1e12), unit: "s", .number(-1), "a device has the name that it is given"),
            kept("nodle.authority", .text, .text(""), noBundles),
        ]
        + durations("ble.stat.report", 86_400_000, "a heartbeat has the counts of the scan")
        + durations("cell.scan.interval", 50_000, "cellular networks are not scanned")
        + durations("location.min-interval", 30_000, "a position is told when there is one")
        + durations("location.fix-timeout", 15_000, "a satellite receiver is asked all the time")
        + ["cron", "core"].flatMap {
            durations("\($0).check-network", 30_000, "an upload is tried again until the network is there")
        }
        + ["", "-sec"].map {
            kept(
                "cron.ios-bt-refresh\($0)", .number(0...1e12), unit: "s", .number(300),
                "a radio that is lost is watched for, not asked")
        }

    /// What keys begin with that belong to the Nodle SDK alone; not all of them are published.
    private static let families = ["ble.eid.", "ble.stat.", "cell.", "dtn.", "id.", "iotee.", "nodle.", "wifi."]

    /// Why keys that are accepted for their family alone are of no effect.
    static let reasonOfFamily = "a key of the Nodle SDK that nothing here needs"

    /// Whether a key that is not in the list is accepted for its family, and is no slip in one that is in the list.
    func isKept(_ key: String) -> Bool {
        guard key.utf8.count <= 100, let family = Self.families.first(where: key.hasPrefix) else { return false }
        return !entries.contains { entry in
            entry.setting.key.hasPrefix(family) && EditDistance.between(entry.setting.key, key) <= 2
        }
    }

    private static let noBackground = "a service has no background"
    private static let noWaking = "a service has no background to be woken from by moving"
    private static let noBundles = "records go to a server of your own, not through a network of bundles"

    /// A duration in milliseconds, with and without its unit in the key.
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
    /// A value that is shown and has no effect, of whatever type it is.
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
