import CMath
import IndoorVocabulary

/// Finds how a device is turned from its gyroscope, accelerometer and magnetometer.
///
/// A complementary filter: the gyroscope turns the attitude, the accelerometer slowly pulls it upright, the magnetometer slowly
/// pulls it to magnetic north, and what they pull all the time is taken for the gyroscope's bias. Source: R. Mahony,
/// T. Hamel, J.-M. Pflimlin, *Nonlinear Complementary Filters on the Special Orthogonal Group*, IEEE Transactions on
/// Automatic Control 53(5), 2008; the magnetometer turns around the vertical only, so that iron does not tilt the device.
package struct AttitudeFilter: Hashable, Sendable {
    /// How fast errors are pulled out, a second; faster in the first seconds, and without a gyroscope.
    private static let pull = 0.4
    private static let firstPull = 4.0
    private static let northPull = 0.3
    private static let pullWithoutGyroscope = 4.0
    /// How fast what remains is taken for bias, in 1/s².
    private static let learning = 0.01
    /// No gyroscope is off by more than this in rad/s.
    private static let largestBias = 0.1
    /// After a gap of this many seconds the attitude is found anew.
    private static let longestGap = 1.0
    /// Seconds over which the first pull fades.
    private static let fading = 1.0
    /// Standard gravity in m/s²; readings of less than half of it or more than twice as much tell no tilt.
    private static let gravity = 9.80665

    /// From the device's frame to one with z up and y to magnetic north, or to where the device pointed at first; nil
    /// before the accelerometer was read.
    package private(set) var rotation: Quaternion?
    /// Whether y is magnetic north.
    package private(set) var isNorthward = false
    /// Whether the magnetic field is none of the Earth's just now.
    package var isDisturbed: Bool { watch.isDisturbed }

    private var bias = Vector3(x: 0, y: 0, z: 0)
    private var last: Instant?
    private var hasGyroscope = false
    private var age = 0.0
    private var watch = MagneticDisturbanceDetector()
    private var lastField: Instant?

    /// Creates a filter that has seen nothing.
    package init() {}

    /// Takes in a reading; one that is older than the last is ignored.
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

    /// Which way is up in the device's frame, where the accelerometer tells.
    private static func up(_ acceleration: Vector3) -> Vector3? {
        let length = acceleration.length
        guard length.isFinite, length > gravity / 2, length < gravity * 2 else { return nil }
        return acceleration * (1 / length)
    }

    /// The attitude in which the device feels up where it does, with the compass where there is one, else with the heading
    /// that it had.
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
                // What points x east of y shall point along y: turn counter-clockwise by its heading.
                wanted = -cmath_atan2(there.x, there.y)
                isNorthward = true
            }
        }
        rotation = (Quaternion(turn: Vector3(x: 0, y: 0, z: -wanted)) * upright).normalized
    }

    /// The turn around the vertical, in the device's frame, that brings the measured field closer to north; zero without one.
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
            // The first good field after others: there is a compass from now on.
            isNorthward = true
            let turn = Quaternion(turn: Vector3(x: 0, y: 0, z: cmath_atan2(there.x, there.y)))
            self.rotation = (turn * rotation).normalized ?? rotation
            return none
        }
        // Counter-clockwise by the field's heading; its sine, so that the pull is as that of the accelerometer.
        let angle = cmath_atan2(there.x, there.y)
        return rotation.inverse.rotate(Vector3(x: 0, y: 0, z: 1)) * cmath_sin(angle)
    }

    /// How far below the horizon a field in a frame with z up points, in radians.
    private static func dip(_ field: Vector3) -> Double { cmath_atan2(-field.z, cmath_hypot(field.x, field.y)) }
}
