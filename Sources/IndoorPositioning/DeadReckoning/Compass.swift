import CMath
import IndoorVocabulary

/// The heading of a device in the local frame: from the attitude that the device reports, from the magnetometer, or
/// from the gyroscope alone.
package struct Compass: Hashable, Sendable {
    /// The 68 % radii in degrees: of attitudes from the device, and of the filter with a compass.
    private static let deviceAccuracy = 15.0
    private static let compassAccuracy = 10.0
    /// The error in degrees of a gyroscope alone after one second; the error is a random walk.
    private static let drift = 0.7
    /// The time in seconds without an attitude from the device after which the filter is used again.
    private static let deviceSilence = 5.0

    private var filter = AttitudeFilter()
    private var given: Quaternion?
    private var lastGiven: Instant?
    /// The clockwise angle in radians from the sensors' heading to the course. If the heading comes from a compass and
    /// was not set, `north` is used instead.
    private var offset = 0.0
    private var north: Double?
    /// The heading in radians that was set before the first reading; nil otherwise.
    private var wanted: Double?
    private var wasSet = false
    /// The variance of the heading in degrees².
    private var variance: Double?

    /// The reference of the heading.
    private(set) var reference = Heading.Reference.start

    /// Handles a reading.
    mutating func observe(_ sample: MotionSample) {
        if let attitude = sample.attitude?.normalized {
            given = attitude
            lastGiven = sample.instant
            reference = .device
            variance = max(variance ?? 0, Self.deviceAccuracy * Self.deviceAccuracy)
        } else if lastGiven.map({ $0.seconds(to: sample.instant) < Self.deviceSilence }) ?? false {
            return  // A reading between two attitudes: the latest attitude stays.
        } else {
            filtered(sample)
        }
        if let wanted, let raw {
            offset = wanted - raw
            self.wanted = nil
        }
    }

    private mutating func filtered(_ sample: MotionSample) {
        let before = course
        let (wasGiven, wasNorthward) = (given != nil, filter.isNorthward)
        filter.observe(sample)
        guard let rotation = filter.rotation else { return }
        given = nil
        reference = filter.isNorthward ? .magneticNorth : .start
        if let before, wasGiven || filter.isNorthward && !wasNorthward && wasSet {
            // The source of the heading has changed: keep the last value of the heading.
            offset = before - (StepDetector.heading(of: rotation) ?? before)
            wasSet = true
        }
        guard filter.isNorthward else { return variance = variance ?? 0 }
        let isPulled = !filter.isDisturbed && sample.magneticField != nil && !wasSet
        if isPulled || variance == nil { variance = Self.compassAccuracy * Self.compassAccuracy }
    }

    /// Updates the uncertainty for the elapsed time; it grows without a compass, or while the magnetic field is
    /// disturbed.
    mutating func pass(seconds: Double) {
        guard given == nil, let variance, !filter.isNorthward || filter.isDisturbed else { return }
        self.variance = min(variance + Self.drift * Self.drift * seconds, 180 * 180)
    }

    /// Sets the current heading, in degrees clockwise from y, with a 68 % radius in degrees.
    mutating func set(course degrees: Double, accuracy: Double) {
        wasSet = true
        variance = accuracy * accuracy
        if let raw { offset = degrees * .pi / 180 - raw } else { wanted = degrees * .pi / 180 }
    }

    /// Turns the heading clockwise by a number of degrees.
    mutating func turn(by degrees: Double) {
        offset = shift + degrees * .pi / 180
        wasSet = true
        wanted? += degrees * .pi / 180
    }

    /// Sets the direction of magnetic north in degrees clockwise from y; nil if y is magnetic north.
    mutating func setNorth(_ degrees: Double?) { north = degrees.map { $0 * .pi / 180 } }

    private var raw: Double? { (given ?? filter.rotation).flatMap(StepDetector.heading(of:)) }
    private var isCompass: Bool { reference == .magneticNorth && !wasSet }
    private var shift: Double { isCompass ? north ?? 0 : offset }

    /// The course in radians clockwise from y; nil before the first attitude.
    var course: Double? { raw.map { $0 + shift } }

    /// The rotation from the device's frame to the local one; nil before the first attitude.
    var rotation: Quaternion? {
        (given ?? filter.rotation).map { Quaternion(turn: Vector3(x: 0, y: 0, z: -shift)) * $0 }
    }

    /// The same rotation if the frame's direction was set and the device reports no attitude itself; nil otherwise.
    package var alignedRotation: Quaternion? {
        given == nil && (isCompass && north != nil || wasSet && wanted == nil) ? rotation : nil
    }

    /// Returns the heading relative to the frame, to true north and to magnetic north.
    ///
    /// - Parameters:
    ///   - bearing: the bearing of y from true north, in degrees; nil if unknown.
    ///   - declination: the degrees by which magnetic north lies east of true north.
    func heading(at now: Instant, bearing: Double?, declination: Double) -> Heading? {
        guard let course else { return nil }
        let degrees = Degrees.course(course * 180 / .pi)
        return Heading(
            instant: now, course: degrees, trueNorth: bearing.map { Degrees.course(degrees + $0) },
            magneticNorth: bearing.map { Degrees.course(degrees + $0 - declination) },
            accuracy: min((variance ?? 0).squareRoot(), 180), reference: reference,
            isMagneticallyDisturbed: given == nil && filter.isDisturbed)
    }

    /// Returns the bearing of y from true north from the compass alone, in degrees; nil without a compass, or if the
    /// heading was set.
    func ownBearing(declination: Double) -> Double? {
        isCompass ? declination - (north ?? 0) * 180 / .pi : nil
    }
}

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
        let interval = last.map { $0.seconds(to: sample.instant) } ?? 0
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
        let interval = lastField.map { max(0, $0.seconds(to: now)) } ?? 0
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

