import CMath
import IndoorVocabulary

/// A counter of the carrier's steps, which are reported by the device or detected from its accelerometer.
///
/// A device that reports steps also has an accelerometer, which shows the same steps. To count each step once, a
/// reported step suppresses detected steps for a while.
package struct Pedometer: Hashable, Sendable {
    /// The time before and after a reported step in which detected steps are suppressed.
    private static let precedence = Duration.seconds(10)
    /// The length in metres of a reported step without a plausible length.
    private static let usualLength = 0.7
    /// The maximum plausible length of a step in metres.
    private static let longestLength = 10.0

    private var detector = StepDetector()
    private var lastReport: Instant?

    /// The course of the device in radians clockwise from the plan's top, from its attitude; nil if the attitude is
    /// unknown.
    package var heading: Double? { detector.heading }
    /// The time of the latest reading of the accelerometer; nil if there is none.
    package var lastReading: Instant? { detector.lastReading }

    /// Creates a pedometer without readings.
    package init() {}

    /// Handles a sample.
    ///
    /// - Returns: the length in metres of the step that ends with the sample; nil if no step ends, or if the device
    ///   reports its steps.
    package mutating func detect(_ sample: MotionSample) -> Double? {
        let length = detector.observe(sample)
        guard let lastReport else { return length }
        let age = lastReport.duration(to: sample.instant)
        return age < Self.precedence && age > .zero - Self.precedence ? nil : length
    }

    /// Handles a step that the device reports.
    ///
    /// - Returns: the length of the step in metres; 0.7 m if the device reports no length in the range from 0 to 10 m.
    package mutating func report(_ step: Step) -> Double {
        lastReport = step.instant
        return step.length.flatMap { (0...Self.longestLength).contains($0) ? $0 : nil } ?? Self.usualLength
    }
}

/// A detector of steps and of the device's direction, from the readings of an accelerometer.
///
/// In a step, the acceleration's magnitude rises above gravity and falls below it; the difference determines the length
/// of the step. Source of the length: H. Weinberg, *Using the ADXL202 in Pedometer and Personal Navigation
/// Applications*, Analog Devices AN-602, 2002.
package struct StepDetector: Hashable, Sendable {
    /// Standard gravity in m/s².
    private static let gravity = 9.80665
    /// The time constant in seconds of the smoothing: it passes the 1.5 to 2.5 Hz of walking, but not shocks.
    private static let smoothing = 0.06
    /// The time constant in seconds of the mean that estimates gravity.
    private static let settling = 2.0
    /// The amplitude of a step in m/s²: the magnitude must rise this far above its mean and fall this far below it.
    private static let threshold = 0.7
    /// The shortest time between two steps, in seconds.
    private static let shortestStep = 0.3
    /// The length of a step in metres per fourth root of the magnitude's range in m/s².
    private static let lengthFactor = 0.42

    private var smooth: Double?
    private var mean = StepDetector.gravity
    private var lastSample: Instant?
    private var lastStep: Instant?
    private var isAbove = false
    private var highest = 0.0
    private var lowest = 0.0

    /// The course of the device in radians clockwise from the plan's top; nil before the first attitude.
    package private(set) var heading: Double?
    /// The time of the latest reading of the accelerometer; nil if there is none.
    package var lastReading: Instant? { lastSample }

    /// Creates a detector without readings.
    package init() {}

    /// Handles a reading; returns the length in metres of the step that ends with it, if any.
    package mutating func observe(_ sample: MotionSample) -> Double? {
        if let attitude = sample.attitude { heading = Self.heading(of: attitude) ?? heading }
        guard let acceleration = sample.acceleration, acceleration.length.isFinite else { return nil }
        let interval = lastSample.map { $0.seconds(to: sample.instant) } ?? 0.02
        lastSample = sample.instant
        guard interval > 0, interval < 1 else {
            // Discard an unfinished step after a gap.
            smooth = nil
            isAbove = false
            (highest, lowest) = (0, 0)
            return nil
        }
        let magnitude = acceleration.length
        let value = (smooth ?? magnitude) + (magnitude - (smooth ?? magnitude)) * min(1, interval / Self.smoothing)
        smooth = value
        mean += (magnitude - mean) * min(1, interval / Self.settling)
        return swing(value - mean, at: sample.instant)
    }

    private mutating func swing(_ value: Double, at instant: Instant) -> Double? {
        highest = max(highest, value)
        lowest = min(lowest, value)
        if !isAbove, value > Self.threshold {
            isAbove = true
        } else if isAbove, value < -Self.threshold {
            isAbove = false
            let height = highest - lowest
            (highest, lowest) = (0, 0)
            if let lastStep, lastStep.seconds(to: instant) < Self.shortestStep { return nil }
            lastStep = instant
            return Self.lengthFactor * cmath_pow(height, 0.25)
        }
        return nil
    }

    /// Returns the heading of a device in radians clockwise from the y axis: the direction of its top if it is held
    /// flat, or of its back if it is held upright; nil if neither has a horizontal direction.
    static func heading(of attitude: Quaternion) -> Double? {
        let top = attitude.rotate(Vector3(x: 0, y: 1, z: 0))
        let back = attitude.rotate(Vector3(x: 0, y: 0, z: -1))
        let (x, up) = (top.x + back.x, top.y + back.y)
        guard x * x + up * up > 0.01 else { return nil }
        return cmath_atan2(x, up)
    }
}
