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
