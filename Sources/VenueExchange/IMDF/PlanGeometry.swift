import IndoorVocabulary
import VenueModel
import VenuePackets

/// A straight line segment of a plan, longer than a millimetre.
struct StraightLine: Hashable, Sendable {
    let from: MapPoint
    let to: MapPoint
    /// The length in metres.
    let length: Double
    /// The unit vector along the line.
    private let direction: MapPoint

    /// Creates a line; nil if the two points are less than a millimetre apart.
    init?(from: MapPoint, to: MapPoint) {
        length = from.distance(to: to)
        guard length > 0.001 else { return nil }
        self.from = from
        self.to = to
        direction = (to - from) * (1 / length)
    }

    /// Returns the edges of a ring.
    static func edges(of ring: [MapPoint]) -> [StraightLine] {
        zip(ring, ring.dropFirst() + ring.prefix(1)).compactMap { StraightLine(from: $0, to: $1) }
    }

    /// Returns the segments of a polyline.
    static func pieces(of line: [MapPoint]) -> [StraightLine] {
        zip(line, line.dropFirst()).compactMap { StraightLine(from: $0, to: $1) }
    }

    var box: PlanBox { PlanBox(from, to) }

    /// Returns the point at a distance from the start.
    func point(at metres: Double) -> MapPoint {
        metres <= 0 ? from : metres >= length ? to : from + direction * metres
    }

    /// Returns metres along the line and to its right, seen along it with y down.
    func offset(of point: MapPoint) -> (along: Double, beside: Double) {
        let offset = point - from
        return (
            offset.x * direction.x + offset.y * direction.y, offset.y * direction.x - offset.x * direction.y
        )
    }

    /// Returns a point beside the line: to its right for a positive distance.
    func point(at metres: Double, beside distance: Double) -> MapPoint {
        from + direction * metres + MapPoint(x: -direction.y, y: direction.x) * distance
    }

    /// Returns the part of this line that another line runs along, in metres from the start; nil if it doesn't.
    ///
    /// - Parameters:
    ///   - distance: the largest distance between the two lines.
    ///   - leastCosine: the smallest cosine of the angle between them.
    func shadow(of other: StraightLine, within distance: Double, leastCosine: Double) -> ClosedRange<Double>? {
        let cosine = direction.x * other.direction.x + direction.y * other.direction.y
        guard abs(cosine) >= leastCosine else { return nil }
        let (first, second) = (offset(of: other.from), offset(of: other.to))
        let low = max(0, min(first.along, second.along))
        let high = min(length, max(first.along, second.along))
        // A shared part below a centimetre means that the two lines only meet at their ends.
        guard high - low > 0.01 else { return nil }
        let share = ((low + high) / 2 - first.along) / (second.along - first.along)
        let beside = first.beside + (second.beside - first.beside) * share
        return abs(beside) <= distance ? low...high : nil
    }

    /// Returns the line without some parts, in order; segments below a centimetre are omitted.
    func remainder(without parts: [ClosedRange<Double>]) -> [StraightLine] {
        var pieces: [StraightLine] = []
        var start = 0.0
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) + [length...length] {
            if part.lowerBound - start > 0.01,
                let piece = StraightLine(from: point(at: start), to: point(at: part.lowerBound))
            {
                pieces.append(piece)
            }
            start = max(start, part.upperBound)
        }
        return pieces
    }
}

/// A rectangle of a plan with sides along its axes.
struct PlanBox: Hashable, Sendable {
    var minX: Double
    var minY: Double
    var maxX: Double
    var maxY: Double

    /// Creates the smallest box around the points, enlarged by `margin` metres on each side.
    init(around points: some Sequence<MapPoint>, margin: Double = 0) {
        var box: PlanBox?
        for point in points {
            guard let old = box else {
                box = PlanBox(point, point)
                continue
            }
            box = PlanBox(
                MapPoint(x: min(old.minX, point.x), y: min(old.minY, point.y)),
                MapPoint(x: max(old.maxX, point.x), y: max(old.maxY, point.y)))
        }
        self = (box ?? PlanBox(MapPoint(x: 0, y: 0), MapPoint(x: 0, y: 0))).grown(by: margin)
    }

    /// Creates the smallest box around two points.
    init(_ one: MapPoint, _ other: MapPoint) {
        (minX, minY) = (min(one.x, other.x), min(one.y, other.y))
        (maxX, maxY) = (max(one.x, other.x), max(one.y, other.y))
    }

    func meets(_ other: PlanBox) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    /// Returns the box, enlarged by `margin` metres on each side.
    func grown(by margin: Double) -> PlanBox {
        var box = self
        (box.minX, box.minY) = (minX - margin, minY - margin)
        (box.maxX, box.maxY) = (maxX + margin, maxY + margin)
        return box
    }
}

