import IndoorVocabulary
import VenueModel
import VenuePackets

/// Creates the path graph: paths on each level, and between levels by vertical units and relationships.
extension IMDFConversion {
    /// The cost of a floor change in metres of walking, because IMDF has no heights: two flights of stairs, the wait
    /// for an elevator, the ride on an escalator.
    private static let costs: [PathGraph.Edge.Kind: Double] = [.stairs: 14, .elevator: 30, .escalator: 10]

    // MARK: On a level

    /// Adds the paths of a level.
    mutating func addPaths(on plan: Plan, _ walls: IMDFWalls) {
        let units = features(.unit, on: plan)
        let idle = Set(walls.idleOpenings)
        let openings = features(.opening, on: plan).filter { !idle.contains($0.id) }
        let obstacles = features(.fixture, on: plan).filter { IMDFSpace.isObstacle(fixture: $0.category) }
        let blocked = PolygonPieces.Blocked(
            (units.filter { !space(of: $0).isWalkable } + obstacles).flatMap { rings(of: $0, on: plan) }, work: work)
        let paths = IMDFPaths(
            units: units.filter { space(of: $0).isWalkable }.flatMap { unit in
                rings(of: unit, on: plan).map { rings in
                    IMDFPaths.Unit(
                        id: unit.id, rings: rings, hasOwnWalls: walls.walledUnits.contains(unit.id),
                        places: places(within: rings, of: unit, on: plan, without: blocked))
                }
            },
            doors: openings.flatMap { opening in
                (opening.geometry?.lines ?? []).map {
                    IMDFWalls.Opening(id: opening.id, line: plan.frame.points(at: $0))
                }
            },
            corners: (units + obstacles).flatMap { Array(rings(of: $0, on: plan).joined()) }, walls: walls.walls,
            work: work)
        let byID = Dictionary((units + openings).map { ($0.id, $0) }) { first, _ in first }
        var parts: [String: Int] = [:]
        let ids = paths.nodes.map { node -> Int in
            let feature = node.id.flatMap { byID[$0] }
            let part = parts[node.id ?? "", default: 0]
            parts[node.id ?? ""] = part + 1
            // Corners have no feature: their numbers are derived from the level.
            guard let feature else { return unlistedNumber(of: "node", for: plan.level, part: part + 1) }
            let id = number(of: "node", for: feature, part: part)
            if feature.type == .unit, part == 0 { unitNodes[feature.id] = id }
            return id
        }
        for (id, node) in zip(ids, paths.nodes) {
            graph.nodes.append(PathGraph.Node(id: id, mapID: plan.id, point: node.point))
        }
        for edge in paths.edges { graph.edges.append(PathGraph.Edge(from: ids[edge.from], to: ids[edge.to])) }
    }

    /// Returns points in a unit: its display point, its middle, and the middles of its parts, the largest part first.
    private func places(
        within rings: [[MapPoint]], of unit: IMDFFeature, on plan: Plan, without blocked: PolygonPieces.Blocked
    ) -> [MapPoint] {
        let pieces = (PolygonPieces.pieces(of: rings, without: blocked) ?? [])
            .map { (middle: Self.middle(of: $0), size: Area.polygon($0).squareMeters) }
            .sorted { ($0.size, $0.middle.x, $0.middle.y) > ($1.size, $1.middle.x, $1.middle.y) }
        let middles = rings.prefix(1).map(Self.middle) + pieces.map(\.middle)
        return ([unit.displayPoint.map(plan.frame.point)].compactMap(\.self) + middles).filter { point in
            PolygonPieces.contains(point, rings) && !blocked.contains(point)
        }
    }

    private static func middle(of corners: [MapPoint]) -> MapPoint {
        let sum = corners.reduce(MapPoint(x: 0, y: 0), +) * (1 / Double(corners.count))
        return MapPoint(x: (sum.x * 1000).rounded() / 1000, y: (sum.y * 1000).rounded() / 1000)
    }

