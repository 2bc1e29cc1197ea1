/// Whether positions can be expected, and if not, whether that is likely to change by itself.
public enum ServiceStatus: String, Hashable, Sendable, CaseIterable {
    /// No session is on, and none will be until it is started.
    case stopped
    /// The session has ended with an error: nothing will come before the cause is gone and it is started anew.
    case outOfService
    /// What is needed of the venue cannot be fetched at present; it is asked for again.
    case unavailable
    /// The radio does not hear, or has failed; it is tried again. Other sensors may still be heard.
    case limited
    /// Nothing is in the way of positions, where there are beacons.
    case available
}

extension LocalizationMachine {
    /// Whether positions can be expected.
    package var serviceStatus: ServiceStatus {
        switch state {
        case .idle: .stopped
        case .error: .outOfService
        case .started, .searchVenue, .getPacket, .findFloor, .localizationRunning:
            if retryAt != nil { .unavailable } else { isDeaf || scan.resumeAt != nil ? .limited : .available }
        }
    }
}

extension FloorPlanLocalizerState {
    /// Whether positions can be expected.
    public var serviceStatus: ServiceStatus {
        switch self {
        case .stopped(nil): .stopped
        case .stopped: .outOfService
        case .reconnecting: .unavailable
        case .buffering, .heavyBuffering: .limited
        case .connecting, .connected, .loading, .ready, .waitingForFix, .positioning: .available
        }
    }
}
