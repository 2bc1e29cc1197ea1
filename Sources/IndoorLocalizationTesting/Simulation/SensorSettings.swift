/// Settings of the other sensors of a simulated device: their rates and their errors.
package struct SensorSettings: Hashable, Sendable {
    /// Sampling rate of the inertial sensors per second; 0 for none, up to 1000.
    package var motionRate = 0.0
    /// Angle between the device's y axis and the horizon in degrees, as a person holds it; from 0 to 90.
    package var tilt = 40.0
    /// Length of a step in metres; from 0.2 to 1.5.
    package var stepLength = 0.7
    /// Amplitude of the vertical acceleration while walking, in m/s²; from 0 to 10.
    package var bounce = 2.5
    /// Duration of a turn in seconds, if the legs are long enough; from 0.02 to 10.
    package var turnDuration = 0.8
    /// White noise of the acceleration: standard deviation in m/s²; from 0 to 10.
    package var accelerationNoise = 0.15
    /// White noise of the rotation rate: standard deviation in rad/s; from 0 to 1.
    package var rotationNoise = 0.02
    /// Standard deviation of the gyroscope's bias on each axis, in rad/s; from 0 to 1.
    package var rotationBias = 0.005
    /// Standard deviation of the compass's error in degrees; from 0 to 180.
    ///
    /// Iron in the building makes the error a function of the place.
    package var headingDeviation = 6.0
    /// Distance in metres at which the correlation of the compass's error falls to 1/e; from 0.1 to 1000.
    package var headingDistance = 5.0

    /// Whether the device reports the steps that it detects.
    package var reportsSteps = false
    /// Standard deviation of a reported step's length, as a share of it; from 0 to 1.
    package var stepLengthDeviation = 0.05

    /// Interval between two barometer readings in seconds; 0 for none, up to 3600.
    package var pressureInterval = 1.0
    /// White noise of the barometer: standard deviation in hPa; from 0 to 10.
    package var pressureNoise = 0.02
    /// Pressure on the ground floor in hPa; from 800 to 1100.
    package var groundPressure = 1013.25
    /// Pressure change due to the weather, in hPa per hour; from -10 to 10.
    package var pressureDrift = 0.5
    /// Climbing speed on stairs and in elevators in m/s; from 0.05 to 10.
    package var climbingSpeed = 0.3

    /// Interval between two GNSS positions in seconds; 0 for none, up to 3600.
    package var gnssInterval = 1.0
    /// 68 % radius of GNSS positions outdoors in metres; from 0.1 to 1000.
    package var gnssAccuracy = 4.0
    /// 68 % radius of GNSS positions indoors in metres, up to 1000; 0 for none indoors.
    package var gnssIndoorAccuracy = 0.0

    /// Interval between two ground truths while walking, in seconds; from 0.1 to 3600.
    ///
    /// The ends of legs and pauses always have a ground truth.
    package var truthInterval = 1.0

    /// Creates settings with the documented defaults.
    package init() {}
}