    // MARK: Between levels

    /// Connects the levels: first by relationships, then by vertical units above each other.
    mutating func connect(_ plans: [Plan]) {
        var joined: Set<Set<String>> = []
        for relationship in contents[.relationship] { follow(relationship, &joined) }
        for (kind, category) in [(PathGraph.Edge.Kind.stairs, "stairs"), (.elevator, "elevator")] {
            for (index, lower) in plans.enumerated() {
                for unit in shafts(category, on: lower) {
                    joinUpwards(unit, from: lower, to: Array(plans[(index + 1)...]), kind, category, &joined)
                }
            }
        }
        let connected = Set(joined.joined())
        for unit in contents[.unit] where ["elevator", "escalator", "stairs"].contains(unit.category) {
            guard !connected.contains(unit.id) else { continue }
            let why =
                unit.category == "escalator"
                ? contents.advice.undirected
                : "no unit of its category lies above or below it on the next level of its building"
            remark(unit, .changed, "the path graph does not connect it to another level: \(why)")
        }
    }

    /// Returns the graph without isolated nodes; nil if it has no edge. Units without a path are reported.
    mutating func paths() -> PathGraph? {
        let used = Set(graph.edges.flatMap { [$0.from, $0.to] })
        report.identities.removeAll { $0.kind == "node" && !used.contains($0.number) }
        graph.nodes.removeAll { !used.contains($0.id) }
        let reached = Set(report.identities.filter { $0.kind == "node" }.map(\.id))
        for unit in contents[.unit] where space(of: unit).isWalkable && !reached.contains(unit.id) {
            remark(
                unit, .changed,
                "no path of the path graph leads to it: \(contents.advice.pathless)")
        }
        return graph.edges.isEmpty ? nil : graph
    }

    private func shafts(_ category: String, on plan: Plan) -> [IMDFFeature] {
        features(.unit, on: plan).filter { $0.category == category }
    }

    /// Connects a unit with the unit of its category above it: stairs lead to the next level, elevators may skip
    /// levels.
    private mutating func joinUpwards(
        _ unit: IMDFFeature, from lower: Plan, to plans: [Plan], _ kind: PathGraph.Edge.Kind, _ category: String,
        _ joined: inout Set<Set<String>>
    ) {
        for upper in plans where upper.ordinal > lower.ordinal && lower.sharesFrame(with: upper) {
            if kind == .stairs, upper.ordinal > lower.ordinal + 1 { return }
            guard let other = shafts(category, on: upper).first(where: { overlap(unit, $0, on: lower) }) else {
                continue
            }
            add(kind, from: unit, to: other, isOneWay: false, &joined)
            return
        }
    }

    private func overlap(_ unit: IMDFFeature, _ other: IMDFFeature, on plan: Plan) -> Bool {
        let (one, two) = (rings(of: unit, on: plan), rings(of: other, on: plan))
        func holds(_ polygons: [[[MapPoint]]], _ places: [[[MapPoint]]]) -> Bool {
            places.compactMap(\.first).contains { outline in
                polygons.contains { PolygonPieces.contains(Self.middle(of: outline), $0) }
            }
        }
        return holds(one, two) || holds(two, one)
    }

    private mutating func add(
        _ kind: PathGraph.Edge.Kind, from unit: IMDFFeature, to other: IMDFFeature, isOneWay: Bool,
        _ joined: inout Set<Set<String>>
    ) {
        guard let from = unitNodes[unit.id], let to = unitNodes[other.id],
            joined.insert([unit.id, other.id]).inserted
        else { return }
        graph.edges.append(
            PathGraph.Edge(from: from, to: to, weight: Self.costs[kind], kind: kind, isOneWay: isOneWay))
    }

