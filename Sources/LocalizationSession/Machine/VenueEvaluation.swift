/// The evidence that identified the venue.
public enum VenueDetection: String, Hashable, Sendable, CaseIterable {
    /// The source received beacons of the venue.
    case beacons
    /// Satellite positions lie in or near the venue, and the source hasn't received any of its beacons yet. The device
    /// may be in front of the building, so the session stays in `searchVenue`.
    case satellites
}

/// The state of a session, and the evidence that identified the venue.
///
/// In the state `searchVenue`, the evidence `.satellites` means that satellites have identified a venue.
/// ``Localizer/downloadedVenues`` emits its data, and the device may be in front of the building. In the states with a
/// venue, the device is inside.
public struct VenueEvaluation: Hashable, Sendable {
    /// The state of the session.
    public var state: LocalizationState
    /// The evidence that identified the venue; nil while no venue is known, and if the caller has set the venue.
    public var detection: VenueDetection?

    /// Creates an evaluation.
    package init(state: LocalizationState, detection: VenueDetection? = nil) {
        self.state = state
        self.detection = detection
    }
}
