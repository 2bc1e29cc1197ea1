import IndoorVocabulary

/// A scanner's settings, with their defaults.
///
/// By default, a scanner listens all the time. A ``DutyCycle`` saves power but delays events, because the scanner
/// measures silence only while the radio listens. With passes of 10 s in every 100 s and an exit timeout of 30 s, the
/// device leaves a region 210 s after its last beacon, and enters it up to 90 s after its first beacon. In a
/// ``SettingsStack``, the default duty cycle is 10 s of every 100 s; `ScanSchedule(stack)` uses it only if a source of
/// the settings has one, and is continuous otherwise.
public struct ScannerSettings: Hashable, Sendable {
    /// The duty cycle of the radio; by default, the radio scans all the time.
    public var dutyCycle = DutyCycle.continuous
    /// The scan timing within a pass; nil for the default of the source.
    ///
    /// Only a `TimedScanSource` uses it.
    public var timing: ScanTiming?
    /// The RSSI in dBm below which the scanner ignores sightings, in [-127, 0].
    public var rssiThreshold = -127.0
    /// The settings of regions.
    public var regions = RegionSettings()
    /// The settings of room changes.
    public var rooms = RoomSettings()
    /// The settings of ranging.
    public var ranging = Ranger.Settings()
    /// The pause before a failed scan starts again, above 0 s; it doubles with each failure, up to a minute.
    package var retryPause = Duration.seconds(2)

    /// Creates the settings with their defaults.
    public init() {}

    /// Creates the settings with a duty cycle.
    public init(dutyCycle: DutyCycle) { self.dutyCycle = dutyCycle }

    /// Creates the settings with duty cycle and timing of a power mode.
    public init(powerMode: PowerMode) {
        dutyCycle = powerMode.dutyCycle
        timing = powerMode.timing
    }

    /// The values that are out of range, each with its key, allowed range and value; empty if all are valid.
    ///
    /// A scanner with invalid settings reports a critical error when it is started, and does not scan.
    public var problems: [String] { Self.list.problems(in: self) }

    /// The error of a scanner with these settings; nil if they are valid.
    var error: LocalizationError? { LocalizationError(settingsProblems: problems) }
}

extension ScannerSettings {
    /// The list of the settings of a scanner.
    package static let list: [Setting<ScannerSettings>] = {
        var list: [Setting<ScannerSettings>] = DutyCycle.list.map { $0.within("dutyCycle", \.dutyCycle, .venue) }
        list += ScanTiming.list.map { $0.within("timing", optional: \.timing, standard: .whole) }
        list.append(thresholdSetting)
        list += RegionSettings.list.map { $0.within("regions", \.regions) }
        list += RoomSettings.list.map { $0.within("rooms", \.rooms) }
        list += Ranger.Settings.list.map { $0.within("ranging", \.ranging) }
        list.append(retrySetting)
        return list
    }()

    private static let thresholdSetting = Setting<ScannerSettings>.number(
        "rssiThreshold", \.rssiThreshold, in: -127...0, unit: "dBm", better: .smaller,
        "The scanner ignores sightings below this RSSI.")
    private static let retrySetting = Setting<ScannerSettings>.duration(
        "retryPause", \.retryPause, above: .zero,
        "The pause before a failed scan starts again; it doubles with each failure, up to a minute."
    ).expert(.estimate)
}
