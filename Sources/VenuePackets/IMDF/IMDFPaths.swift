import IndoorVocabulary
import VenueModel

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
        let way = (corner - point) * 1.2
        let beside = MapPoint(x: -way.y, y: way.x) * 0.1
        return isBlocked(point + beside, point + beside + way) || isBlocked(point - beside, point - beside + way)
    }

    /// Returns whether the wall that ends at a corner continues beyond it, so that no path leads around it.
    private func goesOn(_ corner: MapPoint, against way: MapPoint) -> Bool {
        let behind = corner - way * Self.clearance
        let across = MapPoint(x: -way.y, y: way.x) * (Self.clearance / 2)
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
