import IndoorVocabulary

/// Counts the work of an import, so that no file takes several minutes.
///
/// A step is a comparison of two boxes, edges or points, which takes some nanoseconds. Counting them gives the same
/// result on every machine. A class because all parts of an import have one budget.
final class ImportWork {
    /// The largest number of steps: Apple's sample of a shopping centre takes 5 million.
    static let limit = 150_000_000

    private(set) var steps = 0
    private let limit: Int
    /// The feature whose outline is being compared with the others.
    var feature = ""
    /// The feature at which the budget was spent.
    private(set) var last = ""

    init(limit: Int = limit) { self.limit = limit }

    /// Whether the result is incomplete, and the import is to be refused.
    var isSpent: Bool { steps > limit }

    func spend(_ count: Int) {
        if !isSpent, steps + count > limit { last = feature }
        steps += count
    }
}

/// A polygon with holes, in which points are found in nearly constant time.
struct IndexedPolygon {
    /// The boundaries of the area: an outline and holes.
    let rings: [[MapPoint]]
    let box: PlanBox
    private let work: ImportWork
    /// The edges in rows of equal height; each edge is in every row that it meets.
    private var rows: [[(from: MapPoint, to: MapPoint)]]
    private let height: Double

    init(_ rings: [[MapPoint]], work: ImportWork) {
        self.rings = rings
        self.work = work
        box = PlanBox(around: rings.joined())
        let corners = Double(rings.reduce(0) { $0 + $1.count })
        // Most edges of an outline are a few rows high, except for the walls along the building. But in an outline with
        // the shape of a comb, every edge has the full height. With many rows, its memory would grow with the square of
        // the number of edges.
        let climbs = rings.reduce(0) { sum, ring in
            zip(ring, ring.dropFirst() + ring.prefix(1)).reduce(sum) { $0 + abs($1.0.y - $1.1.y) }
        }
        let most = climbs > 0 ? 4 * corners * (box.maxY - box.minY) / climbs : 1
        let count = Int(max(1, min(corners / 4, 1_000, most)))
        height = max((box.maxY - box.minY) / Double(count), .leastNormalMagnitude)
        rows = Array(repeating: [], count: count)
        for ring in rings {
            for (from, to) in zip(ring, ring.dropFirst() + ring.prefix(1)) where from.y != to.y {
                let (first, last) = (row(of: min(from.y, to.y)), row(of: max(from.y, to.y)))
                work.spend(last - first + 1)
                guard !work.isSpent else { return }
                for row in first...last { rows[row].append((from, to)) }
            }
        }
    }

    private func row(of y: Double) -> Int {
        let row = (y - box.minY) / height
        return row >= Double(rows.count) ? rows.count - 1 : max(0, Int(row))
    }

    /// Returns whether the rings contain the point, by the even-odd rule.
    func contains(_ point: MapPoint) -> Bool {
        guard point.x >= box.minX, point.x <= box.maxX, point.y >= box.minY, point.y <= box.maxY else { return false }
        let edges = rows[row(of: point.y)]
        work.spend(1 + edges.count)
        // As Area.contains: a ray to the right crosses the outline an odd number of times.
        var isInside = false
        for (from, to) in edges where (to.y > point.y) != (from.y > point.y) {
            if point.x < (from.x - to.x) * (point.y - to.y) / (from.y - to.y) + to.x { isInside.toggle() }
        }
        return isInside
    }
}
