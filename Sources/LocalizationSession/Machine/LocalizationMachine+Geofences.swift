import VenueModel

// The geofences of the application.
extension LocalizationMachine {
    /// The monitored geofences, in the order in which monitoring started.
    package var monitoredGeofences: [Geofence] { geofences.list }

    /// Changes the monitored geofences, with effect from the next position on, with or without a session.
    mutating func monitor(_ change: GeofenceChange) -> Transition {
        geofences.apply(change)
        return Transition(state: state)
    }
}

/// A change of the monitored geofences.
package enum GeofenceChange: Sendable {
    /// Start monitoring these geofences; each replaces one with the same identifier.
    case start([Geofence])
    /// Stop monitoring the geofences with these identifiers.
    case stop([String])
    /// Stop monitoring all geofences.
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