    /// Converts a relationship between two units on different levels to an edge.
    private mutating func follow(_ relationship: IMDFFeature, _ joined: inout Set<Set<String>>) {
        let kinds: [String: PathGraph.Edge.Kind] = [
            "elevator": .elevator, "escalator": .escalator, "stairs": .stairs, "ramp": .walk, "movingwalkway": .walk,
        ]
        guard let kind = kinds[relationship.category] else {
            remark(relationship, .leftOut, "paths on a level are derived from its walls and openings")
            return
        }
        guard let from = end("origin", of: relationship), let to = end("destination", of: relationship),
            from.ids("level_id") != to.ids("level_id"), unitNodes[from.id] != nil, unitNodes[to.id] != nil
        else {
            remark(relationship, .leftOut, "its ends are not two units on different levels")
            return
        }
        let isOneWay = relationship.text("direction") == "directed"
        add(kind, from: from, to: to, isOneWay: isOneWay, &joined)
        remark(
            relationship, .changed, "it becomes an edge of the path graph: its hours and intermediaries are not kept")
    }

    private func end(_ key: String, of relationship: IMDFFeature) -> IMDFFeature? {
        guard case .object(let reference)? = relationship.properties[key], case .string(let id)? = reference["id"]
        else { return nil }
        return units[id.lowercased()]
    }
}

extension IMDFConversion.Plan {
    /// Returns whether the plans have the same frame.
    fileprivate func sharesFrame(with other: IMDFConversion.Plan) -> Bool {
        frame.center == other.frame.center && frame.width == other.frame.width && frame.height == other.frame.height
    }
}

/// Finds straight paths on a level, from door to door and around corners.
///
/// The nodes are the middles of doors, points in front of them, a point in each unit, and points beside the corners of
/// walls, because shortest paths turn only at such corners. Two nodes of one space are connected if there is no
/// obstacle between them. Source: M. de Berg, O. Cheong, M. van Kreveld, M. Overmars, *Computational Geometry*, 3rd
/// edition, 2008, chapter 15.
struct IMDFPaths {
    /// A walkable unit, or a part of one.
    struct Unit {
        let id: String
        let rings: [[MapPoint]]
        /// Whether the unit is a separate space; all others form one space, which only walls divide.
        let hasOwnWalls: Bool
        /// Destinations in the unit, the best first.
        let places: [MapPoint]
    }

    /// A point where paths meet or end.
    struct Node {
        /// The feature at the node; nil for a corner and a point in front of a door.
        let id: String?
        let point: MapPoint
        /// The spaces that contain the node.
        let spaces: Set<Int>
        let isDoor: Bool
    }

    private(set) var nodes: [Node] = []
    private(set) var edges: [SparseNet.Edge] = []

    /// The distance of a path from the corners of walls in metres: more than half a person's width.
    private static let clearance = 0.5
    /// The distance in metres between points of a path at which its unit is checked.
    private static let stride = 0.5
    /// Half the width in metres of a path that must be free of walls; doors are narrow.
    private static let halfWidth = 0.15
    /// Up to this number, all nodes of a space are compared with each other; beyond it, each with its nearest ones.
    private static let fewNodes = 300
    private static let nearest = 40
    /// The space of all units without walls of their own.
    private static let openSpace = -1

    private let units: [Unit]
    private let polygons: [IndexedPolygon]
    private let walls: WallIndex
    private let grid: PlanGrid
    private let work: ImportWork
    /// The nodes in squares of the plan, of which each is `clearance` wide.
    private var squares: [MapPoint: [MapPoint]] = [:]

