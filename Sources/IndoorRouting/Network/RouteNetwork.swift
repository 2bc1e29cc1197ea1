import IndoorVocabulary
import VenueModel

/// The path graph of a venue as flat tables for the route search.
struct RouteNetwork: Sendable {
    /// A directed edge that leaves a node.
    struct Arc: Sendable {
        var weight: Double
        var target: Int32
        var kind: UInt8
    }

    /// An edge, in the order of the graph.
    struct Edge: Sendable {
        var from: Int32
        var to: Int32
        /// Its weight, in equivalent metres of level walking.
        var weight: Double
        /// The walking distance in metres.
        var length: Double
        var kind: PathGraph.Edge.Kind
        var isOneWay: Bool
        /// The index of the edge in the graph.
        var index: Int32
    }

    let venueID: VenueID
    let nodes: [RoutePoint]
    /// The index of each node in the graph.
    let nodeIndexes: [Int32]
    let edges: [Edge]
    /// The start offset of each node's arcs in `arcs`, followed by the end offset of the last node's arcs.
    let starts: [Int32]
    let arcs: [Arc]
    /// The edge of each arc.
    let arcEdges: [Int32]
    let space: RouteSpace
    /// The level of each map.
    let levels: [MapID: Int]
    /// The edges of each map.
    let ways: [MapID: WayIndex]
    /// The edges with an invalid end or an invalid weight.
    let ignoredEdges: [PathGraph.Edge]

    /// The default floor height in metres, for packets that don't specify elevations.
    private static let storey = 4.0

    /// Creates the tables of the edges that the tags permit; they are empty if the venue has no path graph.
    init(venue: Venue, tags: RouteTags = .none) {
        let graph = venue.paths ?? PathGraph(nodes: [], edges: [])
        venueID = venue.id
        let heights = Dictionary(
            venue.maps.map { ($0.id, $0.elevation ?? Double($0.level) * Self.storey) },
            uniquingKeysWith: { first, _ in first })
        levels = Dictionary(venue.maps.map { ($0.id, $0.level) }, uniquingKeysWith: { first, _ in first })
        var indexes: [Int: Int32] = [:]
        var nodes: [RoutePoint] = []
        indexes.reserveCapacity(graph.nodes.count)
        nodes.reserveCapacity(graph.nodes.count)
        var nodeIndexes: [Int32] = []
        nodeIndexes.reserveCapacity(graph.nodes.count)
        for (index, node) in graph.nodes.enumerated() where indexes[node.id] == nil && heights[node.mapID] != nil {
            let place = RoutePoint(mapID: node.mapID, point: node.point)
            guard place.isPlace else { continue }
            indexes[node.id] = Int32(nodes.count)
            nodes.append(place)
            nodeIndexes.append(Int32(index))
        }
        var edges: [Edge] = []
        var ignored: [PathGraph.Edge] = []
        edges.reserveCapacity(graph.edges.count)
        for (index, edge) in graph.edges.enumerated() where tags == .none || tags.permits(edge.tags) {
            guard let from = indexes[edge.from], let to = indexes[edge.to], from != to,
                let made = Self.edge(edge, Int32(index), from, to, nodes, heights)
            else {
                ignored.append(edge)
                continue
            }
            edges.append(made)
        }
        self.nodes = nodes
        self.nodeIndexes = nodeIndexes
        self.edges = edges
        ignoredEdges = ignored
        (starts, arcs, arcEdges) = Self.arcs(of: edges, nodes: nodes.count)
        space = RouteSpace(nodes: nodes, edges: edges, heights: heights)
        ways = WayIndex.all(nodes: nodes, edges: edges, maps: venue.maps)
    }

    /// Returns the source node of an arc.
    func source(of arc: Int) -> Int {
        let edge = edges[Int(arcEdges[arc])]
        return Int(edge.to == arcs[arc].target ? edge.from : edge.to)
    }

    private static func edge(
        _ edge: PathGraph.Edge, _ index: Int32, _ from: Int32, _ to: Int32, _ nodes: [RoutePoint],
        _ heights: [MapID: Double]
    ) -> Edge? {
        let (begin, end) = (nodes[Int(from)], nodes[Int(to)])
        let heightDifference = (heights[end.mapID] ?? 0) - (heights[begin.mapID] ?? 0)
        let flat = begin.point.distance(to: end.point)
        let length = (flat * flat + heightDifference * heightDifference).squareRoot()
        let weight = edge.weight ?? length
        guard weight >= 0, weight < .infinity, length < .infinity else { return nil }
        return Edge(
            from: from, to: to, weight: weight, length: edge.kind == .elevator ? 0 : length, kind: edge.kind,
            isOneWay: edge.isOneWay, index: index)
    }

    /// Groups the edges by source node, as compressed adjacency lists.
    private static func arcs(of edges: [Edge], nodes: Int) -> (starts: [Int32], arcs: [Arc], arcEdges: [Int32]) {
        var starts = [Int32](repeating: 0, count: nodes + 1)
        for edge in edges {
            starts[Int(edge.from) + 1] += 1
            if !edge.isOneWay { starts[Int(edge.to) + 1] += 1 }
        }
        for node in 0..<nodes { starts[node + 1] += starts[node] }
        let count = Int(starts[nodes])
        var next = starts
        var arcs = [Arc](repeating: Arc(weight: 0, target: 0, kind: 0), count: count)
        var arcEdges = [Int32](repeating: 0, count: count)
        func add(_ edge: Edge, _ index: Int, from: Int32, to: Int32) {
            let slot = Int(next[Int(from)])
            next[Int(from)] += 1
            arcs[slot] = Arc(weight: edge.weight, target: to, kind: UInt8(edge.kind.index))
            arcEdges[slot] = Int32(index)
        }
        for (index, edge) in edges.enumerated() {
            add(edge, index, from: edge.from, to: edge.to)
            if !edge.isOneWay { add(edge, index, from: edge.to, to: edge.from) }
        }
        return (starts, arcs, arcEdges)
    }
}

