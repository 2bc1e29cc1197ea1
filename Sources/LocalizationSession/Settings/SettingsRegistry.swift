import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

/// The list of all settings, used by range checks, JSON reading, the reference page and `config show`.
package struct SettingsRegistry: Sendable {
    /// A setting and its role.
    package struct Entry: Sendable {
        package let setting: Setting<ResolvedSettings>
        package let role: Role

        /// Whether the setting is for users: it is no expert setting, and has an effect.
        package var isPublic: Bool {
            if case .kept = role { false } else { setting.stability == .stable }
        }
    }

    /// The effect of setting a value.
    package enum Role: Sendable {
        /// The value is stored in its struct.
        case held
        /// The value sets several other settings, which the same source can still override individually.
        case preset(@Sendable (SettingValue) -> [PresetValue])
        /// The value is accepted and listed but has no effect, with its default value and the reason.
        case kept(SettingValue, reason: String)
    }

    /// One of the values of a preset.
    package struct PresetValue: Sendable {
        package let key: String
        package let value: SettingValue
        /// Settings that conflict with the value. The value doesn't apply if one of them is set.
        package var contraries: [String] = []
    }

    /// A value accepted by the registry.
    package struct Accepted: Hashable, Sendable {
        /// The key of the setting, also if an alias was used.
        package var key: String
        package var value: SettingValue
        /// Whether individual keys in the file take precedence, as for a preset set through an alias of the Nodle SDK.
        package var yieldsToSingleKeys = false
    }

    /// The settings, in the order of the reference page.
    package let entries: [Entry]
    /// The aliases.
    package let aliases: [SettingAlias]
    private let indexes: [String: Int]
    private let aliasIndexes: [String: Int]

    /// All settings of the package.
    package static let standard = SettingsRegistry(
        entries: presets + ResolvedSettings.list.map { Entry(setting: $0, role: .held) } + keptSettings,
        aliases: SettingAlias.reference + SettingAlias.earlier)

    package init(entries: [Entry], aliases: [SettingAlias]) {
        self.entries = entries
        self.aliases = aliases
        indexes = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.setting.key, $0) })
        aliasIndexes = Dictionary(uniqueKeysWithValues: aliases.enumerated().map { ($1.key, $0) })
    }

    /// Returns the setting with a key; nil if there is none.
    package func entry(_ key: String) -> Entry? { indexes[key].map { entries[$0] } }

    /// Returns whether a key, or the setting of an alias, is an expert setting.
    package func isExpert(_ key: String) -> Bool {
        entry(alias(key)?.target ?? key)?.setting.stability.origin != nil
    }

    /// Returns the alias with a key; nil if there is none.
    package func alias(_ key: String) -> SettingAlias? { aliasIndexes[key].map { aliases[$0] } }

    /// Checks and converts an entry from a source.
    ///
    /// - Throws: `SettingsProblem` if there is no such setting, if the source isn't allowed to set it, or if the value
    ///   is wrong.
    package func accept(_ given: SettingsEntry, from source: SettingsSource) throws(SettingsProblem) -> Accepted {
        func problem(_ reason: SettingsProblem.Reason) -> SettingsProblem {
            SettingsProblem(key: given.key, reason: reason, source: source, place: given.place)
        }
        let alias = alias(given.key)
        guard let entry = entry(alias?.target ?? given.key) else {
            if source != .venue, isKept(given.key) {
                return Accepted(key: given.key, value: SettingValue(kept: given.value))
            }
            throw problem(.unknownKey(nearest: nearestKey(to: given.key)))
        }
        let setting = entry.setting
        guard source != .default, source != .venue || setting.scope == .venue else { throw problem(.notAllowed) }
        if given.value == .null, setting.isOptional { return Accepted(key: setting.key, value: .none) }
        let limits = alias?.limits ?? setting.limits
        let unit = alias?.unit ?? setting.unit
        let allowed = limits.allowed(unit: unit)
        guard let value = limits.value(given.value) else {
            let wanted = limits.isNumber ? "a \(limits.typeName) \(allowed)" : allowed
            throw problem(.wrongType(wanted: wanted, found: given.value.summary))
        }
        guard limits.contains(value) else { throw problem(.outOfRange(allowed: allowed, found: given.value.summary)) }
        return Accepted(
            key: setting.key, value: alias?.toTarget(value) ?? value, yieldsToSingleKeys: alias?.yields ?? false)
    }

    /// Returns the most similar valid key; nil if none is similar.
    package func nearestKey(to key: String) -> String? {
        EditDistance.nearestKey(to: key, among: entries.map(\.setting.key) + aliases.map(\.key))
    }
}

