/// A search for the cheapest chain of edges. Each search reuses the memory of the previous one.
struct RouteSearch: Sendable {
    /// The parameters of a search.
    struct Query: Sendable {
        /// The connection between a projection and a node at one end of the route.
        struct Gate: Sendable {
            var node: Int32
            var cost: Double
            /// The index of the projection.
            var foot: Int
        }

        /// The connections from the projections of the start to the next nodes.
        var exits: [Gate] = []
        /// The connections from the last nodes to the projections of the goal.
        var entries: [Gate] = []
        /// The cheapest connection between start and goal along a single edge; nil if there is none.
        var direct: (cost: Double, from: Int, to: Int)?
        /// The cost factor of each kind of edge.
        var factors: SIMD4<Double>
        var permitted: WayKinds
        /// The lowest cost per metre; 0 for Dijkstra's algorithm.
        var costPerMetre: Double
        /// The place of the goal; all its projections are within `slack` metres.
        var goal: RouteSpace.Place
        var slack: Double
    }

    /// A chain of edges from the start to the goal.
    struct Chain: Sendable {
        var cost: Double
        /// The index of the projection of the start, and of the projection of the goal.
        var from: Int
        var to: Int
        /// The arcs between them, in order.
        var arcs: [Int]
        /// The nodes before the first arc and after the last one; nil if the chain is part of a single edge.
        var nodes: (first: Int, last: Int)?
    }

    private struct State: Sendable {
        var cost = Double.infinity
        /// The arc by which the search reached the node, or the exit as `-1 - index`.
        var arc: Int32 = 0
        /// Twice the number of the search that last visited the node; plus one when the node's cost is final.
        var stamp: UInt32 = 0
    }

    private var states: [State] = []
    private var heap = RouteHeap()
    private var stamp: UInt32 = 0
    /// The number of nodes that the last search visited.
    private(set) var explored = 0

    /// A factor on each bound, so that rounding errors don't make it too large.
    private static let caution = 1 - 1e-9

    /// Returns the cheapest chain; nil if there is none.
    mutating func cheapest(_ query: Query, in network: RouteNetwork) -> Chain? {
        begin(nodes: network.nodes.count)
        var best = (cost: query.direct?.cost ?? .infinity, node: Int32(-1), foot: query.direct?.to ?? 0)
        for (index, exit) in query.exits.enumerated() {
            let node = Int(exit.node)
            if states[node].stamp != stamp || exit.cost < states[node].cost {
                states[node] = State(cost: exit.cost, arc: Int32(-1 - index), stamp: stamp)
                heap.push(
                    RouteHeap.Entry(
                        key: exit.cost + Self.bound(network.space.places[node], query), node: exit.node))
            }
        }
        while let entry = heap.pop(), entry.key < best.cost {
            let node = Int(entry.node)
            guard states[node].stamp == stamp else { continue }
            states[node].stamp = stamp | 1
            explored += 1
            for gate in query.entries where gate.node == entry.node && states[node].cost + gate.cost < best.cost {
                best = (states[node].cost + gate.cost, entry.node, gate.foot)
            }
            Self.expand(node, query, network, &states, &heap, stamp)
        }
        guard best.cost < .infinity else { return nil }
        guard best.node >= 0 else {
            return query.direct.map { Chain(cost: $0.cost, from: $0.from, to: $0.to, arcs: []) }
        }
        return chain(to: Int(best.node), cost: best.cost, foot: best.foot, query, network)
    }

    /// Marks all nodes as unvisited.
    private mutating func begin(nodes: Int) {
        if states.count != nodes { states = Array(repeating: State(), count: nodes) }
        if stamp >= .max - 3 {
            stamp = 0
            for index in states.indices { states[index].stamp = 0 }
        }
        stamp += 2
        heap.removeAll()
        explored = 0
    }

    private static func bound(_ place: RouteSpace.Place, _ query: Query) -> Double {
        guard query.costPerMetre > 0 else { return 0 }
        return max(0, place.distance(to: query.goal) - query.slack) * query.costPerMetre * caution
    }

    private static func expand(
        _ node: Int, _ query: Query, _ network: RouteNetwork, _ states: inout [State], _ heap: inout RouteHeap,
        _ stamp: UInt32
    ) {
        let (starts, arcs, places) = (network.starts.span, network.arcs.span, network.space.places.span)
        var states = states.mutableSpan
        let cost = states[node].cost
        for index in Int(starts[node])..<Int(starts[node &+ 1]) {
            let arc = arcs[index]
            guard query.permitted.rawValue & (1 << arc.kind) != 0 else { continue }
            let target = Int(arc.target)
            let seen = states[target]
            guard seen.stamp != stamp | 1 else { continue }
            let reached = cost + arc.weight * query.factors[Int(arc.kind)]
            guard seen.stamp != stamp || reached < seen.cost else { continue }
            states[target] = State(cost: reached, arc: Int32(truncatingIfNeeded: index), stamp: stamp)
            heap.push(RouteHeap.Entry(key: reached + bound(places[target], query), node: arc.target))
        }
    }

    private func chain(to last: Int, cost: Double, foot: Int, _ query: Query, _ network: RouteNetwork) -> Chain {
        var arcs: [Int] = []
        var node = last
        while states[node].arc >= 0 {
            let arc = Int(states[node].arc)
            arcs.append(arc)
            node = network.source(of: arc)
        }
        let exit = query.exits[-1 - Int(states[node].arc)]
        return Chain(cost: cost, from: exit.foot, to: foot, arcs: arcs.reversed(), nodes: (node, last))
    }
}
