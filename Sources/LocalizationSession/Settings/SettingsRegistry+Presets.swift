import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

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
