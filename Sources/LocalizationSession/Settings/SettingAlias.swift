import BeaconScanning
import IndoorVocabulary

/// Another name of a setting, perhaps in another unit.
package struct SettingAlias: Sendable {
    /// The other name.
    package let key: String
    /// The setting's own key.
    package let target: String
    /// What it may be, in its own unit.
    package let limits: SettingLimits
    package let unit: String
    /// What it reads as while nobody gives it; nil if as the setting itself does.
    package let unset: JSONValue?
    /// Whether what it stands for counts only where no program and no file gives it by its own key.
    package var yields = false
    /// Whether it counts only where the same source gives the setting by no other name.
    package var isSecondary = false
    /// From its own value to the setting's.
    let toTarget: @Sendable (SettingValue) -> SettingValue
    /// From the setting's value to its own.
    let fromTarget: @Sendable (SettingValue) -> SettingValue

    /// A duration in milliseconds.
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

    /// The same value by another name.
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

    /// The keys that configuration files of the Nodle SDK use.
    static let reference: [SettingAlias] =
        // Its two scanners, of all devices and of beacons alone, are one here.
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

    /// A power mode by its number; without one, the mode is 2 and the duty cycle what the other keys say.
    ///
    /// There, file and program give one tree, in which a mode changes what starts a scan and no key of `ble.scan`.
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
