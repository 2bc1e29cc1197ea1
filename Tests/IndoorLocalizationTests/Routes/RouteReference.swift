import IndoorLocalization

/// The cost of a cheapest route, found by trying everything: slow, and simple enough to be believed.
///
/// Source of the search: R. Bellman, *On a Routing Problem*, Quarterly of Applied Mathematics 16 (1958).
struct RouteReference {
    private let nodes: [PathGraph.Node]
    private let edges: [PathGraph.Edge]
    private let excluded: Set<PathGraph.Edge.Kind>
    private let factors: [PathGraph.Edge.Kind: Double]

    init(_ graph: PathGraph, _ options: RouteOptions = RouteOptions()) {
        (nodes, edges) = (graph.nodes, graph.edges)
        (excluded, factors) = (options.excludedKinds, options.costFactors)
    }

    /// A way between two numbered places.
    private typealias Link = (from: Int, to: Int, cost: Double)

    /// Without the walks between the ends and their feet; nil if there is no route.
    func cost(from start: RoutePoint, to goal: RoutePoint) -> Double? {
        var links: [Link] = []
        // The nodes are numbered from 0; then come the start and the goal.
        let (source, sink) = (nodes.count, nodes.count + 1)
        for (from, to, edge) in usable {
            links.append((from, to, cost(edge, from, to)))
            if !edge.isOneWay { links.append((to, from, cost(edge, from, to))) }
        }
        let (exits, entries) = (feet(of: start), feet(of: goal))
        for foot in exits {
            links.append((source, foot.to, foot.cost * (1 - foot.share)))
            if !foot.isOneWay || foot.share == 0 { links.append((source, foot.from, foot.cost * foot.share)) }
            for end in entries where end.edge == foot.edge && (end.share >= foot.share || !foot.isOneWay) {
                links.append((source, sink, foot.cost * abs(end.share - foot.share)))
            }
        }
        for foot in entries {
            links.append((foot.from, sink, foot.cost * foot.share))
            if !foot.isOneWay || foot.share == 1 { links.append((foot.to, sink, foot.cost * (1 - foot.share))) }
        }
        return cheapest(links, from: source, to: sink)
    }

    private func cheapest(_ links: [Link], from source: Int, to sink: Int) -> Double? {
        var costs = [Double](repeating: .infinity, count: nodes.count + 2)
        costs[source] = 0
        for _ in costs.indices {
            for link in links { costs[link.to] = min(costs[link.to], costs[link.from] + link.cost) }
        }
        return costs[sink] < .infinity ? costs[sink] : nil
    }

    private var usable: [(from: Int, to: Int, edge: PathGraph.Edge)] {
        edges.compactMap { edge in
            guard !excluded.contains(edge.kind), let from = nodes.firstIndex(where: { $0.id == edge.from }),
                let to = nodes.firstIndex(where: { $0.id == edge.to }), from != to
            else { return nil }
            return (from, to, edge)
        }
    }

    private func cost(_ edge: PathGraph.Edge, _ from: Int, _ to: Int) -> Double {
        // Floors of the stage are 4 m high.
        let rise = Double(nodes[from].mapID.rawValue - nodes[to].mapID.rawValue) * 4
        let flat = nodes[from].point.distance(to: nodes[to].point)
        return (edge.weight ?? (flat * flat + rise * rise).squareRoot()) * (factors[edge.kind] ?? 1)
    }

    private struct Foot {
        /// The edge; of a node, a number of its own.
        var edge: Int
        var from: Int
        var to: Int
        var cost: Double
        var share: Double
        var isOneWay: Bool
        var distance: Double
    }

    private func feet(of place: RoutePoint) -> [Foot] {
        var feet: [Foot] = []
        for (index, (from, to, edge)) in usable.enumerated() {
            let ends = [nodes[from], nodes[to]]
            if ends[0].mapID == ends[1].mapID {
                guard ends[0].mapID == place.mapID else { continue }
                let (way, offset) = (ends[1].point - ends[0].point, place.point - ends[0].point)
                let square = way.x * way.x + way.y * way.y
                let share = square > 0 ? min(1, max(0, (way.x * offset.x + way.y * offset.y) / square)) : 0
                let foot = ends[0].point + way * share
                feet.append(
                    Foot(
                        edge: index, from: from, to: to, cost: cost(edge, from, to), share: share,
                        isOneWay: edge.isOneWay, distance: foot.distance(to: place.point)))
            } else {
                for node in [from, to] where nodes[node].mapID == place.mapID {
                    feet.append(
                        Foot(
                            edge: -1 - node, from: node, to: node, cost: 0, share: 0, isOneWay: false,
                            distance: nodes[node].point.distance(to: place.point)))
                }
            }
        }
        let least = feet.map(\.distance).min() ?? 0
        return feet.filter { $0.distance <= least + 1e-6 }
    }
}
