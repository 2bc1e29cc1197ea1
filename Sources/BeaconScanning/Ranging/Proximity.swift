/// A category of distance. The proximity of an unknown distance is nil.
public enum Proximity: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Less than half a metre.
    case immediate
    /// From half a metre to three metres, both included.
    case near
    /// More than three metres.
    case far

    /// Creates the proximity for a distance in metres.
    package init(meters: Double) {
        self = meters < 0.5 ? .immediate : meters <= 3 ? .near : .far
    }

    public static func < (left: Proximity, right: Proximity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .immediate: 0
        case .near: 1
        case .far: 2
        }
    }
}
