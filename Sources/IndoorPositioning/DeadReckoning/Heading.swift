import IndoorVocabulary

/// Which way the device points.
public struct Heading: Hashable, Sendable {
    /// What the directions are counted from.
    public enum Reference: String, Hashable, Sendable, CaseIterable {
        /// The device's own attitude, from its map's top.
        case device
        /// The Earth's magnetic field.
        case magneticNorth
        /// Wherever the device pointed when it began, or what was said since: there is no compass.
        case start
    }

    /// When it pointed there.
    public var instant: Instant
    /// Degrees clockwise from the y axis of the local frame, in [0, 360); in a venue that is the plan's top.
    public var course: Double
    /// Degrees clockwise from true north, in [0, 360); nil if nobody knows how the frame lies on Earth.
    public var trueNorth: Double?
    /// Degrees clockwise from magnetic north, in [0, 360); nil likewise.
    public var magneticNorth: Double?
    /// 68 % of the errors are smaller than this many degrees, up to 180.
    public var accuracy: Double
    /// What it rests on.
    public var reference: Reference
    /// Whether the magnetic field is none of the Earth's just now, so that the compass is not asked.
    public var isMagneticallyDisturbed: Bool

    /// Creates a heading.
    public init(
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

    /// The course as mathematicians count it: degrees counter-clockwise from the y axis, in (-180, 180].
    public var counterClockwise: Double { course < 180 ? 0 - course : 360 - course }
}

/// How the device is turned.
public struct Attitude: Hashable, Sendable {
    /// When it was turned so.
    public var instant: Instant
    /// Unit rotation from the device's frame (x right, y up the screen, z out of it) to the local one (z up).
    public var rotation: Quaternion

    /// Creates an attitude.
    public init(instant: Instant, rotation: Quaternion) {
        self.instant = instant
        self.rotation = rotation
    }
}

/// Angles in degrees clockwise.
enum Degrees {
    /// The same direction in [0, 360).
    static func course(_ degrees: Double) -> Double {
        guard degrees.isFinite else { return 0 }
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let positive = rest < 0 ? rest + 360 : rest
        return positive < 360 ? positive : 0
    }

    /// The smaller way around from one direction to another, in [-180, 180).
    static func turn(from: Double, to: Double) -> Double { course(to - from + 180) - 180 }
}
