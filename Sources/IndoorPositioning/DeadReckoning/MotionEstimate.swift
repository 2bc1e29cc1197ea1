import IndoorVocabulary

/// What whoever carries the device is doing.
public enum MotionKind: String, Hashable, Sendable, CaseIterable {
    /// The device lies or is held still.
    case stationary
    /// The device is moved, but nobody walks with it: it is taken out, turned, typed on.
    case fidgeting
    /// Whoever carries the device walks.
    case walking
}

/// What dead reckoning knows at an instant: how the device moves, where it points, and where that has led it.
public struct MotionEstimate: Hashable, Sendable {
    /// How far the local frame is known on Earth.
    public enum Alignment: String, Hashable, Sendable, CaseIterable {
        /// Not at all: there are metres in the local frame alone.
        case local
        /// Satellites are asked; after some ten metres of walking the frame will be known.
        case aligning
        /// A place and a bearing were given, or found: there are coordinates, too.
        case global
    }

    /// When.
    public var instant: Instant
    /// What its carrier does; nil before any sensor tells.
    public var kind: MotionKind?
    /// Steps a second; 0 while nobody walks.
    public var stepFrequency: Double
    /// How its height changes; `level` without a barometer.
    public var vertical: VerticalMotion
    /// Metres a second upwards; 0 without a barometer.
    public var climbRate: Double
    /// Ordinal of the floor; without a barometer 0, or what was said.
    public var floor: Int
    /// Where it points; nil before any sensor tells.
    public var heading: Heading?
    /// How it is turned; nil before any sensor tells.
    public var attitude: Quaternion?
    /// Metres in the local frame: x to the right, y ahead, z up from where it began.
    public var position: Vector3
    /// Metres around `position`, in the plane, within which the truth lies 68 times of 100.
    public var radius: Double
    /// Metres above the standard atmosphere's sea level, by the barometer; nil without one.
    public var altitude: Double?
    /// The same place on Earth; nil until the local frame is known there.
    public var coordinate: Coordinate?
    /// How far the local frame is known on Earth.
    public var alignment: Alignment
    /// Times, steps and ways so far, since the last reset.
    public var statistics: MotionStatistics

    /// Creates an estimate that knows nothing.
    public init(instant: Instant) {
        self.instant = instant
        stepFrequency = 0
        vertical = .level
        climbRate = 0
        floor = 0
        position = Vector3(x: 0, y: 0, z: 0)
        radius = 0
        alignment = .local
        statistics = MotionStatistics()
    }
}