    /// - Parameters:
    ///   - doors: the openings in walls, with their ids.
    ///   - corners: the rings of all units and obstacles.
    ///   - work: counts the work; the paths are incomplete if its limit is reached.
    init(
        units: [Unit], doors: [IMDFWalls.Opening], corners: [[MapPoint]], walls: [[MapPoint]], work: ImportWork
    ) {
        self.units = units
        self.work = work
        polygons = units.map { IndexedPolygon($0.rings, work: work) }
        self.walls = WallIndex(walls: walls)
        grid = PlanGrid(polygons.map(\.box), work: work)
        for door in doors {
            work.feature = door.id
            addDoor(door)
        }
        for unit in units {
            work.feature = unit.id
            guard let place = unit.places.first(where: isClear) else { continue }
            add(Node(id: unit.id, point: place, spaces: spaces(at: place), isDoor: false))
        }
        work.feature = ""
        for ring in corners where !work.isSpent { addCorners(of: ring) }
        if !work.isSpent { join() }
    }

    /// Returns the spaces that contain a point.
    private func spaces(at point: MapPoint) -> Set<Int> {
        let inside = grid.near(PlanBox(point, point)).filter { polygons[$0].contains(point) }
        let own = inside.filter { units[$0].hasOwnWalls }
        // A room drawn over a hall is not a part of the hall.
        return own.isEmpty ? (inside.isEmpty ? [] : [Self.openSpace]) : Set(own)
    }

    private mutating func add(_ node: Node) {
        guard !node.spaces.isEmpty else { return }
        nodes.append(node)
        squares[square(of: node.point), default: []].append(node.point)
    }

    private func square(of point: MapPoint) -> MapPoint {
        MapPoint(x: (point.x / Self.clearance).rounded(.down), y: (point.y / Self.clearance).rounded(.down))
    }