extension SettingsRegistry {
    /// Keys of the Nodle SDK's configuration that have no effect in this package. Files with these keys are accepted,
    /// and the keys are listed.
    static let keptSettings: [Entry] = keptSingly + keptDurations + keptRefreshes

    private static let keptSingly: [Entry] = [
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

    private static let keptDurations: [Entry] = [
        durations("ble.stat.report", 86_400_000, "heartbeats contain the counters of the scan"),
        durations("cell.scan.interval", 50_000, "the package does not scan cellular networks"),
        durations("location.min-interval", 30_000, "positions are emitted as soon as they are available"),
        durations("location.fix-timeout", 15_000, "the satellite receiver runs continuously"),
        durations("cron.check-network", 30_000, "uploads are retried until the network is available"),
        durations("core.check-network", 30_000, "uploads are retried until the network is available"),
    ].flatMap { $0 }

    private static let keptRefreshes: [Entry] = ["", "-sec"].map {
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

extension SettingsRegistry {
    /// The presets, which set several other settings.
    static let presets: [Entry] = [
        Entry(
            setting: Setting(
                key: "positioning.particleFilter", limits: .flag, unit: "", isOptional: true,
                preference: .later(["false", "true"]), scope: .venue,
                summary: """
                    A shorthand for `positioning.method`: `true` is `particle`, `false` is `fingerprint`. A \
                    method from the same source takes precedence.
                    """,
                read: { _ in .none }, write: { _, _ in }, dependentLimits: nil),
            role: .preset { value in
                guard case .flag(let isOn) = value else { return [] }
                let method = isOn ? PositioningMethod.particle : .fingerprint
                return [SettingsRegistry.PresetValue(key: "positioning.method", value: .text(method.rawValue))]
            }),
        Entry(
            setting: Setting(
                key: "scanner.powerMode", limits: .choice(PowerMode.allCases.map(\.name)), unit: "", isOptional: true,
                preference: .later([PowerMode.eco, .normal, .aggressive, .none].map(\.name)), scope: .venue,
                summary: """
                    A shorthand for `scanner.dutyCycle` and `scanner.timing`: the power consumption of the radio. \
                    Individual settings from the same source take precedence; with a duration or an interval, the \
                    scan has pauses.
                    """,
                read: { _ in .none }, write: { _, _ in }, dependentLimits: nil),
            role: .preset { value in
                guard case .text(let name) = value, let mode = PowerMode.allCases.first(where: { $0.name == name })
                else { return [] }
                return mode.settings
            }),
    ]
}

extension PowerMode {
    /// The name of the mode in configuration files.
    package var name: String { "\(self)" }

    /// The settings of the mode.
    fileprivate var settings: [SettingsRegistry.PresetValue] {
        let passes = ["scanDuration", "interval", "intervalFactor"].map { "scanner.dutyCycle.\($0)" }
        let cycle = DutyCycle.list.map { setting in
            SettingsRegistry.PresetValue(
                key: "scanner.dutyCycle.\(setting.key)", value: setting.read(dutyCycle),
                contraries: setting.key == "isContinuous" ? passes : [])
        }
        let radio = ScanTiming.list.map {
            SettingsRegistry.PresetValue(key: "scanner.timing.\($0.key)", value: $0.read(timing))
        }
        return cycle + radio
    }
}

/// An alternative key of a setting, optionally in another unit.
package struct SettingAlias: Sendable {
    /// The alternative key.
    package let key: String
    /// The key of the setting.
    package let target: String
    /// The valid values, in the unit of the alias.
    package let limits: SettingLimits
    package let unit: String
    /// The value of the alias when no source sets it; nil for the value of the setting.
    package let unset: JSONValue?
    /// Whether its value applies only if neither the program nor a file sets the settings by their own keys.
    package var yields = false
    /// Whether its value applies only if the same source sets the setting by no other key.
    package var isSecondary = false
    /// Converts a value of the alias to a value of the setting.
    let toTarget: @Sendable (SettingValue) -> SettingValue
    /// Converts a value of the setting to a value of the alias.
    let fromTarget: @Sendable (SettingValue) -> SettingValue

    /// Returns an alias in milliseconds for a duration.
    static func milliseconds(
        _ key: String, _ target: String, in range: ClosedRange<Double>, isSecondary: Bool = false
    ) -> SettingAlias {
        SettingAlias(
            key: key, target: target, limits: .number(range), unit: "ms", unset: nil, isSecondary: isSecondary,
            toTarget: { value in
                guard case .number(let number) = value else { return value }
                return .duration(.nanoseconds(Int64((number * 1e6).rounded())))
            },
            fromTarget: { value in
                guard case .duration(let duration) = value else { return value }
                return .number(Double(duration.nanoseconds) / 1e6)
            })
    }

    /// Returns an alias with the same value.
    static func same(
        _ key: String, _ target: String, _ limits: SettingLimits, isSecondary: Bool = false
    ) -> SettingAlias {
        SettingAlias(
            key: key, target: target, limits: limits, unit: "", unset: nil, isSecondary: isSecondary,
            toTarget: { $0 }, fromTarget: { $0 })
    }
}

extension SettingAlias {
    /// Keys of earlier versions of this package.
    static let earlier: [SettingAlias] = [
        same("positioning.lookInterval", "positioning.globalUpdateInterval", .number(0.1...60)),
        same("positioning.radiusDoubt", "positioning.radiusInflation", .number(0...100)),
    ]

    /// The keys of the Nodle SDK's configuration files.
    static let reference: [SettingAlias] =
        // The Nodle SDK has separate scanners for all devices and for beacons; this package has one scanner.
        ["", "-ios-cl"].flatMap { kind in
            [
                milliseconds(
                    "ble.scan.duration\(kind)-msec", "scanner.dutyCycle.scanDuration", in: 10...86_400_000,
                    isSecondary: !kind.isEmpty),
                milliseconds(
                    "ble.scan.interval\(kind)-msec", "scanner.dutyCycle.interval", in: 0...86_400_000,
                    isSecondary: !kind.isEmpty),
                same(
                    "ble.scan.interval\(kind)-x-factor", "scanner.dutyCycle.intervalFactor", .number(0...1000),
                    isSecondary: !kind.isEmpty),
            ]
        } + [
            same("cron.ios-infinite-scan", "scanner.dutyCycle.isContinuous", .flag),
            powerModeNumber,
            same("core.heartbeat.history", "heartbeat.history", .wholeNumber(0...1_000_000)),
        ]
        + ["cron", "core"].map {
            milliseconds(
                "\($0).pull-config-interval-msec", "remote.interval", in: 1000...86_400_000, isSecondary: $0 != "cron")
        }
        + ["", "-msec", "-interval-msec"].map {
            milliseconds(
                "cron.check-heartbeat\($0)", "heartbeat.interval", in: 0...86_400_000, isSecondary: !$0.isEmpty)
        }

    /// A power mode by its number. If unset, the mode is 2 and the other keys determine the duty cycle.
    ///
    /// In the Nodle SDK, file and program share one tree, and a mode changes the trigger of scans but no `ble.scan`
    /// key.
    private static let powerModeNumber = SettingAlias(
        key: "cron.ios-bg-mode", target: "scanner.powerMode", limits: .wholeNumber(0...3), unit: "", unset: .number(2),
        yields: true,
        toTarget: { value in
            guard case .number(let number) = value, let mode = Int(exactly: number).flatMap(PowerMode.init(rawValue:))
            else { return value }
            return .text(mode.name)
        },
        fromTarget: { value in
            guard case .text(let name) = value, let mode = PowerMode.allCases.first(where: { $0.name == name })
            else { return value }
            return .number(Double(mode.rawValue))
        })
}
