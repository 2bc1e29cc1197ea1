/// The beacons that the engine tests against the others. See <doc:BeaconIntegrity>.
public enum TestedBeacons: String, Hashable, Sendable, CaseIterable {
    /// No beacon.
    case none
    /// Each beacon whose level the venue's survey measured. The other beacons are tested only for levels that are far
    /// too strong for the place: walls and bodies can weaken a signal, but nothing strengthens it much.
    case surveyed
    /// Every beacon. Without a survey, the test also reports healthy beacons: their levels can differ from the
    /// path-loss law by as much as a change of power makes.
    case all

    /// The extent of the test of one beacon.
    enum Extent { case nothing, excess, everything }

    /// Returns the extent of the test of a beacon with or without a survey.
    func extent(isSurveyed: Bool) -> Extent {
        switch self {
        case .none: .nothing
        case .surveyed: isSurveyed ? .everything : .excess
        case .all: .everything
        }
    }
}
