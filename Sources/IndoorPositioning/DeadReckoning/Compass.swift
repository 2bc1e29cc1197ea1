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
        } else if lastGiven.map({ $0.duration(to: sample.instant).seconds < Self.deviceSilence }) ?? false {
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