/// The nodes of a network in one common space, for a lower bound of the cost between two places.
///
/// In any space, a path costs at least its straight-line distance times the lowest cost per metre of any edge. This
/// holds for each edge by definition, and therefore for every chain of edges: the bound never exceeds the cost, and
/// from node to node it decreases by no more than the cost of the edge (Hart, Nilsson, Raphael 1968: admissible and
/// consistent). The arrangement of the maps in the space affects only the tightness of the bound. Because floor plans
/// can have different origins, the maps are aligned so that stairs and elevators are vertical.
struct RouteSpace: Sendable {
    struct Place: Sendable {
        var x: Double
        var y: Double
        var z: Double

        func distance(to other: Place) -> Double {
            let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
            return (dx * dx + dy * dy + dz * dz).squareRoot()
        }
    }

    /// The place of each node.
    let places: [Place]
    /// The lowest weight per metre of each kind of edge, by the index of the kind; infinite for a kind without edges.
    let leastWeights: SIMD4<Double>
    /// The origin of each map.
    private let origins: [MapID: Place]

    init(nodes: [RoutePoint], edges: [RouteNetwork.Edge], heights: [MapID: Double]) {
        var origins = Self.origins(nodes, edges)
        let flat = Self.places(nodes, origins)
        let flatWeights = Self.leastWeights(flat, edges)
        for (map, height) in heights { origins[map, default: Place(x: 0, y: 0, z: 0)].z = height }
        let upright = Self.places(nodes, origins)
        let uprightWeights = Self.leastWeights(upright, edges)
        // Heights tighten the bound if a change of floor costs at least its height. With heights, an elevator without
        // cost would make each bound zero; then ignore them.
        if uprightWeights.min() < flatWeights.min() {
            for map in heights.keys { origins[map]?.z = 0 }
            (places, leastWeights) = (flat, flatWeights)
        } else {
            (places, leastWeights) = (upright, uprightWeights)
        }
        self.origins = origins
    }

    /// Returns the place of a point on a map.
    func place(_ point: RoutePoint) -> Place { Self.place(point, origins) }

    private static func place(_ point: RoutePoint, _ origins: [MapID: Place]) -> Place {
        let origin = origins[point.mapID] ?? Place(x: 0, y: 0, z: 0)
        return Place(x: origin.x + point.x, y: origin.y + point.y, z: origin.z)
    }

    private static func places(_ nodes: [RoutePoint], _ origins: [MapID: Place]) -> [Place] {
        nodes.map { place($0, origins) }
    }

    private static func leastWeights(_ places: [Place], _ edges: [RouteNetwork.Edge]) -> SIMD4<Double> {
        var least = SIMD4<Double>(repeating: .infinity)
        for edge in edges {
            let distance = places[Int(edge.from)].distance(to: places[Int(edge.to)])
            guard distance > 0 else { continue }
            least[edge.kind.index] = Swift.min(least[edge.kind.index], edge.weight / distance)
        }
        return least
    }

    /// Aligns the maps one after another; the median edge from a map to the maps already aligned becomes vertical.
    private static func origins(_ nodes: [RoutePoint], _ edges: [RouteNetwork.Edge]) -> [MapID: Place] {
        var offsets: [MapID: [MapID: [MapPoint]]] = [:]
        for edge in edges {
            let (from, to) = (nodes[Int(edge.from)], nodes[Int(edge.to)])
            guard from.mapID != to.mapID else { continue }
            offsets[from.mapID, default: [:]][to.mapID, default: []].append(from.point - to.point)
            offsets[to.mapID, default: [:]][from.mapID, default: []].append(to.point - from.point)
        }
        var origins: [MapID: Place] = [:]
        for first in offsets.keys.sorted() where origins[first] == nil {
            origins[first] = Place(x: 0, y: 0, z: 0)
            var queue = [first]
            while let map = queue.popLast(), let origin = origins[map] {
                for (next, moves) in (offsets[map] ?? [:]).sorted(by: { $0.key < $1.key }) where origins[next] == nil {
                    let x = moves.map(\.x).sorted()[moves.count / 2]
                    let y = moves.map(\.y).sorted()[moves.count / 2]
                    origins[next] = Place(x: origin.x + x, y: origin.y + y, z: 0)
                    queue.append(next)
                }
            }
        }
        return origins
    }
}

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

/// A line segment between two points of one map.
struct WaySegment: Hashable, Sendable {
    var from: MapPoint
    var to: MapPoint

    /// Returns the position of the nearest point to `point`, as a share of the segment's length from 0 to 1.
    func share(nearestTo point: MapPoint) -> Double {
        let (way, offset) = (to - from, point - from)
        let square = way.x * way.x + way.y * way.y
        guard square > 0 else { return 0 }
        return min(1, max(0, (way.x * offset.x + way.y * offset.y) / square))
    }

    /// Returns the point at a share of the segment's length.
    func point(at share: Double) -> MapPoint { share == 1 ? to : from + (to - from) * share }
}
