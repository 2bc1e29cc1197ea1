import IndoorVocabulary

/// What a positioner is doing.
///
/// | from | to | when |
/// | --- | --- | --- |
/// | stopped | connecting | `connect()`, or what implies it |
/// | connecting | connected | the source of venues knows the floor plan's venue |
/// | connected | loading, ready | `prepare()`, or what implies it; then the venue's packet is there |
/// | ready | waitingForFix | `start()` |
/// | waitingForFix | positioning | the first position |
/// | positioning | buffering | nothing of the venue was heard for a while, or what is heard comes late |
/// | buffering | heavyBuffering | nothing was heard for longer still |
/// | heavyBuffering | buffering | one beacon is heard |
/// | buffering | positioning | beacons are heard in time |
/// | connecting, loading | reconnecting | the source of venues has failed; it is asked again after a pause |
/// | waitingForFix and beyond | reconnecting | the radio has failed, or tells that it does not hear |
/// | reconnecting | what it was doing | the source answers, or the radio hears |
/// | any | stopped | `stop()`, the end of the scan, or an error that cannot be survived |
public enum FloorPlanLocalizerState: Hashable, Sendable {
    /// Nothing happens; what ended the session, if that was an error.
    case stopped(LocalizationError?)
    /// The source of venues is asked for the first time.
    case connecting
    /// Something has failed and is tried again.
    case reconnecting(LocalizationError)
    /// The source knows the venue. A fix given now is where positioning will begin.
    case connected
    /// The venue's packet is on the way.
    case loading
    /// All is there to begin.
    case ready
    /// The radio scans; there was no position yet.
    case waitingForFix
    /// Positions are told.
    case positioning
    /// Positions are told, but rest on old news.
    case buffering
    /// The news are so old that no position is told.
    case heavyBuffering

    /// What made the positioner stop or connect anew; nil if nothing failed.
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

    /// Whether nothing happens.
    public var isStopped: Bool { if case .stopped = self { true } else { false } }
}
