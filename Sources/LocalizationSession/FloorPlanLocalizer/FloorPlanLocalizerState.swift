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
