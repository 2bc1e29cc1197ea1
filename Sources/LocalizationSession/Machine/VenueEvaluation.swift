/// What has told which venue this is.
public enum VenueDetection: String, Hashable, Sendable, CaseIterable {
    /// Beacons of the venue are heard.
    case beacons
    /// Satellites see the device in the venue or near to it, and none of its beacons was heard yet.
    case satellites
}

/// What a session is doing, and what has told which venue this is.
///
/// In the state `findFloor` this is the question whether the device is indoors at all: with `.satellites` it may stand in
/// front of the building, with `.beacons` it is in it.
public struct VenueEvaluation: Hashable, Sendable {
    /// What the session is doing.
    public var state: LocalizationState
    /// What has told the venue; nil while none is known, and where it was given from outside.
    public var detection: VenueDetection?

    /// Creates an evaluation.
    public init(state: LocalizationState, detection: VenueDetection? = nil) {
        self.state = state
        self.detection = detection
    }
}
