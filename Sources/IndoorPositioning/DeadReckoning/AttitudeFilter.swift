import CMath
import IndoorVocabulary

/// A filter that estimates the attitude of a device from its gyroscope, accelerometer and magnetometer.
///
/// A complementary filter: the gyroscope turns the attitude, the accelerometer slowly corrects its tilt, the
/// magnetometer slowly corrects its heading to magnetic north, and persistent corrections change the estimate of the
/// gyroscope's bias. Source: R. Mahony, T. Hamel, J.-M. Pflimlin, *Nonlinear Complementary Filters on the Special
/// Orthogonal Group*, IEEE Transactions on Automatic Control 53(5), 2008; here, the magnetometer turns the attitude
/// only around the vertical, so that iron nearby does not affect the tilt.
package struct AttitudeFilter: Hashable, Sendable {
    /// The rate of correction per second; it is higher in the first seconds, and without a gyroscope.
    private static let pull = 0.4
    private static let firstPull = 4.0
    private static let northPull = 0.3
    private static let pullWithoutGyroscope = 4.0
    /// The rate at which a remaining error changes the bias, in 1/s².
    private static let learning = 0.01
    /// The maximum bias of a gyroscope in rad/s.
    private static let largestBias = 0.1
    /// The maximum gap between readings in seconds; after a longer gap, the filter starts again.
    private static let longestGap = 1.0
    /// The time constant in seconds with which the initial rate of correction decreases.
    private static let fading = 1.0
    /// Standard gravity in m/s²; readings of less than half of it, or more than twice as much, don't show the tilt.
    private static let gravity = 9.80665

    /// The rotation from the device's frame to one with z up and y to magnetic north, or to the initial direction of
    /// the device; nil before the first reading of the accelerometer.
    package private(set) var rotation: Quaternion?
    /// Whether y is magnetic north.
    package private(set) var isNorthward = false
    /// Whether the magnetic field is disturbed, that is, not the Earth's.
    package var isDisturbed: Bool { watch.isDisturbed }

    private var bias = Vector3(x: 0, y: 0, z: 0)
    private var last: Instant?
    private var hasGyroscope = false
    private var age = 0.0
    private var watch = MagneticDisturbanceDetector()
    private var lastField: Instant?

    /// Creates a filter without readings.
    package init() {}

    /// Handles a reading; ignores one that is older than the latest one.
    package mutating func observe(_ sample: MotionSample) {
        let interval = last.map { $0.duration(to: sample.instant).seconds } ?? 0
        guard interval >= 0 else { return }
        let up = sample.acceleration.flatMap { Self.up($0) }
        guard let rotation, interval < Self.longestGap else { return begin(sample, up) }
        last = sample.instant
        age += interval
        var rate = Vector3(x: 0, y: 0, z: 0)
        if let measured = sample.rotationRate, measured.isFinite {
            hasGyroscope = true
            rate = measured + bias
        }
        var error = Vector3(x: 0, y: 0, z: 0)
        if let up {
            let expected = rotation.inverse.rotate(Vector3(x: 0, y: 0, z: 1))
            error = up.cross(expected)
        }
        let pull = hasGyroscope ? Self.pull + Self.firstPull * cmath_exp(-age / Self.fading) : Self.pullWithoutGyroscope
        rate = rate + error * pull
        let north = northError(sample, rotation, at: sample.instant)
        rate = rate + north * (hasGyroscope ? Self.northPull : Self.pullWithoutGyroscope)
        if hasGyroscope { learn((error + north) * (Self.learning * interval)) }
        let turned = self.rotation ?? rotation  // the first field may have turned it to north
        self.rotation = (turned * Quaternion(turn: rate * interval)).normalized ?? turned
    }

    private mutating func learn(_ change: Vector3) {
        func clamp(_ value: Double) -> Double { min(max(value, -Self.largestBias), Self.largestBias) }
        let sum = bias + change
        bias = Vector3(x: clamp(sum.x), y: clamp(sum.y), z: clamp(sum.z))
    }

    /// Returns the upward direction in the device's frame; nil if the accelerometer doesn't show it.
    private static func up(_ acceleration: Vector3) -> Vector3? {
        let length = acceleration.length
        guard length.isFinite, length > gravity / 2, length < gravity * 2 else { return nil }
        return acceleration * (1 / length)
    }

    /// Sets the attitude from the measured upward direction, with the heading from the compass if there is one,
    /// otherwise with the earlier heading.
    private mutating func begin(_ sample: MotionSample, _ up: Vector3?) {
        guard let up else { return }
        last = sample.instant
        age = 0
        let axis = up.cross(Vector3(x: 0, y: 0, z: 1))
        let angle = cmath_atan2(axis.length, up.z)
        let upright =
            axis.length > 1e-9
            ? Quaternion(turn: axis * (angle / axis.length))
            : up.z > 0 ? .identity : Quaternion(w: 0, x: 0, y: 1, z: 0)
        let before = rotation.flatMap(StepDetector.heading(of:)) ?? 0
        var wanted = StepDetector.heading(of: upright).map { before - $0 } ?? 0
        if let field = sample.magneticField, field.isFinite {
            let there = upright.rotate(field)
            watch.observe(strength: field.length, dip: Self.dip(there), after: 0)
            lastField = sample.instant
            if !watch.isDisturbed, cmath_hypot(there.x, there.y) > 1e-6 {
                // The direction of the field becomes y: turn counter-clockwise by its heading.
                wanted = -cmath_atan2(there.x, there.y)
                isNorthward = true
            }
        }
        rotation = (Quaternion(turn: Vector3(x: 0, y: 0, z: -wanted)) * upright).normalized
    }

    /// Returns the turn around the vertical, in the device's frame, that brings the measured field closer to north;
    /// zero without a field.
    private mutating func northError(_ sample: MotionSample, _ rotation: Quaternion, at now: Instant) -> Vector3 {
        let none = Vector3(x: 0, y: 0, z: 0)
        guard let field = sample.magneticField, field.isFinite else { return none }
        let there = rotation.rotate(field)
        let interval = lastField.map { max(0, $0.duration(to: now).seconds) } ?? 0
        lastField = now
        watch.observe(strength: field.length, dip: Self.dip(there), after: interval)
        let horizontal = cmath_hypot(there.x, there.y)
        guard !watch.isDisturbed, horizontal > 1e-6 else { return none }
        guard isNorthward else {
            // The first undisturbed field: the filter has a compass from now on.
            isNorthward = true
            let turn = Quaternion(turn: Vector3(x: 0, y: 0, z: cmath_atan2(there.x, there.y)))
            self.rotation = (turn * rotation).normalized ?? rotation
            return none
        }
        // Turn counter-clockwise by the field's heading. The correction is the sine of the angle, like the
        // accelerometer's.
        let angle = cmath_atan2(there.x, there.y)
        return rotation.inverse.rotate(Vector3(x: 0, y: 0, z: 1)) * cmath_sin(angle)
    }

    /// Returns the angle of a field below the horizon, in a frame with z up, in radians.
    private static func dip(_ field: Vector3) -> Double { cmath_atan2(-field.z, cmath_hypot(field.x, field.y)) }
}
