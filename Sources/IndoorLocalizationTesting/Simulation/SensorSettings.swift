/// What the other sensors of a simulated device give, and how well.
public struct SensorSettings: Hashable, Sendable {
    /// Samples of the inertial sensors per second; 0 for none, up to 1000.
    public var motionRate = 0.0
    /// Angle between the device's y axis and the horizon in degrees, as one holds it; from 0 to 90.
    public var tilt = 40.0
    /// Length of a step in metres; from 0.2 to 1.5.
    public var stepLength = 0.7
    /// Amplitude of the vertical acceleration while walking, in m/s²; from 0 to 10.
    public var bounce = 2.5
    /// Seconds that a turn takes, where the way leaves room for it; from 0.02 to 10.
    public var turnDuration = 0.8
    /// White noise of the acceleration: standard deviation in m/s²; from 0 to 10.
    public var accelerationNoise = 0.15
    /// White noise of the rotation rate: standard deviation in rad/s; from 0 to 1.
    public var rotationNoise = 0.02
    /// Standard deviation of the gyroscope's constant error on each axis, in rad/s; from 0 to 1.
    public var rotationBias = 0.005
    /// Standard deviation of the compass's error in degrees; from 0 to 180. Iron in the building makes it a field.
    public var headingDeviation = 6.0
    /// Distance in metres at which the correlation of the compass's error falls to 1/e; from 0.1 to 1000.
    public var headingDistance = 5.0

    /// Whether the device reports the steps that it finds.
    public var reportsSteps = false
    /// Standard deviation of a reported step's length, as a share of it; from 0 to 1.
    public var stepLengthDeviation = 0.05

    /// Seconds between two readings of the barometer; 0 for none, up to 3600.
    public var pressureInterval = 1.0
    /// White noise of the barometer: standard deviation in hPa; from 0 to 10.
    public var pressureNoise = 0.02
    /// Pressure on the ground floor in hPa; from 800 to 1100.
    public var groundPressure = 1013.25
    /// What the weather adds, in hPa per hour; from -10 to 10.
    public var pressureDrift = 0.5
    /// Climbing speed on stairs and in elevators in m/s; from 0.05 to 10.
    public var climbingSpeed = 0.3

    /// Seconds between two satellite positions; 0 for none, up to 3600.
    public var gnssInterval = 1.0
    /// 68 % radius of satellite positions outdoors in metres; from 0.1 to 1000.
    public var gnssAccuracy = 4.0
    /// 68 % radius of satellite positions indoors in metres, up to 1000; 0 if there are none indoors.
    public var gnssIndoorAccuracy = 0.0

    /// Seconds between two truths while walking; from 0.1 to 3600. Ends of ways and pauses have theirs anyway.
    public var truthInterval = 1.0

    /// The settings documented above.
    public init() {}
}
