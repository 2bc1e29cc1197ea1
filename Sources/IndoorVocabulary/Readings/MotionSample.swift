/// One sample of the inertial sensors, in the frame of the device: x right, y up the screen, z out of it.
public struct MotionSample: Hashable, Sendable {
    /// When the sensors measured it.
    public var instant: Instant
    /// Acceleration with gravity, in m/s²; nil if not measured.
    public var acceleration: Vector3?
    /// Rotation rate in rad/s; nil if not measured.
    public var rotationRate: Vector3?
    /// Magnetic field in µT; nil if not measured.
    public var magneticField: Vector3?
    /// Rotation from the frame of the device to that of the world (x: the map's x, y: the map's up, z: up); nil if unknown.
    public var attitude: Quaternion?

    /// Creates a sample.
    public init(
        instant: Instant, acceleration: Vector3? = nil, rotationRate: Vector3? = nil, magneticField: Vector3? = nil,
        attitude: Quaternion? = nil
    ) {
        self.instant = instant
        self.acceleration = acceleration
        self.rotationRate = rotationRate
        self.magneticField = magneticField
        self.attitude = attitude
    }
}

/// One sample of the barometer.
public struct PressureSample: Hashable, Sendable {
    /// When the barometer measured it.
    public var instant: Instant
    /// Air pressure in hectopascal.
    public var hectopascals: Double

    /// Creates a sample.
    public init(instant: Instant, hectopascals: Double) {
        self.instant = instant
        self.hectopascals = hectopascals
    }
}

/// A step that the device detected.
public struct Step: Hashable, Sendable {
    /// When the foot touched the ground.
    public var instant: Instant
    /// Length in metres; nil if unknown.
    public var length: Double?
    /// Direction of the step in degrees clockwise from the plan's top; nil if unknown.
    public var heading: Double?

    /// Creates a step.
    public init(instant: Instant, length: Double? = nil, heading: Double? = nil) {
        self.instant = instant
        self.length = length
        self.heading = heading
    }
}
