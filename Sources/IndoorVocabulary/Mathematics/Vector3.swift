import CMath

/// A three-dimensional vector.
public struct Vector3: Hashable, Sendable {
    /// The component along x.
    public var x: Double
    /// The component along y.
    public var y: Double
    /// The component along z.
    public var z: Double

    /// Creates a vector from its components.
    public init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The Euclidean length.
    public var length: Double { (x * x + y * y + z * z).squareRoot() }
}

/// A quaternion `w + xi + yj + zk` that represents a rotation; of unit length for a pure rotation.
public struct Quaternion: Hashable, Sendable {
    /// Scalar part.
    public var w: Double
    /// First imaginary part.
    public var x: Double
    /// Second imaginary part.
    public var y: Double
    /// Third imaginary part.
    public var z: Double

    /// Creates a quaternion from its parts.
    public init(w: Double, x: Double, y: Double, z: Double) {
        self.w = w
        self.x = x
        self.y = y
        self.z = z
    }

    /// Returns the rotated vector. The length of the quaternion has no effect; if it is zero, the vector is unchanged.
    public func rotate(_ vector: Vector3) -> Vector3 {
        let norm = w * w + x * x + y * y + z * z
        guard norm > 0 else { return vector }
        let s = 2 / norm
        let (a, b, c) = (vector.x, vector.y, vector.z)
        return Vector3(
            x: a * (1 - s * (y * y + z * z)) + b * s * (x * y - z * w) + c * s * (x * z + y * w),
            y: a * s * (x * y + z * w) + b * (1 - s * (x * x + z * z)) + c * s * (y * z - x * w),
            z: a * s * (x * z - y * w) + b * s * (y * z + x * w) + c * (1 - s * (x * x + y * y)))
    }
}

// The quaternion operations for rotations of a device.
extension Quaternion {
    /// The identity rotation.
    package static let identity = Quaternion(w: 1, x: 0, y: 0, z: 0)

    /// The inverse rotation of a unit quaternion.
    package var inverse: Quaternion { Quaternion(w: w, x: -x, y: -y, z: -z) }

    /// The same rotation as a unit quaternion; nil if the length is zero or not finite.
    package var normalized: Quaternion? {
        let length = (w * w + x * x + y * y + z * z).squareRoot()
        guard length > 1e-9, length.isFinite else { return nil }
        return Quaternion(w: w / length, x: x / length, y: y / length, z: z / length)
    }

    /// Creates the rotation around a vector, by an angle in radians equal to the vector's length, counter-clockwise as
    /// seen from the tip of the vector.
    package init(turn: Vector3) {
        let angle = turn.length
        // sin(angle / 2) / angle, with its limit at zero.
        let share = angle > 1e-9 ? cmath_sin(angle / 2) / angle : 0.5
        self.init(w: cmath_cos(angle / 2), x: turn.x * share, y: turn.y * share, z: turn.z * share)
    }

    /// Returns the rotation that applies `right` first and then `left`.
    package static func * (left: Quaternion, right: Quaternion) -> Quaternion {
        Quaternion(
            w: left.w * right.w - left.x * right.x - left.y * right.y - left.z * right.z,
            x: left.w * right.x + left.x * right.w + left.y * right.z - left.z * right.y,
            y: left.w * right.y - left.x * right.z + left.y * right.w + left.z * right.x,
            z: left.w * right.z + left.x * right.y - left.y * right.x + left.z * right.w)
    }

    /// Returns the angle in radians between this rotation and another, in [0, π]. Both must have unit length.
    package func angle(to other: Quaternion) -> Double {
        let turn = inverse * other
        return 2 * cmath_atan2(Vector3(x: turn.x, y: turn.y, z: turn.z).length, abs(turn.w))
    }
}

extension Vector3 {
    /// Returns the cross product, by the right-hand rule.
    package func cross(_ other: Vector3) -> Vector3 {
        Vector3(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    package static func + (left: Vector3, right: Vector3) -> Vector3 {
        Vector3(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    package static func * (vector: Vector3, factor: Double) -> Vector3 {
        Vector3(x: vector.x * factor, y: vector.y * factor, z: vector.z * factor)
    }

    /// Whether all components are finite.
    package var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}
