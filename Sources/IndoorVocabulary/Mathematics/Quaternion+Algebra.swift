import CMath

// What turning a device needs of quaternions.
extension Quaternion {
    /// The rotation that turns nothing.
    package static let identity = Quaternion(w: 1, x: 0, y: 0, z: 0)

    /// The rotation back, of a quaternion of unit length.
    package var inverse: Quaternion { Quaternion(w: w, x: -x, y: -y, z: -z) }

    /// The same rotation as a quaternion of unit length; nil if it is no rotation at all.
    package var normalized: Quaternion? {
        let length = (w * w + x * x + y * y + z * z).squareRoot()
        guard length > 1e-9, length.isFinite else { return nil }
        return Quaternion(w: w / length, x: x / length, y: y / length, z: z / length)
    }

    /// The rotation around an axis by its length, in radians counter-clockwise as seen from the axis' tip.
    package init(turn: Vector3) {
        let angle = turn.length
        // sin(angle / 2) / angle, also for no turn at all.
        let share = angle > 1e-9 ? cmath_sin(angle / 2) / angle : 0.5
        self.init(w: cmath_cos(angle / 2), x: turn.x * share, y: turn.y * share, z: turn.z * share)
    }

    /// First the rotation on the right, then the one on the left.
    package static func * (left: Quaternion, right: Quaternion) -> Quaternion {
        Quaternion(
            w: left.w * right.w - left.x * right.x - left.y * right.y - left.z * right.z,
            x: left.w * right.x + left.x * right.w + left.y * right.z - left.z * right.y,
            y: left.w * right.y - left.x * right.z + left.y * right.w + left.z * right.x,
            z: left.w * right.z + left.x * right.y - left.y * right.x + left.z * right.w)
    }

    /// The angle in radians of the turn from this rotation to another, in [0, π]; both of unit length.
    package func angle(to other: Quaternion) -> Double {
        let turn = inverse * other
        return 2 * cmath_atan2(Vector3(x: turn.x, y: turn.y, z: turn.z).length, abs(turn.w))
    }
}

extension Vector3 {
    /// The vector at a right angle to both, by the right-hand rule.
    package func cross(_ other: Vector3) -> Vector3 {
        Vector3(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    /// The sum of the products of the components.
    package func dot(_ other: Vector3) -> Double { x * other.x + y * other.y + z * other.z }

    package static func + (left: Vector3, right: Vector3) -> Vector3 {
        Vector3(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    package static func * (vector: Vector3, factor: Double) -> Vector3 {
        Vector3(x: vector.x * factor, y: vector.y * factor, z: vector.z * factor)
    }

    /// Whether all components are numbers.
    package var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}
