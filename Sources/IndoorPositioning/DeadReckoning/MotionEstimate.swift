import IndoorVocabulary

/// The kind of motion of the device's carrier.
public enum MotionKind: String, Hashable, Sendable, CaseIterable {
    /// The device lies or is held still.
    case stationary
    /// The device is moved, but its carrier doesn't walk: a person takes it out, turns it, or types on it.
    case fidgeting
    /// The carrier of the device walks.
    case walking
}

/// The dead-reckoning estimate at an instant: the motion of the device, its heading, and its position.
public struct MotionEstimate: Hashable, Sendable {
    /// The states of the local frame's alignment on Earth.
    public enum Alignment: String, Hashable, Sendable, CaseIterable {
        /// The frame is not aligned: estimates have metres in the local frame only.
        case local
        /// The reckoner aligns the frame by satellites, which takes some ten metres of walking.
        case aligning
        /// The frame is aligned, by given values or by satellites: estimates have coordinates, too.
        case global
    }

    /// The time of the estimate.
    public var instant: Instant
    /// The kind of motion; nil before the first reading of the sensors.
    public var kind: MotionKind?
    /// The number of steps per second; 0 while the carrier doesn't walk.
    public var stepFrequency: Double
    /// The vertical motion; `level` without a barometer.
    public var vertical: VerticalMotion
    /// The climb rate in metres per second, positive upwards; 0 without a barometer.
    public var climbRate: Double
    /// The ordinal of the floor; without a barometer, the floor that was set, or 0.
    public var floor: Int
    /// The heading; nil before the first attitude.
    public var heading: Heading?
    /// The attitude; nil before the first reading of the sensors.
    public var attitude: Quaternion?
    /// The position in metres in the local frame: x to the right, y ahead, z up from the origin.
    public var position: Vector3
    /// The 68 % error radius in metres: the true position in the plane lies within it 68 % of the time.
    public var radius: Double
    /// The height in metres above the standard atmosphere's sea level, from the barometer; nil without one.
    public var altitude: Double?
    /// The coordinate of the position; nil until the local frame is aligned.
    public var coordinate: Coordinate?
    /// The state of the local frame's alignment on Earth.
    public var alignment: Alignment
    /// The times, steps and distances since the last reset.
    public var statistics: MotionStatistics

    /// Creates an estimate without information.
    package init(instant: Instant) {
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
