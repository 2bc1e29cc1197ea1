import IndoorVocabulary

extension Area {
    /// The largest number of heights at which a place inside is searched.
    private static let mostHeights = 64

    /// A point inside the area that stands for all of it: the centre, or if that is outside, such as in a room around a
    /// courtyard, a point far from the outline. Nil for an area without a size.
    ///
    /// The time is linear in the number of corners, or a little longer if the centre is outside.
    package var middle: MapPoint? {
        switch self {
        case .circle(let center, let radius): return radius > 0 ? center : nil
        case .polygon(let corners):
            guard let centroid = Self.centroid(of: corners) else { return nil }
            return contains(centroid) ? centroid : farthestInside(corners)
        }
    }

    /// Returns the centre of mass of a polygon; nil without a size.
    private static func centroid(of corners: [MapPoint]) -> MapPoint? {
        // Relative to the first corner, so that large coordinates lose no precision.
        guard let origin = corners.first, var previous = corners.last else { return nil }
        var (twice, sum) = (0.0, MapPoint(x: 0, y: 0))
        for corner in corners {
            let (a, b) = (previous - origin, corner - origin)
            let cross = a.x * b.y - b.x * a.y
            twice += cross
            sum = sum + (a + b) * cross
            previous = corner
        }
        let centroid = origin + sum * (1 / (3 * twice))
        return centroid.x.isFinite && centroid.y.isFinite ? centroid : nil
    }

    /// Returns the middle of a horizontal line within the polygon, the longest one at each of some heights between corners,
    /// that is farthest from the outline; nil without one.
    private func farthestInside(_ corners: [MapPoint]) -> MapPoint? {
        let all = Set(corners.map(\.y)).sorted()
        let heights = stride(from: 0, to: all.count, by: 1 + all.count / Self.mostHeights).map { all[$0] }
        var best: (point: MapPoint, distance: Double)?
        for (low, high) in zip(heights, heights.dropFirst() + all.suffix(1)) {
            let y = (low + high) / 2
            let sides = zip(corners, corners.dropFirst() + corners.prefix(1))
            let crossings: [Double] = sides.compactMap { start, end -> Double? in
                guard (start.y > y) != (end.y > y) else { return nil }
                return start.x + (end.x - start.x) * (y - start.y) / (end.y - start.y)
            }.sorted()
            // Every other part of the line is inside.
            let lines: [(left: Double, right: Double)] = stride(from: 1, to: crossings.count, by: 2).map {
                (crossings[$0 - 1], crossings[$0])
            }
            guard let (left, right) = lines.max(by: { $0.right - $0.left < $1.right - $1.left }) else { continue }
            let point = MapPoint(x: (left + right) / 2, y: y)
            guard contains(point) else { continue }
            let distance = Self.distance(from: point, toOutline: corners)
            if distance > best?.distance ?? 0 { best = (point, distance) }
        }
        return best?.point
    }
}
