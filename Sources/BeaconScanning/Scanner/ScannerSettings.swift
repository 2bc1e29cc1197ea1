import IndoorVocabulary

/// A scanner's settings, with their defaults.
///
/// A scanner of these defaults listens all the time. A ``DutyCycle`` saves power, and makes everything late: silence counts
/// only while the radio listens, so with 10 s of every 100 s, and an exit timeout of 30 s, a region is left 210 s after its
/// last beacon, and entered up to 90 s after its first one. Those of a ``SettingsStack`` have the duty cycle that its
/// keys say, by default 10 s of every 100 s: `ScanSchedule(stack)` tells whether anybody has given one, and is continuous
/// otherwise.
public struct ScannerSettings: Hashable, Sendable {
    /// When the radio scans: by default all the time.
    public var dutyCycle = DutyCycle.continuous
    /// How much of the time the radio listens while it scans; nil leaves that to the source.
    ///
    /// Of effect on a `TimedScanSource` alone.
    public var timing: ScanTiming?
    /// Beacons heard weaker than this are ignored, in dBm, in [-127, 0]; one exactly at the threshold is kept.
    public var rssiThreshold = -127.0
    /// When regions are entered and left.
    public var regions = RegionSettings()
    /// When a change of room is believed.
    public var rooms = RoomSettings()
    /// How distances are found.
    public var ranging = Ranger.Settings()
    /// The pause before a scan that failed is tried again, above 0 s; later ones double up to a minute.
    public var retryPause = Duration.seconds(2)

    /// Creates the settings with their defaults.
    public init() {}

    /// Creates the settings with a duty cycle.
    public init(dutyCycle: DutyCycle) { self.dutyCycle = dutyCycle }

    /// Creates the settings with duty cycle and timing of a power mode.
    public init(powerMode: PowerMode) {
        dutyCycle = powerMode.dutyCycle
        timing = powerMode.timing
    }

    /// What is out of range, each with its key, what is allowed and what was found; empty if all is well.
    ///
    /// A scanner with any of them reports a critical error as soon as it is started, and does not scan.
    public var problems: [String] { Self.list.problems(in: self) }

    /// The error of a scanner with these settings; nil if all is well.
    var error: LocalizationError? { LocalizationError(settingsProblems: problems) }
}

extension ScannerSettings {
    /// The settings of a scanner, each once.
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
        "Beacons heard weaker than this are ignored; one exactly at the threshold is kept.")
    private static let retrySetting = Setting<ScannerSettings>.duration(
        "retryPause", \.retryPause, above: .zero,
        "The pause before a scan that failed is tried again; later ones double up to a minute.")
}
