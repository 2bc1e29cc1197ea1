import IndoorVocabulary

/// How long the device was carried, moved and left alone, and how far it came.
///
/// Time for which no sensor tells counts nowhere.
public struct MotionStatistics: Hashable, Sendable {
    /// Time that its carrier walked.
    public var walking = Duration.zero
    /// Time that it was moved on the spot.
    public var fidgeting = Duration.zero
    /// Time that it rested.
    public var stationary = Duration.zero
    /// Steps that were taken.
    public var steps = 0
    /// Metres that these steps make, along the way.
    public var distance = 0.0
    /// Metres that were climbed, by whatever means.
    public var ascent = 0.0
    /// Metres that were descended.
    public var descent = 0.0

    /// Creates statistics of nothing.
    public init() {}

    /// Time on the spot, moved or not.
    public var dwelling: Duration { fidgeting + stationary }

    /// Share of the time for which a kind of motion lasted, in [0, 1]; nil before any time has passed.
    public func share(of kind: MotionKind) -> Double? {
        let all = (walking + dwelling).seconds
        return all > 0 ? time(of: kind).seconds / all : nil
    }

    /// How long a kind of motion lasted.
    public func time(of kind: MotionKind) -> Duration {
        switch kind {
        case .walking: walking
        case .fidgeting: fidgeting
        case .stationary: stationary
        }
    }

    mutating func add(_ duration: Duration, of kind: MotionKind) {
        switch kind {
        case .walking: walking += duration
        case .fidgeting: fidgeting += duration
        case .stationary: stationary += duration
        }
    }
}
