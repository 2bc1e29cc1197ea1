import IndoorVocabulary

/// The times, steps and distances of a device's motion.
///
/// Times without sensor readings are not included.
public struct MotionStatistics: Hashable, Sendable {
    /// The time that the carrier walked.
    public var walking = Duration.zero
    /// The time that the device was moved without walking.
    public var fidgeting = Duration.zero
    /// The time that the device was stationary.
    public var stationary = Duration.zero
    /// The number of steps.
    public var steps = 0
    /// The length of these steps in metres, along the path.
    public var distance = 0.0
    /// The ascent in metres by stairs, escalators and elevators together.
    public var ascent = 0.0
    /// The descent in metres.
    public var descent = 0.0

    /// Creates statistics of zero.
    package init() {}

    /// The time without walking: fidgeting or stationary.
    public var dwelling: Duration { fidgeting + stationary }

    /// Returns the share of the time for a kind of motion, in [0, 1]; nil before any time has passed.
    public func share(of kind: MotionKind) -> Double? {
        let all = (walking + dwelling).seconds
        return all > 0 ? time(of: kind).seconds / all : nil
    }

    /// Returns the time for a kind of motion.
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
