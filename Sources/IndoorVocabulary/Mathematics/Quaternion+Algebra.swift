import CMath

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
