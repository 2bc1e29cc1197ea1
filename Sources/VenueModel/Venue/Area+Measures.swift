import IndoorVocabulary

extension Area {
    /// The size of the area in m². Parts of a self-intersecting polygon can cancel each other.
    public var squareMeters: Double {
        switch self {
        case .circle(_, let radius):
            return .pi * radius * radius
        case .polygon(let corners):
            // Shoelace formula relative to the first corner, so that large coordinates lose no precision.
            guard let origin = corners.first, var previous = corners.last else { return 0 }
            var twice = 0.0
            for corner in corners {
                let (a, b) = (previous - origin, corner - origin)
                twice += a.x * b.y - b.x * a.y
                previous = corner
            }
            return abs(twice) / 2
        }
    }

    /// Returns the distance in metres from the area to a point; 0 inside the area and infinite for a polygon without
    /// corners. The time is linear in the number of corners.
    public func distance(to point: MapPoint) -> Double {
        switch self {
        case .circle(let center, let radius):
            return max(0, center.distance(to: point) - radius)
        case .polygon(let corners):
            guard !contains(point) else { return 0 }
            guard var previous = corners.last else { return .infinity }
            var nearest = Double.infinity
            for corner in corners {
                nearest = min(nearest, Self.distance(from: point, toLineFrom: previous, to: corner))
                previous = corner
            }
            return nearest
        }
    }

    /// Returns the distance between a point and a line segment.
    private static func distance(from point: MapPoint, toLineFrom start: MapPoint, to end: MapPoint) -> Double {
        let (along, offset) = (end - start, point - start)
        let squared = along.x * along.x + along.y * along.y
        guard squared > 0 else { return start.distance(to: point) }
        let share = min(max((offset.x * along.x + offset.y * along.y) / squared, 0), 1)
        return (start + along * share).distance(to: point)
    }
}