/// A spatial index of boxes on a plan.
struct PlanGrid {
    private let boxes: [PlanBox]
    private let work: ImportWork
    private let bounds: PlanBox
    private let edge: Double
    private let columns: Int
    private var cells: [[Int]]
    /// Boxes that cover so many cells that testing them each time is cheaper.
    private var large: [Int] = []

    /// The smallest edge of a cell in metres, about the width of a door.
    private static let smallestCell = 2.0
    /// The largest number of cells along each axis.
    private static let mostCells = 128
    /// The largest number of cells that list one box.
    private static let mostOfOne = 256

    /// - Parameter work: counts what a search takes.
    init(_ boxes: [PlanBox], work: ImportWork) {
        self.boxes = boxes
        self.work = work
        bounds = PlanBox(
            around: boxes.lazy.flatMap { [MapPoint(x: $0.minX, y: $0.minY), MapPoint(x: $0.maxX, y: $0.maxY)] })
        let longest = max(bounds.maxX - bounds.minX, bounds.maxY - bounds.minY)
        edge = max(Self.smallestCell, longest / Double(Self.mostCells - 1))
        columns = Int((bounds.maxX - bounds.minX) / edge) + 1
        cells = Array(repeating: [], count: columns * (Int((bounds.maxY - bounds.minY) / edge) + 1))
        for (index, box) in boxes.enumerated() {
            let (rows, columns) = covered(by: box)
            if rows.count * columns.count > Self.mostOfOne {
                large.append(index)
            } else {
                for row in rows { for column in columns { cells[row * self.columns + column].append(index) } }
            }
        }
    }

    /// Returns the items whose boxes overlap this one, in ascending order.
    func near(_ box: PlanBox) -> [Int] {
        guard box.meets(bounds) else { return [] }
        let (rows, columns) = covered(by: box)
        var steps = large.count + rows.count * columns.count
        var found = large.filter { boxes[$0].meets(box) }
        for row in rows {
            for column in columns {
                let cell = cells[row * self.columns + column]
                steps += cell.count
                for index in cell where boxes[index].meets(box) { found.append(index) }
            }
        }
        work.spend(steps)
        // A box is in all the cells that it covers.
        found.sort()
        var distinct: [Int] = []
        distinct.reserveCapacity(found.count)
        for index in found where distinct.last != index { distinct.append(index) }
        return distinct
    }

    private func covered(by box: PlanBox) -> (rows: ClosedRange<Int>, columns: ClosedRange<Int>) {
        let rows = cells.count / columns
        func range(_ low: Double, _ high: Double, _ count: Int) -> ClosedRange<Int> {
            let first = min(max(Int(low / edge), 0), count - 1)
            return first...min(max(Int(high / edge), first), count - 1)
        }
        let horizontal = range(box.minX - bounds.minX, box.maxX - bounds.minX, columns)
        return (range(box.minY - bounds.minY, box.maxY - bounds.minY, rows), horizontal)
    }
}

/// Cuts areas with holes into simple polygons, because a packet's polygons have no holes.
///
/// The area is cut into trapezoids at the height of every corner and crossing; trapezoids between the same two edges
/// are joined again. This is correct for all rings, even if they cross each other.
struct PolygonPieces {
    /// An edge that isn't horizontal, from its upper end to its lower end.
    private struct Edge {
        let top: MapPoint
        let bottom: MapPoint
        /// 0 for the area, 1 and above for the areas to subtract.
        let owner: Int

        func x(at y: Double) -> Double {
            y <= top.y
                ? top.x : y >= bottom.y ? bottom.x : top.x + (bottom.x - top.x) * (y - top.y) / (bottom.y - top.y)
        }

        /// Returns the height at which two edges cross; nil if they don't.
        func crossing(_ other: Edge) -> Double? {
            let (a, b) = (bottom - top, other.bottom - other.top)
            let denominator = a.x * b.y - a.y * b.x
            guard denominator != 0 else { return nil }
            let offset = other.top - top
            let t = (offset.x * b.y - offset.y * b.x) / denominator
            let u = (offset.x * a.y - offset.y * a.x) / denominator
            return t > 0 && t < 1 && u > 0 && u < 1 ? top.y + a.y * t : nil
        }
    }

    /// A trapezoid between two edges.
    private struct Piece {
        let left: Int
        let right: Int
        var top: Double
        var bottom: Double
    }

    /// Returns whether the rings contain the point, by the even-odd rule.
    static func contains(_ point: MapPoint, _ rings: [[MapPoint]]) -> Bool {
        rings.reduce(false) { $0 != Area.polygon($1).contains(point) }
    }

