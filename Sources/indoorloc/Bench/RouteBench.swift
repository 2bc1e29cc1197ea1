import IndoorLocalization

/// The benchmark of routes through a building of several floors with paths every two metres.
struct RouteBench {
    private var planner: RoutePlanner
    private let start: RoutePoint
    private let goal: RoutePoint
    private var options = RouteOptions()
    /// The number of nodes of the path graph.
    let nodes: Int

    private static let spacing = 2.0
    /// The number of paths between stairs, along both edges of the plan.
    private static let shafts = 35

    /// Creates a building with a route between opposite corners.
    ///
    /// - Parameter side: the number of nodes along each edge of a floor.
    init(floors: Int, side: Int, algorithm: RouteAlgorithm, seed: UInt64 = 4) {
        let venue = Self.venue(floors: floors, side: side, seed: seed)
        planner = RoutePlanner(venue: venue)
        nodes = venue.paths?.nodes.count ?? 0
        let edge = Double(side) * Self.spacing
        start = RoutePoint(mapID: 0, point: MapPoint(x: 0.7, y: 0.4))
        goal = RoutePoint(mapID: MapID(rawValue: floors - 1), point: MapPoint(x: edge - 2.6, y: edge - 2.3))
        options.algorithm = algorithm
    }

    private static func venue(floors: Int, side: Int, seed: UInt64) -> Venue {
        var generator = SeededGenerator(seed: seed)
        var nodes: [PathGraph.Node] = []
        var edges: [PathGraph.Edge] = []
        let edge = Double(side) * spacing
        let maps = (0..<floors).map { floor in
            VenueMap(
                id: MapID(rawValue: floor), name: "Floor \(floor)", level: floor, width: edge, height: edge,
                elevation: 4 * Double(floor))
        }
        for floor in 0..<floors {
            for row in 0..<side {
                for column in 0..<side {
                    let id = nodes.count
                    // Offsets of up to half a metre make all paths differ in length.
                    let point = MapPoint(
                        x: Double(column) * spacing + generator.uniform() - 0.5,
                        y: Double(row) * spacing + generator.uniform() - 0.5)
                    nodes.append(PathGraph.Node(id: id, mapID: MapID(rawValue: floor), point: point))
                    if column > 0 { edges.append(PathGraph.Edge(from: id - 1, to: id)) }
                    if row > 0 { edges.append(PathGraph.Edge(from: id - side, to: id)) }
                    if floor > 0, row % shafts == 0, column % shafts == 0 {
                        edges.append(PathGraph.Edge(from: id - side * side, to: id, weight: 15, kind: .stairs))
                    }
                }
            }
        }
        return Venue(id: 1, name: "Bench", maps: maps, paths: PathGraph(nodes: nodes, edges: edges))
    }

    /// Returns the route from corner to corner.
    mutating func route() -> Route? { try? planner.route(from: start, to: goal, options) }
}
