import IndoorVocabulary

/// Finds outlines that cross themselves so often that they enclose no meaningful area.
struct OutlineTangles {
    /// The maximum number of crossings of an outline. Carelessly drawn outlines have only a few.
    static let most = 100

    /// The pairs of edges that may still be compared: an outline of 10,000 corners in one row has 50 million.
    private var pairs = 50_000_000

    /// Returns whether a ring has too many crossings, or so many edges beside each other that they can't be counted.
    mutating func isTangled(_ ring: [Coordinate]) -> Bool {
        guard ring.count > 20 else { return false }
        typealias Edge = (from: Coordinate, to: Coordinate, west: Double, east: Double)
        let edges = zip(ring, ring.dropFirst() + ring.prefix(1)).map { from, to -> Edge in
            (from, to, min(from.longitude, to.longitude), max(from.longitude, to.longitude))
        }.sorted { $0.west < $1.west }
        var open: [Edge] = []
        var crossings = 0
        for edge in edges {
            open.removeAll { $0.east < edge.west }
            pairs -= open.count
            guard pairs >= 0 else { return true }
            for other in open where Self.cross(edge.from, edge.to, other.from, other.to) {
                crossings += 1
                guard crossings <= Self.most else { return true }
            }
            open.append(edge)
        }
        return false
    }

    /// Returns whether two edges cross; edges that only touch don't.
    private static func cross(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate, _ d: Coordinate) -> Bool {
        func side(_ from: Coordinate, _ to: Coordinate, _ place: Coordinate) -> Double {
            (to.longitude - from.longitude) * (place.latitude - from.latitude)
                - (to.latitude - from.latitude) * (place.longitude - from.longitude)
        }
        return (side(a, b, c) > 0) != (side(a, b, d) > 0) && (side(c, d, a) > 0) != (side(c, d, b) > 0)
            && side(a, b, c) != 0 && side(a, b, d) != 0 && side(c, d, a) != 0 && side(c, d, b) != 0
    }
}
