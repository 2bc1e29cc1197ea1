import BeaconScanning
import IndoorRouting
import IndoorVocabulary

/// What all sources of settings come to: every setting of the package, in the structs that are used.
public struct ResolvedSettings: Hashable, Sendable {
    /// Of a session.
    public var localization: LocalizationSettings
    /// Of a scanner, or of a source that rests between passes: by default 10 s of every 100 s, unlike `ScannerSettings()`.
    public var scanner: ScannerSettings
    /// Of watched routes.
    public var routes: RouteMonitorSettings
    /// Of the pull of settings from a server.
    public var remote: RemotePullSettings
    /// Of the upload of what is heard and found.
    public var upload: UploadSettings
    /// Of the lines that say what a service has counted.
    public var heartbeat: HeartbeatSettings
    /// Of sharing with other devices.
    public var sharing = SharingSettings()

    /// Creates the settings, by default with their defaults.
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

    /// Every setting of the package, each once.
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
    /// Creates the schedule of settings: one endless pass if no source of the settings has a duty cycle.
    public init(_ settings: SettingsStack) {
        let scanner = settings.resolved.scanner
        self.init(
            cycle: settings.isGiven("scanner.dutyCycle.") ? scanner.dutyCycle : .continuous, timing: scanner.timing)
    }
}