/// A detector of disturbances of the Earth's magnetic field, which make a compass wrong.
///
/// Iron and currents bend and strengthen the field. The detector accepts a field while its strength is within the
/// Earth's range, and strength and dip are close to the usual ones. Source: M. H. Afzal, V. Renaudin, G. Lachapelle,
/// *Magnetic Field Based Heading Estimation for Pedestrian Navigation Environments*, IPIN 2011; the Earth's range, 22
/// to 67 µT: NOAA, *The US/UK World Magnetic Model for 2020-2025*.
struct MagneticDisturbanceDetector: Hashable, Sendable {
    private static let strongest = 67.0
    private static let weakest = 22.0
    /// The maximum difference of an accepted strength from the usual one, as a share.
    private static let strengthShare = 0.15
    /// The maximum difference of an accepted dip from the usual one, in radians.
    private static let dipRange = 0.2
    /// The time constant in seconds with which a steady field becomes the usual one.
    private static let settling = 20.0
    /// The time in seconds for which the field must be steady before it is accepted again.
    private static let calm = 1.0

    private var strength: Double?
    private var dip = 0.0
    private var calmFor = MagneticDisturbanceDetector.calm

    /// Whether the latest field was disturbed.
    private(set) var isDisturbed = false

    /// Handles the strength of a field in µT and its dip in radians, `seconds` after the previous one.
    mutating func observe(strength length: Double, dip angle: Double, after seconds: Double) {
        guard length.isFinite, (Self.weakest...Self.strongest).contains(length) else {
            isDisturbed = true
            calmFor = 0
            return
        }
        guard let usual = strength else {
            (strength, dip) = (length, angle)
            isDisturbed = false
            return
        }
        let isUsual = abs(length - usual) < Self.strengthShare * usual && abs(angle - dip) < Self.dipRange
        calmFor = isUsual ? calmFor + seconds : 0
        isDisturbed = calmFor < Self.calm
        // A persistent unusual field, such as the field in another building, becomes the usual one.
        let share = min(1, seconds / Self.settling)
        strength = usual + share * (length - usual)
        dip += share * (angle - dip)
    }
}
