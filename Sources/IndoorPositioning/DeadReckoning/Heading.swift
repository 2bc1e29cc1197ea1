import IndoorVocabulary

/// The direction in which the device points.
public struct Heading: Hashable, Sendable {
    /// The reference of a heading.
    public enum Reference: String, Hashable, Sendable, CaseIterable {
        /// The attitude that the device reports, relative to the plan's top.
        case device
        /// The Earth's magnetic field.
        case magneticNorth
        /// The initial direction of the device, or a heading that was set; no compass is used.
        case start
    }

    /// The time of the heading.
    public var instant: Instant
    /// Degrees clockwise from the y axis of the local frame, in [0, 360); in a venue that is the plan's top.
    public var course: Double
    /// Degrees clockwise from true north, in [0, 360); nil if the bearing of the frame is unknown.
    public var trueNorth: Double?
    /// Degrees clockwise from magnetic north, in [0, 360); nil if the bearing of the frame is unknown.
    public var magneticNorth: Double?
    /// The 68 % error in degrees, up to 180.
    public var accuracy: Double
    /// The reference of the heading.
    public var reference: Reference
    /// Whether the magnetic field is disturbed, so that the heading doesn't use the compass.
    public var isMagneticallyDisturbed: Bool

    /// Creates a heading.
    package init(
        instant: Instant, course: Double, trueNorth: Double? = nil, magneticNorth: Double? = nil, accuracy: Double,
        reference: Reference, isMagneticallyDisturbed: Bool = false
    ) {
        self.instant = instant
        self.course = course
        self.trueNorth = trueNorth
        self.magneticNorth = magneticNorth
        self.accuracy = accuracy
        self.reference = reference
        self.isMagneticallyDisturbed = isMagneticallyDisturbed
    }

    /// The course in the mathematical direction: degrees counter-clockwise from the y axis, in (-180, 180].
    public var counterClockwise: Double { course < 180 ? 0 - course : 360 - course }
}

/// The attitude of the device.
public struct Attitude: Hashable, Sendable {
    /// The time of the attitude.
    public var instant: Instant
    /// The unit rotation from the device's frame (x right, y up the screen, z out of it) to the local one (z up).
    public var rotation: Quaternion

    /// Creates an attitude.
    public init(instant: Instant, rotation: Quaternion) {
        self.instant = instant
        self.rotation = rotation
    }
}

/// Functions on angles in degrees clockwise.
enum Degrees {
    /// Returns the same direction in [0, 360).
    static func course(_ degrees: Double) -> Double {
        guard degrees.isFinite else { return 0 }
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let positive = rest < 0 ? rest + 360 : rest
        return positive < 360 ? positive : 0
    }

    /// Returns the smaller turn from one direction to another, in [-180, 180).
    static func turn(from: Double, to: Double) -> Double { course(to - from + 180) - 180 }
}