    /// Returns simple polygons that cover the inside of the rings without the inside of the others.
    ///
    /// A single simple ring is returned unchanged. Quadratic in the number of corners; nil if there are too many
    /// corners or crossings.
    static func pieces(of rings: [[MapPoint]], without others: Blocked) -> [[MapPoint]]? {
        let own = edges(of: rings, 0)
        let near = others.near(PlanBox(around: rings.first ?? [])).filter { other in
            return other.joined().contains { contains($0, rings) } || rings.joined().contains { contains($0, other) }
                || edges(of: other, 1).contains { edge in own.contains { $0.crossing(edge) != nil } }
        }
        let corners = (rings + near.joined()).reduce(0) { $0 + $1.count }
        guard corners <= InputLimits.standard.corners else { return nil }
        if near.isEmpty, rings.count == 1, PolygonDefect(in: rings[0]) == nil { return rings }
        return PolygonPieces(edges: own + near.enumerated().flatMap { edges(of: $1, $0 + 1) }).polygons()
    }

    /// The areas to subtract on a level.
    struct Blocked {
        private let areas: [[[MapPoint]]]
        private let grid: PlanGrid

        init(_ areas: [[[MapPoint]]], work: ImportWork) {
            self.areas = areas
            grid = PlanGrid(areas.map { PlanBox(around: $0.first ?? []) }, work: work)
        }

        /// Returns the areas whose boxes meet this one.
        func near(_ box: PlanBox) -> [[[MapPoint]]] { grid.near(box).map { areas[$0] } }

        func contains(_ point: MapPoint) -> Bool {
            near(PlanBox(point, point)).contains { PolygonPieces.contains(point, $0) }
        }
    }

    private static func edges(of rings: [[MapPoint]], _ owner: Int) -> [Edge] {
        rings.flatMap(StraightLine.edges).filter { $0.from.y != $0.to.y }.map {
            $0.from.y < $0.to.y
                ? Edge(top: $0.from, bottom: $0.to, owner: owner) : Edge(top: $0.to, bottom: $0.from, owner: owner)
        }
    }

    private let edges: [Edge]

    /// The largest product of edges and cutting heights: a hall of 200 corners with 100 obstacles has 400,000.
    private static let mostCuts = 400_000

    /// Returns the polygons; nil if there are too many cuts.
    private func polygons() -> [[MapPoint]]? {
        var heights = Set(edges.flatMap { [$0.top.y, $0.bottom.y] })
        for (index, edge) in edges.enumerated() {
            for other in edges[(index + 1)...] {
                if let height = edge.crossing(other) { heights.insert(height) }
            }
            guard heights.count * edges.count <= Self.mostCuts else { return nil }
        }
        let levels = heights.sorted()
        var open: [Piece] = []
        var done: [Piece] = []
        for (top, bottom) in zip(levels, levels.dropFirst()) {
            let found = pieces(from: top, to: bottom)
            var next: [Piece] = []
            for piece in found {
                let above = open.first { $0.left == piece.left && $0.right == piece.right }
                next.append(Piece(left: piece.left, right: piece.right, top: above?.top ?? top, bottom: bottom))
            }
            done += open.filter { old in !found.contains { $0.left == old.left && $0.right == old.right } }
            open = next
        }
        return (done + open).compactMap(polygon)
    }

    /// Returns the trapezoids between two heights; no edge ends or crosses another between these heights.
    private func pieces(from top: Double, to bottom: Double) -> [Piece] {
        let middle = (top + bottom) / 2
        let active = edges.indices.filter { edges[$0].top.y < middle && edges[$0].bottom.y > middle }
            .map { (index: $0, x: edges[$0].x(at: middle)) }.sorted { ($0.x, $0.index) < ($1.x, $1.index) }
        var pieces: [Piece] = []
        var isInside = false
        var excluded: Set<Int> = []
        for (edge, next) in zip(active, active.dropFirst()) {
            let owner = edges[edge.index].owner
            if owner == 0 {
                isInside.toggle()
            } else if excluded.remove(owner) == nil {
                excluded.insert(owner)
            }
            if isInside, excluded.isEmpty {
                pieces.append(Piece(left: edge.index, right: next.index, top: top, bottom: bottom))
            }
        }
        return pieces
    }

    /// Returns the corners of a trapezoid in whole millimetres; nil if it is narrower than that.
    private func polygon(_ piece: Piece) -> [MapPoint]? {
        let (left, right) = (edges[piece.left], edges[piece.right])
        let corners = [(left, piece.top), (right, piece.top), (right, piece.bottom), (left, piece.bottom)].map {
            MapPoint(x: ($0.0.x(at: $0.1) * 1000).rounded() / 1000, y: ($0.1 * 1000).rounded() / 1000)
        }
        var distinct: [MapPoint] = []
        for corner in corners where !distinct.contains(corner) { distinct.append(corner) }
        return PolygonDefect(in: distinct) == nil ? distinct : nil
    }
}

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
