import BeaconScanning
import IndoorVocabulary

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
