import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

// Another edition of the venue's packet, such as one with a new radio map.
extension LocalizationMachine {
    /// Begins to use another edition of the current venue, which the venue source delivers from now on.
    ///
    /// The session locates the device with the earlier edition until the belief of the new one is prepared. In another venue,
    /// and without one, nothing changes: the next visit uses what the source delivers then.
    mutating func renew(_ venue: Venue, at now: Instant) -> Transition {
        guard venue.id == state.venueID else { return Transition(state: state) }
        // The packet that was requested or is being prepared can be the earlier edition.
        guard visit != nil else {
            let fetching = fetch(venue.id, at: now)
            return Transition(state: fetching.state, directives: [.cancelFetch] + fetching.directives)
        }
        let preparation = BeliefPreparation(
            venue: venue, settings: stack.resolved(in: venue).localization.positioning, readings: recent.readings,
            mapID: visit?.floor.map)
        renewing = venue
        guard preparesApart else {
            return replaceVisit(by: preparation, preparation.run(makeBelief, makesTables: false), at: now)
        }
        return Transition(state: state, directives: [.prepareBelief(preparation)])
    }

    /// Handles the prepared belief of another edition. The new visit begins where the earlier one was, in its rooms and fences.
    ///
    /// Interactions with beacons and points of interest end, and begin again.
    mutating func replaceVisit(
        by preparation: BeliefPreparation, _ result: Result<Belief, LocalizationError>, at now: Instant
    ) -> Transition {
        // The result can be that of a visit that has ended, or of an edition that another one has replaced meanwhile.
        guard let venue = renewing, venue == preparation.venue, var earlier = visit, earlier.venue.id == venue.id else {
            return Transition(state: state)
        }
        renewing = nil
        let belief: Belief
        switch result {
        case .success(let made): belief = made
        case .failure(var error):
            // The earlier edition is still usable.
            if error.endsSession { error.code = .generic }
            return Transition(state: state, directives: [.report(error)])
        }
        guard stack.resolved(in: venue).localization.positioning == preparation.settings else {
            return renew(venue, at: now)
        }
        keepLevels()
        var stay = earlier.memory(at: now)
        stay.venueVersion = venue.version
        let left = earlier.interactions.leaveAll(at: now, []).map(Directive.emitInteraction)
        earlierCalibration = calibration
        addresses.learn(venue)
        let problems = useSettings(of: venue)
        var visit = newVisit(of: venue, belief, since: earlier.since)
        visit.begin(with: stay, of: now, timeout: settings.memoryTimeout, watching: geofences)
        visit.lock(to: lockedMap)
        self.visit = visit
        wakeAt = now
        let next = LocalizationState.findFloor(venue)
        return Transition(state: next, directives: left + problems + reschedule() + [.publish(next)])
    }
}
