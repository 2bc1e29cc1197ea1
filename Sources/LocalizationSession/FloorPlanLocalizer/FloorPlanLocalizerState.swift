import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

/// The state of a floor plan localizer.
///
/// | from | to | when |
/// | --- | --- | --- |
/// | stopped | connecting | `connect()`, `prepare()` or `start()` |
/// | connecting | connected | the venue source has the floor plan's venue |
/// | connected | loading | `prepare()` or `start()` |
/// | loading | ready | the venue's packet has arrived and the session is prepared |
/// | ready | waitingForFix | `start()` |
/// | waitingForFix | positioning | the first position |
/// | positioning | buffering | no beacon of the venue was received for `bufferingAfter`, or readings arrive that late |
/// | buffering | heavyBuffering | no beacon of the venue was received for `heavyBufferingAfter` |
/// | heavyBuffering | buffering | one beacon is received |
/// | buffering | positioning | beacons are received without delay |
/// | connecting, loading | reconnecting | the venue source has failed; the localizer retries after a pause |
/// | waitingForFix and later states | reconnecting | the radio has failed, or reports that it receives nothing |
/// | reconnecting | the state before | the venue source answers, or the radio receives |
/// | any | stopped | `stop()`, the end of the scan, or a fatal error |
public enum FloorPlanLocalizerState: Hashable, Sendable {
    /// No session is running; contains the error if one ended the session.
    case stopped(LocalizationError?)
    /// The localizer sends the first request to the venue source.
    case connecting
    /// The venue source or the radio has failed; the localizer retries.
    case reconnecting(LocalizationError)
    /// The venue source has the venue. A fix submitted now is the starting point of positioning.
    case connected
    /// The localizer fetches the venue's packet.
    case loading
    /// The session is prepared and can start.
    case ready
    /// The radio scans, but there is no position yet.
    case waitingForFix
    /// The localizer emits positions.
    case positioning
    /// The localizer emits positions that are based on old readings.
    case buffering
    /// The readings are too old for a position.
    case heavyBuffering

    /// The error that made the localizer stop or reconnect; nil without one.
    public var error: LocalizationError? {
        switch self {
        case .stopped(let error): error
        case .reconnecting(let error): error
        case .connecting, .connected, .loading, .ready, .waitingForFix, .positioning, .buffering, .heavyBuffering: nil
        }
    }

    /// The state's name: `stopped`, `connecting`, ….
    public var name: String {
        switch self {
        case .stopped: "stopped"
        case .connecting: "connecting"
        case .reconnecting: "reconnecting"
        case .connected: "connected"
        case .loading: "loading"
        case .ready: "ready"
        case .waitingForFix: "waitingForFix"
        case .positioning: "positioning"
        case .buffering: "buffering"
        case .heavyBuffering: "heavyBuffering"
        }
    }

    /// Whether no session is running.
    package var isStopped: Bool { if case .stopped = self { true } else { false } }
}

/// The parameters of a floor plan localizer's session.
public struct FloorPlanLocalizerParameters: Hashable, Sendable {
    /// The carrier of the device; nil for the motion model of the settings.
    public var motionMode: MotionMode?
    /// The trade-off between accuracy and power consumption.
    public var desiredAccuracy = DesiredAccuracy.best
    /// The filter of the emitted positions; nil for the filter of the settings, which by default emits all positions.
    public var filter: PositionFilter?
    /// Whether the session ignores satellite positions as evidence that the device is outdoors.
    public var isLockedIndoors = true
    /// The silence, or the delay of the readings, after which the state is `buffering`; above 0 s.
    public var bufferingAfter = Duration.seconds(3)
    /// The silence after which the state is `heavyBuffering`; at least `bufferingAfter`.
    public var heavyBufferingAfter = Duration.seconds(10)

    /// Creates parameters with their defaults.
    public init() {}

    /// Creates parameters for a carrier of the device.
    public init(motionMode: MotionMode) { self.motionMode = motionMode }

    /// Returns the settings of a session on a floor plan, with these parameters on top of other settings.
    func settings(_ base: LocalizationSettings, venue: VenueID) -> SettingsStack {
        var settings = base
        settings.forcedVenue = venue
        if desiredAccuracy == .bestForCart { desiredAccuracy.adjust(&settings) }
        if let motionMode { settings.positioning.motion = MotionModel(motionMode) }
        if let filter { settings.positionFilter = filter }
        settings.venueSearch.isLockedIndoors = isLockedIndoors
        guard desiredAccuracy == .low else { return SettingsStack(localization: settings) }
        DesiredAccuracy.low.adjust(&settings)
        return SettingsStack(localization: settings, scanner: ScannerSettings(powerMode: .aggressive))
    }

    /// The parameters that are out of range; empty if all are valid.
    var problems: [String] {
        guard bufferingAfter > .zero, heavyBufferingAfter >= bufferingAfter else {
            return ["bufferingAfter must be above 0 s and at most heavyBufferingAfter"]
        }
        return []
    }
}