    /// Returns whether a node is within the clearance of a point.
    private func hasNode(near point: MapPoint) -> Bool {
        let square = square(of: point)
        for (x, y) in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)] {
            let near = squares[MapPoint(x: square.x + Double(x), y: square.y + Double(y))] ?? []
            work.spend(1 + near.count)
            if near.contains(where: { $0.distance(to: point) < Self.clearance }) { return true }
        }
        return false
    }

    /// Adds a door, which connects the spaces on both sides of its wall, however thick the wall is.
    private mutating func addDoor(_ door: IMDFWalls.Opening) {
        guard let first = door.line.first, let last = door.line.last, let line = StraightLine(from: first, to: last)
        else { return }
        let middle = line.length / 2
        var found: Set<Int> = []
        for side in [1.0, -1.0] {
            for distance in [0.2, 0.5, 0.2 + IMDFWalls.thickestWall] {
                let point = line.point(at: middle, beside: side * distance)
                let beyond = spaces(at: point)
                guard !beyond.isEmpty else { continue }
                found.formUnion(beyond)
                // From the door's middle, the line of sight along its own wall is blocked.
                let before = line.point(at: middle, beside: side * (distance + Self.clearance))
                if isClear(before), !isBlocked(point, before) {
                    add(Node(id: nil, point: before, spaces: spaces(at: before), isDoor: false))
                }
                break
            }
        }
        add(Node(id: door.id, point: line.point(at: middle), spaces: found, isDoor: true))
    }

    /// Adds points beside the convex corners of a ring that have a wall.
    private mutating func addCorners(of ring: [MapPoint]) {
        for index in ring.indices {
            let corner = ring[index]
            let before = ring[(index + ring.count - 1) % ring.count] - corner
            let after = ring[(index + 1) % ring.count] - corner
            let (one, other) = (before.distance(to: .init(x: 0, y: 0)), after.distance(to: .init(x: 0, y: 0)))
            guard one > 0, other > 0 else { continue }
            let sum = before * (1 / one) + after * (1 / other)
            let length = sum.distance(to: .init(x: 0, y: 0))
            // A corner with an angle above 150° blocks no line of sight.
            guard length > 0.5 else { continue }
            let point = corner - sum * (Self.clearance / length)
            guard hasWall(corner, seenFrom: point), isClear(point),
                !goesOn(corner, against: before * (1 / one)), !goesOn(corner, against: after * (1 / other)),
                !hasNode(near: point)
            else { continue }
            add(Node(id: nil, point: point, spaces: spaces(at: point), isDoor: false))
        }
    }

    /// Returns whether a wall is at a corner, tested beside the corner because a line that only touches the end of a
    /// wall may miss it.
    private func hasWall(_ corner: MapPoint, seenFrom point: MapPoint) -> Bool {
        let direction = (corner - point) * 1.2
        let beside = MapPoint(x: -direction.y, y: direction.x) * 0.1
        return isBlocked(point + beside, point + beside + direction)
            || isBlocked(point - beside, point - beside + direction)
    }

    /// Returns whether the wall that ends at a corner continues beyond it, so that no path leads around it.
    private func goesOn(_ corner: MapPoint, against direction: MapPoint) -> Bool {
        let behind = corner - direction * Self.clearance
        let across = MapPoint(x: -direction.y, y: direction.x) * (Self.clearance / 2)
        return isBlocked(behind - across, behind + across)
    }

    /// Returns whether walls are at least half of the clearance away.
    private func isClear(_ point: MapPoint) -> Bool {
        let reach = Self.clearance / 2
        return ![(reach, 0.0), (-reach, 0.0), (0.0, reach), (0.0, -reach)].contains { offset in
            isBlocked(point, point + MapPoint(x: offset.0, y: offset.1))
        }
    }

    private func isBlocked(_ from: MapPoint, _ to: MapPoint) -> Bool {
        // A search in the index visits cells with an edge of a few metres.
        work.spend(4 + Int(from.distance(to: to)))
        return walls.blocks(fromX: Float(from.x), y: Float(from.y), toX: Float(to.x), y: Float(to.y))
    }

    // MARK: Edges

    private mutating func join() {
        let all = nodes
        let net = SparseNet(
            nodeCount: all.count, candidates: candidates(), work: work,
            isOpen: { edge in self.isOpen(all[edge.from], all[edge.to]) },
            isPossible: { edge in self.staysInside(all[edge.from], all[edge.to]) })
        edges = net.edges
    }

    private func candidates() -> [SparseNet.Edge] {
        var candidates: Set<SparseNet.Edge> = []
        let members = Dictionary(grouping: nodes.indices.flatMap { node in nodes[node].spaces.map { ($0, node) } }) {
            $0.0
        }
        for list in members.values.map({ $0.map(\.1).sorted() }) {
            let grid =
                list.count > Self.fewNodes
                ? PlanGrid(list.map { PlanBox(nodes[$0].point, nodes[$0].point) }, work: work) : nil
            for node in list {
                guard !work.isSpent else { return [] }
                let others = grid.map { near(node, of: list, in: $0) } ?? list.filter { $0 > node }
                // Each candidate is stored, sorted and tested.
                work.spend(50 * others.count)
                for other in others { candidates.insert(edge(node, other)) }
            }
        }
        return Array(candidates)
    }

    private func edge(_ node: Int, _ other: Int) -> SparseNet.Edge {
        SparseNet.Edge(
            from: min(node, other), to: max(node, other), length: nodes[node].point.distance(to: nodes[other].point))
    }

    /// Returns the nodes of a space that are nearest to a node.
    private func near(_ node: Int, of list: [Int], in grid: PlanGrid) -> [Int] {
        var reach = 4.0
        var found: [Int] = []
        repeat {
            found = grid.near(PlanBox(nodes[node].point, nodes[node].point).grown(by: reach)).map { list[$0] }
            reach *= 1.5
        } while found.count <= Self.nearest && found.count < list.count
        let edges = found.filter { $0 != node }.map { edge(node, $0) }
            .sorted { ($0.length, $0.from, $0.to) < ($1.length, $1.from, $1.to) }
        return edges.prefix(Self.nearest).map { $0.from == node ? $0.to : $0.from }
    }

    /// Returns whether no wall is on a straight path between two nodes.
    private func isOpen(_ from: Node, _ to: Node) -> Bool {
        guard let line = StraightLine(from: from.point, to: to.point) else { return false }
        return [0, Self.halfWidth, -Self.halfWidth].allSatisfy { side in
            !isBlocked(line.point(at: 0, beside: side), line.point(at: line.length, beside: side))
        }
    }

    /// Returns whether a straight path between two nodes stays within their spaces.
    private func staysInside(_ from: Node, _ to: Node) -> Bool {
        guard let line = StraightLine(from: from.point, to: to.point) else { return false }
        let common = from.spaces.intersection(to.spaces)
        var metres = from.isDoor ? 0.2 + IMDFWalls.thickestWall : 0
        let end = line.length - (to.isDoor ? 0.2 + IMDFWalls.thickestWall : 0)
        while metres < end, !work.isSpent {
            guard !spaces(at: line.point(at: metres)).isDisjoint(with: common) else { return false }
            metres += Self.stride
        }
        return true
    }
}

