import CMath
import IndoorVocabulary

/// Where a device points in the local frame: by its own attitude, by its magnetometer, or by its gyroscope alone.
package struct Compass: Hashable, Sendable {
    /// 68 % radii in degrees: of attitudes that the device gives, and of the filter with a compass.
    private static let deviceAccuracy = 15.0
    private static let compassAccuracy = 10.0
    /// Degrees that a gyroscope alone is off after a second, as a random walk.
    private static let drift = 0.7
    /// Once a device gives attitudes, the filter waits for this many seconds of silence before it takes over.
    private static let deviceSilence = 5.0

    private var filter = AttitudeFilter()
    private var given: Quaternion?
    private var lastGiven: Instant?
    /// Radians clockwise that are added to what the sensors tell; with a compass that nobody turned, those of `north`.
    private var offset = 0.0
    private var north: Double?
    /// A heading in radians that was told before any sensor did.
    private var wanted: Double?
    private var wasSet = false
    /// Variance in degrees² of the heading.
    private var variance: Double?

    /// What the heading rests on.
    private(set) var reference = Heading.Reference.start

    /// Takes in a reading.
    mutating func observe(_ sample: MotionSample) {
        if let attitude = sample.attitude?.normalized {
            given = attitude
            lastGiven = sample.instant
            reference = .device
            variance = max(variance ?? 0, Self.deviceAccuracy * Self.deviceAccuracy)
        } else if lastGiven.map({ $0.duration(to: sample.instant).seconds < Self.deviceSilence }) ?? false {
            return  // a reading between two attitudes: the latest one counts
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
            // What tells has changed: the heading goes on from where it was.
            offset = before - (StepDetector.heading(of: rotation) ?? before)
            wasSet = true
        }
        guard filter.isNorthward else { return variance = variance ?? 0 }
        let isPulled = !filter.isDisturbed && sample.magneticField != nil && !wasSet
        if isPulled || variance == nil { variance = Self.compassAccuracy * Self.compassAccuracy }
    }

    /// Lets time pass: without a good compass the heading becomes less sure.
    mutating func pass(seconds: Double) {
        guard given == nil, let variance, !filter.isNorthward || filter.isDisturbed else { return }
        self.variance = min(variance + Self.drift * Self.drift * seconds, 180 * 180)
    }

    /// Says where the device points now, in degrees clockwise from y, to within a 68 % radius in degrees.
    mutating func set(course degrees: Double, accuracy: Double) {
        wasSet = true
        variance = accuracy * accuracy
        if let raw { offset = degrees * .pi / 180 - raw } else { wanted = degrees * .pi / 180 }
    }

    /// Turns the heading by so many degrees clockwise.
    mutating func turn(by degrees: Double) {
        offset = shift + degrees * .pi / 180
        wasSet = true
        wanted? += degrees * .pi / 180
    }

    /// Says how many degrees clockwise from y magnetic north lies; nil if y is magnetic north.
    mutating func setNorth(_ degrees: Double?) { north = degrees.map { $0 * .pi / 180 } }

    private var raw: Double? { (given ?? filter.rotation).flatMap(StepDetector.heading(of:)) }
    private var isCompass: Bool { reference == .magneticNorth && !wasSet }
    private var shift: Double { isCompass ? north ?? 0 : offset }

    /// Radians clockwise from y; nil before any sensor tells.
    var course: Double? { raw.map { $0 + shift } }

    /// From the device's frame to the local one; nil before any sensor tells.
    var rotation: Quaternion? {
        (given ?? filter.rotation).map { Quaternion(turn: Vector3(x: 0, y: 0, z: -shift)) * $0 }
    }

    /// The same where somebody has said how the frame lies, for a device that gives no attitude itself; nil otherwise.
    package var alignedRotation: Quaternion? {
        given == nil && (isCompass && north != nil || wasSet && wanted == nil) ? rotation : nil
    }

    /// The heading with all its views.
    ///
    /// - Parameters:
    ///   - bearing: of y from true north, in degrees; nil if unknown.
    ///   - declination: degrees that magnetic north lies east of true north.
    func heading(at now: Instant, bearing: Double?, declination: Double) -> Heading? {
        guard let course else { return nil }
        let degrees = Degrees.course(course * 180 / .pi)
        return Heading(
            instant: now, course: degrees, trueNorth: bearing.map { Degrees.course(degrees + $0) },
            magneticNorth: bearing.map { Degrees.course(degrees + $0 - declination) },
            accuracy: min((variance ?? 0).squareRoot(), 180), reference: reference,
            isMagneticallyDisturbed: given == nil && filter.isDisturbed)
    }

    /// The bearing of y from true north that a compass gives by itself, in degrees; nil without one, or if it was turned.
    func ownBearing(declination: Double) -> Double? {
        isCompass ? declination - (north ?? 0) * 180 / .pi : nil
    }
}
