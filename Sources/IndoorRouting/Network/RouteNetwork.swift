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
        let rise = (heights[end.mapID] ?? 0) - (heights[begin.mapID] ?? 0)
        let flat = begin.point.distance(to: end.point)
        let length = (flat * flat + rise * rise).squareRoot()
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
