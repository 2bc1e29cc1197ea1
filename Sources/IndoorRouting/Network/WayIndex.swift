import IndoorVocabulary
import VenueModel

/// A spatial index of the edges of one map.
struct WayIndex: Sendable {
    /// An edge on the map, or a node from which an edge leaves for another map.
    struct Way: Sendable {
        var segment: WaySegment
        var kinds: WayKinds
        /// The edge; nil for a node.
        var edge: Int32?
        /// The start node of the edge, or the node itself.
        var node: Int32
    }

    /// The nearest point of an edge to a place.
    struct Projection: Hashable, Sendable {
        /// The index of the way.
        var way: Int
        /// The position along the way, as a share of its length.
        var share: Double
        var point: MapPoint
        /// The distance to the place in metres.
        var distance: Double
    }

    let ways: [Way]
    private let walls: WallIndex
    private let origin: MapPoint
    /// Edge of a cell in metres.
    private let cell: Double
    private let columns: Int
    private let rows: Int
    /// The start offset of each cell's ways in `members`, followed by the end offset of the last cell.
    private let starts: [Int32]
    private let members: [Int32]

    /// The maximum number of cells per way.
    private static let cellsPerWay = 4.0
    /// Smallest edge length of a cell in metres.
    private static let smallestCell = 1.0
    /// The difference in metres below which two ways are equally near, such as ways that meet in a node.
    private static let tie = 1e-6
    /// The distance in metres from a place within which walls are ignored, so that an object mounted on a wall doesn't
    /// count as behind the wall.
    private static let wallDepth = 0.1

    /// Returns the index of each map that has ways.
    static func all(nodes: [RoutePoint], edges: [RouteNetwork.Edge], maps: [VenueMap]) -> [MapID: WayIndex] {
        var ways: [MapID: [Way]] = [:]
        var landings: [Int32: WayKinds] = [:]
        for (index, edge) in edges.enumerated() {
            let (from, to) = (nodes[Int(edge.from)], nodes[Int(edge.to)])
            let kinds = WayKinds([edge.kind])
            if from.mapID == to.mapID {
                ways[from.mapID, default: []].append(
                    Way(
                        segment: WaySegment(from: from.point, to: to.point), kinds: kinds, edge: Int32(index),
                        node: edge.from))
            } else {
                landings[edge.from, default: []].formUnion(kinds)
                landings[edge.to, default: []].formUnion(kinds)
            }
        }
        // A map may contain only the landing of an elevator.
        for (node, kinds) in landings.sorted(by: { $0.key < $1.key }) {
            let place = nodes[Int(node)]
            ways[place.mapID, default: []].append(
                Way(segment: WaySegment(from: place.point, to: place.point), kinds: kinds, edge: nil, node: node))
        }
        let walls = Dictionary(maps.map { ($0.id, $0.walls) }, uniquingKeysWith: { first, _ in first })
        return Dictionary(
            uniqueKeysWithValues: ways.map { map, ways in (map, WayIndex(ways, walls: walls[map] ?? [])) })
    }

    private init(_ ways: [Way], walls: [[MapPoint]]) {
        self.ways = ways
        self.walls = WallIndex(walls: walls)
        var low = MapPoint(x: .infinity, y: .infinity)
        var high = MapPoint(x: -.infinity, y: -.infinity)
        for way in ways {
            for point in [way.segment.from, way.segment.to] {
                low = MapPoint(x: min(low.x, point.x), y: min(low.y, point.y))
                high = MapPoint(x: max(high.x, point.x), y: max(high.y, point.y))
            }
        }
        let (width, height) = (high.x - low.x, high.y - low.y)
        let limit = Self.cellsPerWay * Double(ways.count) + 16
        let edge = max(Self.smallestCell, (width * height / limit).squareRoot(), max(width, height) / limit)
        (origin, cell) = (low, edge)
        (columns, rows) = (Int(width / edge) + 1, Int(height / edge) + 1)
        let grid = WayRaster(origin: low, cell: edge, columns: columns, rows: rows)
        var counts = [Int32](repeating: 0, count: columns * rows + 1)
        for way in ways { grid.visit(way.segment) { counts[$0 + 1] += 1 } }
        for index in 1..<counts.count { counts[index] += counts[index - 1] }
        starts = counts
        var members = [Int32](repeating: 0, count: Int(counts[counts.count - 1]))
        for (index, way) in ways.enumerated() {
            grid.visit(way.segment) { cell in
                members[Int(counts[cell])] = Int32(index)
                counts[cell] += 1
            }
        }
        self.members = members
    }

    /// The nearest projections found so far, including ties.
    private struct Nearest {
        var feet: [Projection] = []
        var distance = Double.infinity

