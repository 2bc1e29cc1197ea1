import VenueModel

// Fences that the application draws while a session may be on.
extension LocalizationMachine {
    /// The geofences that are watched, in the order in which they were started.
    package var monitoredGeofences: [Geofence] { geofences.list }

    /// Watches other geofences from the next position on; whether a session is on makes no difference.
    mutating func monitor(_ change: GeofenceChange) -> Transition {
        geofences.apply(change)
        return Transition(state: state)
    }
}

/// What the application wants to be watched.
package enum GeofenceChange: Sendable {
    /// These too, each in place of one with the same identifier.
    case start([Geofence])
    /// These no more.
    case stop([String])
    /// None.
    case stopAll
}

extension MonitoredGeofences {
    mutating func apply(_ change: GeofenceChange) {
        switch change {
        case .start(let fences): start(fences)
        case .stop(let ids): stop(ids)
        case .stopAll: stopAll()
        }
    }
}
