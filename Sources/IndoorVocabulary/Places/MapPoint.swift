import CMath

/// A point or a displacement on a map, in metres: origin at the plan's top-left corner, x right, y down.
public struct MapPoint: Hashable, Sendable {
    /// Metres to the right of the plan's left edge.
    public var x: Double
    /// Metres below the plan's top edge.
    public var y: Double

    /// Creates a point from metres right of and below the plan's top-left corner.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Returns the distance in metres to another point of the same map.
    public func distance(to other: MapPoint) -> Double { cmath_hypot(x - other.x, y - other.y) }

    /// Returns the sum of a point and a displacement, or of two displacements.
    public static func + (left: MapPoint, right: MapPoint) -> MapPoint {
        MapPoint(x: left.x + right.x, y: left.y + right.y)
    }

    /// Returns the displacement from `right` to `left`.
    public static func - (left: MapPoint, right: MapPoint) -> MapPoint {
        MapPoint(x: left.x - right.x, y: left.y - right.y)
    }

    /// Returns the displacement multiplied by `factor`.
    public static func * (point: MapPoint, factor: Double) -> MapPoint {
        MapPoint(x: point.x * factor, y: point.y * factor)
    }

    /// The direction of this displacement in degrees clockwise from the plan's top, in [0, 360); nil if it is zero.
    public var course: Double? {
        guard x != 0 || y != 0 else { return nil }
        let degrees = cmath_atan2(x, -y) * 180 / .pi
        return degrees < 0 ? (degrees + 360 < 360 ? degrees + 360 : 0) : degrees
    }
}

/// A point on a plan's image, in pixels: origin at the top-left corner, x right, y down.
public struct PixelPoint: Hashable, Sendable {
    /// Pixels to the right of the image's left edge.
    public var x: Double
    /// Pixels below the image's top edge.
    public var y: Double

    /// Creates a point from pixels right of and below the image's top-left corner.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}
