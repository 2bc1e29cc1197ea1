import BeaconScanning
import IndoorRouting
import IndoorVocabulary

/// The resolved settings of the package: the combined result of all sources.
public struct ResolvedSettings: Hashable, Sendable {
    /// The settings of a session.
    public var localization: LocalizationSettings
    /// The settings of a scanner or a duty-cycled source. The default is 10 s of every 100 s, unlike in
    /// `ScannerSettings()`.
    public var scanner: ScannerSettings
    /// The settings of watched routes.
    public var routes: RouteMonitorSettings
    /// The settings of requests to a settings server.
    public var remote: RemotePullSettings
    /// The settings for the upload of sightings and positions.
    public var upload: UploadSettings
    /// The settings of a service's heartbeats.
    public var heartbeat: HeartbeatSettings
    /// The settings for sharing with other devices.
    public var sharing = SharingSettings()

    /// Creates resolved settings. Each argument defaults to the default settings.
    public init(
        localization: LocalizationSettings = LocalizationSettings(),
        scanner: ScannerSettings = ScannerSettings(dutyCycle: DutyCycle()),
        routes: RouteMonitorSettings = RouteMonitorSettings(), remote: RemotePullSettings = RemotePullSettings(),
        upload: UploadSettings = UploadSettings(), heartbeat: HeartbeatSettings = HeartbeatSettings()
    ) {
        self.localization = localization
        self.scanner = scanner
        self.routes = routes
        self.remote = remote
        self.upload = upload
        self.heartbeat = heartbeat
    }

    /// All settings of the package. Each occurs once.
    package static let list: [Setting<ResolvedSettings>] =
        sessionList + scannerList + routeList + remoteList + uploadList + heartbeatList
        + SharingSettings.list.map { $0.within("sharing", \.sharing) }

    private static let sessionList: [Setting<ResolvedSettings>] =
        LocalizationSettings.list.map { $0.within("", \.localization) }
    private static let scannerList: [Setting<ResolvedSettings>] =
        ScannerSettings.list.map { $0.within("scanner", \.scanner) }
    private static let routeList: [Setting<ResolvedSettings>] =
        RouteMonitorSettings.list.map { $0.within("routes", \.routes, .venue) }
    private static let remoteList: [Setting<ResolvedSettings>] =
        RemotePullSettings.list.map { $0.within("remote", \.remote) }
    private static let uploadList: [Setting<ResolvedSettings>] =
        UploadSettings.list.map { $0.within("upload", \.upload) }
    private static let heartbeatList: [Setting<ResolvedSettings>] =
        HeartbeatSettings.list.map { $0.within("heartbeat", \.heartbeat) }
}

extension ScanSchedule {
    /// Creates the schedule from settings. Without a duty cycle in any source, the schedule is one continuous pass.
    public init(_ settings: SettingsStack) {
        let scanner = settings.resolved.scanner
        self.init(
            cycle: settings.isGiven("scanner.dutyCycle.") ? scanner.dutyCycle : .continuous, timing: scanner.timing)
    }
}

/// Settings for the heartbeats of a service, which log its counters.
public struct HeartbeatSettings: Hashable, Sendable {
    /// The time between two heartbeats, which log the counters of `indoorloc serve`, from 0 s to a day; 0 disables
    /// them.
    public var interval = Duration.seconds(60)
    /// The number of stored heartbeats, in [0, 1,000,000].
    public var history = 100

    /// Creates the settings with their defaults.
    public init() {}

    /// The settings that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "heartbeat.") }

    /// The settings of heartbeats.
    package static let list: [Setting<HeartbeatSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "The time between two heartbeats, which log the counters of `indoorloc serve`; 0 disables them."),
        .wholeNumber("history", \.history, in: 0...1_000_000, better: .greater, "The number of stored heartbeats."),
    ]
}

/// Settings for sharing positions; nil leaves a value to the program.
public struct SharingSettings: Hashable, Sendable {
    /// The address of the broker, `mqtt[s]://[USER@]HOST[:PORT]`; used by the command line without `--share`.
    public var host: String?
    /// The room that the device joins, in addition to those of a ``PositionSharingPlugin``. The command line uses it
    /// together with `host`.
    public var room: String?
    /// The time between two positions that a ``PositionSharingPlugin`` shares, from 0 s to a day; 0 shares all.
    public var interval: Duration?