        /// Returns whether a projection at this distance is one of the nearest.
        func takes(_ distance: Double) -> Bool { distance <= self.distance + WayIndex.tie }

        mutating func add(_ foot: Projection) {
            if foot.distance < distance - WayIndex.tie { feet = [] }
            distance = min(distance, foot.distance)
            if !feet.contains(where: { $0.way == foot.way }) { feet.append(foot) }
        }
    }

    /// Returns the nearest projections that aren't behind a wall; if all are behind a wall, the nearest of all.
    ///
    /// The result has several elements where ways meet, and is empty if no way of these kinds is within `limit` metres.
    func feet(of place: MapPoint, _ kinds: WayKinds, within limit: Double) -> (feet: [Projection], crossesWall: Bool) {
        var (free, any) = (Nearest(), Nearest())
        // Clamp the number, so that its conversion is valid. The rings of cells are a valid bound even at that
        // distance.
        func cell(_ offset: Double) -> Int { Int(min(1e9, max(-1e9, (offset / self.cell).rounded(.down)))) }
        let (column, row) = (cell(place.x - origin.x), cell(place.y - origin.y))
        let first = max(0, -column, column - (columns - 1), -row, row - (rows - 1))
        let last = max(abs(column), abs(columns - 1 - column), abs(row), abs(rows - 1 - row))
        for ring in first...max(first, last) {
            guard Double(ring - 1) * self.cell <= min(limit, free.distance + Self.tie) else { break }
            visitRing(ring, column, row) { member in
                guard !kinds.isDisjoint(with: ways[member].kinds) else { return }
                let share = ways[member].segment.share(nearestTo: place)
                let point = ways[member].segment.point(at: share)
                let foot = Projection(way: member, share: share, point: point, distance: point.distance(to: place))
                guard foot.distance <= limit, free.takes(foot.distance) else { return }
                if any.takes(foot.distance) { any.add(foot) }
                if !isBehindWall(point, from: place, foot.distance) { free.add(foot) }
            }
        }
        return free.feet.isEmpty ? (any.feet, !any.feet.isEmpty) : (free.feet, false)
    }

    private func isBehindWall(_ point: MapPoint, from place: MapPoint, _ distance: Double) -> Bool {
        guard !walls.isEmpty, distance > Self.wallDepth else { return false }
        let begin = place + (point - place) * (Self.wallDepth / distance)
        return walls.blocks(fromX: Float(begin.x), y: Float(begin.y), toX: Float(point.x), y: Float(point.y))
    }

    /// Calls `body` with the ways of each cell that is `ring` columns or rows away.
    private func visitRing(_ ring: Int, _ column: Int, _ row: Int, _ body: (Int) -> Void) {
        for y in max(0, row - ring)..<max(0, row - ring, min(rows, row + ring + 1)) {
            let isEdge = abs(y - row) == ring
            var x = column - ring
            while x <= column + ring {
                if isEdge { x = max(x, 0) }
                if x >= columns { break }
                if x >= 0 {
                    let cell = y * columns + x
                    for member in Int(starts[cell])..<Int(starts[cell + 1]) { body(Int(members[member])) }
                }
                x += isEdge ? 1 : max(1, 2 * ring)
            }
        }
    }
}

/// A grid that finds the cells along a segment.
struct WayRaster: Sendable {
    let origin: MapPoint
    /// Edge of a cell in metres.
    let cell: Double
    let columns: Int
    let rows: Int

    /// Calls `body` with each cell that the segment passes through, and with some neighbouring cells.
    func visit(_ segment: WaySegment, _ body: (Int) -> Void) {
        let (from, to) = (segment.from - origin, segment.to - origin)
        let (top, bottom) = (min(from.y, to.y), max(from.y, to.y))
        for row in index(top, rows)...index(bottom, rows) {
            // The part of the segment in this row.
            var (left, right) = (min(from.x, to.x), max(from.x, to.x))
            if bottom - top > cell {
                let slope = (to.x - from.x) / (to.y - from.y)
                let a = from.x + (max(top, Double(row) * cell) - from.y) * slope
                let b = from.x + (min(bottom, Double(row + 1) * cell) - from.y) * slope
                // Rounding can move a crossing into the adjacent cell, but no farther.
                let margin = cell * 1e-6
                (left, right) = (max(left, min(a, b) - margin), min(right, max(a, b) + margin))
            }
            for column in index(left, columns)...index(max(left, right), columns) { body(row * columns + column) }
        }
    }

    private func index(_ offset: Double, _ count: Int) -> Int {
        min(count - 1, max(0, Int((offset / cell).rounded(.down))))
    }
}
