/// The beacons that the engine tests against the others. See <doc:BeaconIntegrity>.
public enum TestedBeacons: String, Hashable, Sendable, CaseIterable {
    /// No beacon.
    case none
    /// Each beacon whose level the venue's survey measured.
    case surveyed
    /// Every beacon. Without a survey, the test names healthy beacons too: their levels differ from the path-loss law by as
    /// much as a change of power does.
    case all

    /// Returns whether the choice includes a beacon, or a venue, with or without a survey.
    func includes(isSurveyed: Bool) -> Bool {
        switch self {
        case .none: false
        case .surveyed: isSurveyed
        case .all: true
        }
    }
}
