import IndoorVocabulary
import VenueModel

// A venue that satellites identified before the device has entered it. The session fetches the venue's packet and
// announces its data, but considers the device outdoors until a beacon or a position shows that it is inside.
extension LocalizationMachine {
    /// Replaces the states in directives by those that the session shows.
    ///
    /// - Parameter wasInFront: whether the device may have been in front of the venue before the event.
    mutating func show(_ directives: inout [Directive], wasInFront: Bool, at now: Instant) {
        if isInFront, hasEntered(at: now) { isInFront = false }
        if isInFront || wasInFront && state == .searchVenue {
            // The emitted state was `searchVenue` before the event, and still is.
            directives.removeAll { directive in
                if case .publish(let state) = directive { !state.isOver } else { false }
            }
        } else if let id = state.venueID, wasInFront {
            directives.insert(contentsOf: entrance(id, before: directives).map(Directive.publish), at: 0)
        }
    }

    /// Returns whether there is evidence that the device is in the venue: a position on its map, or one of its beacons
    /// or anchors, which recent satellite positions don't contradict.
    private func hasEntered(at now: Instant) -> Bool {
        if case .localizationRunning = state { return true }
        guard let id = state.venueID, detectedBy == .beacons else { return false }
        return !search.isContradicted(id, at: listened.instant(at: now))
    }

    /// Returns the states that the session has passed while the device was in front of the venue, up to the current
    /// one.
    private func entrance(_ id: VenueID, before directives: [Directive]) -> [LocalizationState] {
        let published = directives.compactMap { if case .publish(let state) = $0 { state } else { nil } }
        var states: [LocalizationState] = []
        switch state {
        case .getPacket(_, let progress): states = [.getPacket(venueID: id, progress: progress)]
        case .findFloor, .localizationRunning:
            states = [.getPacket(venueID: id, progress: 1)]
            if let venue = visit?.venue { states.append(.findFloor(venue)) }
        case .idle, .started, .searchVenue, .error: break
        }
        return states.filter { !published.contains($0) }
    }
}