/// Connects points by few lines, along which paths are only slightly longer than with all possible lines.
///
/// Source of the greedy spanner: I. Althöfer, G. Das, D. Dobkin, D. Joseph, J. Soares, *On sparse spanners of weighted
/// graphs*, Discrete & Computational Geometry 9, 1993.
struct SparseNet {
    /// A line between two points, given by their indexes.
    struct Edge: Hashable {
        let from: Int
        let to: Int
        let length: Double
    }

    /// The selected lines, the shortest first.
    private(set) var edges: [Edge] = []
    private let work: ImportWork
    private var neighbours: [[(node: Int, length: Double)]]
    /// The nodes of the current search that are reached and not done.
    private var open: [Int] = []
    /// The length of the shortest path found to each node, and the number of the search that found it.
    private var paths: [(length: Double, search: Int)]
    private var searchCount = 0

    /// The largest ratio between the length of a path along the lines and that of an omitted line.
    private static let stretch = 1.2

    /// Selects lines from the candidates.
    ///
    /// - Parameters:
    ///   - work: counts the work; lines are missing if its limit is reached.
    ///   - isOpen: a fast test that all selected lines pass. Without it, each line through a wall would cause a search.
    ///   - isPossible: a slow test, which is called only for lines that shorten a path.
    init(
        nodeCount: Int, candidates: [Edge], work: ImportWork, isOpen: (Edge) -> Bool, isPossible: (Edge) -> Bool
    ) {
        self.work = work
        neighbours = Array(repeating: [], count: nodeCount)
        paths = Array(repeating: (0, 0), count: nodeCount)
        for edge in candidates.sorted(by: { ($0.length, $0.from, $0.to) < ($1.length, $1.from, $1.to) }) {
            guard !work.isSpent else { return }
            guard isOpen(edge), !isReached(edge.to, from: edge.from, within: Self.stretch * edge.length),
                isPossible(edge)
            else {
                continue
            }
            edges.append(edge)
            neighbours[edge.from].append((edge.to, edge.length))
            neighbours[edge.to].append((edge.from, edge.length))
        }
    }

    /// Dijkstra's search up to the limit: few nodes are open at a time, so a list is sufficient.
    private mutating func isReached(_ goal: Int, from start: Int, within limit: Double) -> Bool {
        searchCount += 1
        open.removeAll(keepingCapacity: true)
        open.append(start)
        paths[start] = (0, searchCount)
        while let place = open.indices.min(by: { paths[open[$0]].length < paths[open[$1]].length }) {
            let next = open[place]
            if next == goal { return true }
            work.spend(10 + open.count)
            open.swapAt(place, open.count - 1)
            open.removeLast()
            for (node, length) in neighbours[next] {
                let pathLength = paths[next].length + length
                guard pathLength <= limit else { continue }
                if paths[node].search != searchCount {
                    paths[node] = (pathLength, searchCount)
                    open.append(node)
                } else if pathLength < paths[node].length {
                    // The node is still open: a path to a node that is done can't become shorter.
                    paths[node].length = pathLength
                }
            }
        }
        return false
    }
}
