/// The availability of positions.
public enum ServiceStatus: String, Hashable, Sendable, CaseIterable {
    /// No session is running; start one to receive positions.
    case stopped
    /// The session ended with an error. Remove the cause and start it again.
    case outOfService
    /// The venue's data can't be fetched at the moment; the session retries.
    case unavailable
    /// The radio receives nothing or has failed; the session retries. Other sensors may still deliver readings.
    case limited
    /// The session can locate the device wherever there are beacons.
    case available
}

extension LocalizationMachine {
    /// The availability of positions.
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
    /// The availability of positions in this state.
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
