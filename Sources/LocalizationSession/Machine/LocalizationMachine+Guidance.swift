import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

// Information from the caller: a position, the floor, an indoor lock.
extension LocalizationMachine {
    /// Whether satellite positions decide neither that the device is outdoors nor which venue it is in.
    var isLockedIndoors: Bool { lockedIndoors ?? settings.venueSearch.isLockedIndoors }

    /// The forced venue if the caller has submitted a position in it; the session then needs no beacon to enter it.
    var placedVenue: VenueID? {
        guard initialFix != nil, let forced = settings.forcedVenue, search.knows(forced) else { return nil }
        return forced
    }

    /// Keeps a fix as the starting point of the estimation, which hasn't begun yet.
    mutating func keep(_ fix: Fix) -> Transition {
        if let problem = fix.problem { return ignore(problem) }
        initialFix = fix
        fixOutcome = .kept
        return Transition(state: state)
    }

    private mutating func ignore(_ problem: FixError) -> Transition {
        fixOutcome = .ignored(problem)
        return Transition(state: state)
    }

    /// Handles a fix with the uncertainty of its radius, and keeps the outcome.
    mutating func submit(_ fix: Fix, at now: Instant) -> Transition {
        guard let venue = visit?.venue else {
            // A fix during the preparation keeps its place among the readings that the belief receives afterwards.
            if isPreparing, case .getPacket = state, fix.problem == nil {
                var fix = fix
                fix.instant = now
                recent.add(.fix(fix))
                fixOutcome = .kept
                return Transition(state: state)
            }
            let waiting = keep(fix)
            guard initialFix == fix, case .searchVenue = state, let forced = placedVenue else { return waiting }
            return fetch(forced, at: now)
        }
        if let problem = fix.problem(in: venue) { return ignore(problem) }
        let transition = observe(DecodedReading(fix), at: now)
        fixOutcome = visit?.belief.fixReception.map(FixOutcome.taken) ?? .ignored(.methodWithoutMemory)
        return transition
    }

    /// Locks the floor to a map, in this venue and in every other with a map of this number.
    mutating func lock(to map: MapID?) -> Transition {
        lockedMap = map
        visit?.lock(to: map)
        return Transition(state: state)
    }

    /// The current calibration of the device; nil without one.
    package var calibration: Calibration? { visit?.belief.calibration ?? earlierCalibration }
}

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
