import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

// What somebody outside knows better: a place, the floor, that the device is indoors.
extension LocalizationMachine {
    /// Whether satellites cannot tell that the device is outdoors, nor which venue it is in.
    var isLockedIndoors: Bool { lockedIndoors ?? settings.venueSearch.isLockedIndoors }

    /// The forced venue, if somebody says where in it the device is: then it need not be heard first.
    var placedVenue: VenueID? {
        guard initialFix != nil, let forced = settings.forcedVenue, search.knows(forced) else { return nil }
        return forced
    }

    /// Nothing locates yet: the place is where it will begin.
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

    /// Believes a place as far as its radius says, and keeps how far that was.
    mutating func submit(_ fix: Fix, at now: Instant) -> Transition {
        guard let venue = visit?.venue else {
            let waiting = keep(fix)
            guard initialFix == fix, case .searchVenue = state, let forced = placedVenue else { return waiting }
            return fetch(forced, at: now)
        }
        if let problem = fix.problem(in: venue) { return ignore(problem) }
        let transition = observe(DecodedReading(fix), at: now)
        fixOutcome = visit?.belief.fixReception.map(FixOutcome.taken) ?? .ignored(.methodWithoutMemory)
        return transition
    }

    /// Keeps the device on a map, in this venue and in each that has a map of that number.
    mutating func lock(to map: MapID?) -> Transition {
        lockedMap = map
        visit?.lock(to: map)
        return Transition(state: state)
    }

    /// What is known of the device now; nil if nothing was learned.
    package var calibration: Calibration? { visit?.belief.calibration ?? earlierCalibration }
}
