import IndoorVocabulary

/// An axis-aligned rectangle on a map, including its edges.
package struct BoundingBox: Hashable, Sendable {
    package var minX: Double
    package var minY: Double
    package var maxX: Double
    package var maxY: Double

    /// The empty box, which contains no point.
    static let empty = BoundingBox(minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)
    /// The infinite box, which contains every point.
    static let everywhere = BoundingBox(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)

    var center: MapPoint { MapPoint(x: minX + (maxX - minX) / 2, y: minY + (maxY - minY) / 2) }

    /// Returns whether the box contains a point; false if a coordinate is NaN.
    func contains(_ point: MapPoint) -> Bool {
        point.x >= minX && point.x <= maxX && point.y >= minY && point.y <= maxY
    }

    func union(_ other: BoundingBox) -> BoundingBox {
        BoundingBox(
            minX: min(minX, other.minX), minY: min(minY, other.minY), maxX: max(maxX, other.maxX),
            maxY: max(maxY, other.maxY))
    }
}

extension Area {
    /// A box that contains the area; nil if the area is empty.
    ///
    /// The margin of the box exceeds the rounding errors of `contains`. For coordinates that are too large or NaN, the
    /// box is infinite, so only `contains` decides.
    package var bounds: BoundingBox? {
        let largest = 1e100
        switch self {
        case .circle(let center, let radius):
            guard radius >= 0 else { return nil }
            guard abs(center.x) < largest, abs(center.y) < largest, radius < largest else { return .everywhere }
            let reach = radius + Self.margin(max(abs(center.x), abs(center.y), radius))
            return BoundingBox(
                minX: center.x - reach, minY: center.y - reach, maxX: center.x + reach, maxY: center.y + reach)
        case .polygon(let corners):
            guard !corners.isEmpty else { return nil }
            var box = BoundingBox.empty
            for corner in corners {
                guard abs(corner.x) < largest, abs(corner.y) < largest else { return .everywhere }
                box = box.union(BoundingBox(minX: corner.x, minY: corner.y, maxX: corner.x, maxY: corner.y))
            }
            let margin = Self.margin(max(abs(box.minX), abs(box.minY), abs(box.maxX), abs(box.maxY)))
            return BoundingBox(
                minX: box.minX - margin, minY: box.minY - margin, maxX: box.maxX + margin, maxY: box.maxY + margin)
        }
    }

    /// Returns whether the bounding box overlaps a plan.
    package func touches(_ map: VenueMap) -> Bool {
        guard let bounds else { return false }
        return bounds.maxX >= 0 && bounds.minX <= map.width && bounds.maxY >= 0 && bounds.minY <= map.height
    }

    /// Returns a thousand times the rounding error of a `Double` with the magnitude `size`.
    private static func margin(_ size: Double) -> Double { size * 1000 * .ulpOfOne }
}
