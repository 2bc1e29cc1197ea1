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