    /// Creates settings that leave all values to the program.
    public init() {}
}

extension SharingSettings {
    /// The settings for sharing.
    package static let list: [Setting<SharingSettings>] = [
        text(
            "host", \.host,
            "The address of the broker, `mqtt[s]://[USER@]HOST[:PORT]`; used by the command line without `--share`."),
        text("room", \.room, "The room that the device joins."),
        Setting(
            key: "interval",
            limits: .duration(.zero, isOpen: false, SettingLimits.longest), unit: "s", isOptional: true,
            preference: .smaller, scope: .session,
            summary: "The time between two positions that the device shares; 0 shares all.",
            read: { $0.interval.map(SettingValue.duration) ?? .none },
            write: { settings, value in
                if case .duration(let interval) = value {
                    settings.interval = interval
                } else {
                    settings.interval = nil
                }
            },
            dependentLimits: nil),
    ]

    private static func text(
        _ key: String, _ path: WritableKeyPath<SharingSettings, String?> & Sendable, _ summary: String
    ) -> Setting<SharingSettings> {
        Setting(
            key: key, limits: .text, unit: "", isOptional: true, preference: nil, scope: .session, summary: summary,
            read: { $0[keyPath: path].map(SettingValue.text) ?? .none },
            write: { settings, value in
                if case .text(let text) = value {
                    settings[keyPath: path] = text
                } else {
                    settings[keyPath: path] = nil
                }
            },
            dependentLimits: nil)
    }
}

/// Settings for the upload of sightings and positions.
public struct UploadSettings: Hashable, Sendable {
    /// Whether sightings of beacons are uploaded.
    public var beacons = false
    /// Whether positions are uploaded, including outdoor positions.
    public var positions = false
    /// The time from the first record of a batch to its upload, from 0.1 s to a day.
    public var interval = Duration.seconds(60)
    /// The number of records at which a batch is uploaded immediately, in [1, 10,000].
    package var batchSize = 500
    /// The maximum number of records that wait for the network, in [1, 10,000,000]; when exceeded, the oldest are
    /// dropped and counted.
    public var queueSize = 100_000
    /// The minimum time between two records of one beacon, from 0 s to a day; 0 keeps every sighting.
    public var beaconInterval = Duration.seconds(1)
    /// The minimum time between two records of positions, from 0 s to a day; 0 keeps every position.
    public var positionInterval = Duration.seconds(1)
    /// The pause before the first retry of a failed batch, above 0 s; it doubles up to one minute.
    package var retryPause = Duration.seconds(5)

    /// Creates the default settings, with which nothing is uploaded.
    public init() {}

    /// Whether anything is uploaded.
    package var isOn: Bool { beacons || positions }

    /// The settings that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "upload.") }

    /// The settings of the upload.
    package static let list: [Setting<UploadSettings>] = [
        .flag("beacons", \.beacons, "Whether sightings of beacons are uploaded."),
        .flag("positions", \.positions, "Whether positions are uploaded, including outdoor positions."),
        .duration(
            "interval", \.interval, from: .milliseconds(100), better: .smaller,
            "The time from the first record of a batch to its upload."),
        .wholeNumber(
            "batchSize", \.batchSize, in: 1...10_000,
            "The number of records at which a batch is uploaded immediately."
        ).expert(.estimate),
        .wholeNumber(
            "queueSize", \.queueSize, in: 1...10_000_000, better: .greater,
            "The maximum number of records that wait for the network; the oldest are dropped and counted."),
        .duration(
            "beaconInterval", \.beaconInterval, from: .zero, better: .smaller,
            "The minimum time between two records of one beacon; 0 keeps every sighting."),
        .duration(
            "positionInterval", \.positionInterval, from: .zero, better: .smaller,
            "The minimum time between two records of positions; 0 keeps every position."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The pause before the first retry of a failed batch; it doubles up to one minute."
        ).expert(.estimate),
    ]
}
