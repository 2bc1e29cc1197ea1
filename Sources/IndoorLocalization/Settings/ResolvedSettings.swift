/// What all sources of settings come to: every setting of the package, in the structs that are used.
public struct ResolvedSettings: Hashable, Sendable {
    /// Of a session.
    public var localization: LocalizationSettings
    /// Of a scanner, or of a source that rests between passes.
    public var scanner: ScannerSettings
    /// Of watched routes.
    public var routes: RouteMonitorSettings
    /// Of the pull of settings from a server.
    public var remote: RemotePullSettings
    /// Of sharing with other devices.
    public var sharing = SharingSettings()

    /// Creates the settings, by default with their defaults.
    public init(
        localization: LocalizationSettings = LocalizationSettings(), scanner: ScannerSettings = ScannerSettings(),
        routes: RouteMonitorSettings = RouteMonitorSettings(), remote: RemotePullSettings = RemotePullSettings()
    ) {
        self.localization = localization
        self.scanner = scanner
        self.routes = routes
        self.remote = remote
    }

    /// Every setting of the package, each once.
    package static let list: [Setting<ResolvedSettings>] =
        sessionList + scannerList + routeList + remoteList
        + SharingSettings.list.map { $0.within("sharing", \.sharing) }

    private static let sessionList: [Setting<ResolvedSettings>] =
        LocalizationSettings.list.map { $0.within("", \.localization) }
    private static let scannerList: [Setting<ResolvedSettings>] =
        ScannerSettings.list.map { $0.within("scanner", \.scanner) }
    private static let routeList: [Setting<ResolvedSettings>] =
        RouteMonitorSettings.list.map { $0.within("routes", \.routes, .venue) }
    private static let remoteList: [Setting<ResolvedSettings>] =
        RemotePullSettings.list.map { $0.within("remote", \.remote) }
}
