import IndoorVocabulary
import VenueModel

/// A planner that finds the cheapest routes through a venue, across all of its floors.
///
///     var planner = RoutePlanner(venue: venue)
///     let route = try planner.route(from: RoutePoint(position), to: RoutePoint(cafe), .accessible)
///     for leg in route.legs { print(leg.kind, leg.length, leg.turn as Any) }
///
/// Create one planner per venue. The time to plan a route is proportional to the number of nodes that the search
/// visits, and planning allocates memory only for the result. Copies share the tables of the venue, so each task can
/// use its own copy.
public struct RoutePlanner: Sendable {
    let network: RouteNetwork
    private let venue: Venue
    /// The network for the most recent tags, because callers usually plan several routes with the same tags.
    private var tagged: (tags: RouteTags, network: RouteNetwork)?
    private var search = RouteSearch()

    /// Creates a planner for the path graph of a venue.
    public init(venue: Venue) {
        self.venue = venue
        network = RouteNetwork(venue: venue)
    }

    /// The ID of the venue.
    package var venueID: VenueID { network.venueID }

    /// The edges of the venue packet that the planner can't use.
    ///
    /// Both ends of such an edge are the same node, an end is unknown, or the weight is invalid. In a packet read from
    /// a file, only edges from a node to itself can occur here.
    package var ignoredEdges: [PathGraph.Edge] { network.ignoredEdges }

    /// The number of nodes that the last search visited.
    package var explored: Int { search.explored }

    /// Returns the cheapest route from one place to another.
    ///
    /// The planner connects each end to the nearest permitted path on its map that isn't behind a wall. If a wall
    /// blocks every path, it uses the nearest one.
    ///
    /// - Throws: `RouteError` if there is no route.
    public mutating func route(
        from start: RoutePoint, to goal: RoutePoint, _ options: RouteOptions = RouteOptions()
    ) throws(RouteError) -> Route {
        try options.check()
        let network = self.network(options.tags)
        let from = try network.join(start, .start, options)
        let to = try network.join(goal, .goal, options)
        let query = network.query(from: from, to: to, options)
        if let chain = search.cheapest(query, in: network) {
            return RouteAssembly.route(chain, from: from, to: to, options, network)
        }
        let explored = search.explored
        throw failure(from: start, to: goal, options, explored: explored)
    }

    /// Checks that a route can end at a place.
    func check(goal: RoutePoint, _ options: RouteOptions) throws(RouteError) {
        try options.check()
        let network = options.tags == .none ? network : RouteNetwork(venue: venue, tags: options.tags)
        _ = try network.join(goal, .goal, options)
    }

    /// Returns the network of the edges that the tags permit, cached until the tags change.
    private mutating func network(_ tags: RouteTags) -> RouteNetwork {
        if tags == .none { return network }
        if let tagged, tagged.tags == tags { return tagged.network }
        let network = RouteNetwork(venue: venue, tags: tags)
        tagged = (tags, network)
        return network
    }

    /// Returns the reason that there is no route between two places near paths.
    private mutating func failure(
        from start: RoutePoint, to goal: RoutePoint, _ options: RouteOptions, explored: Int
    ) -> RouteError {
        let unreachable = RouteError.unreachable(from: start, to: goal, explored: explored)
        var untagged = options
        untagged.tags = .none
        if options.tags != .none, let route = try? self.route(from: start, to: goal, untagged) {
            return .needsExcludedTags(from: start, to: goal, length: route.length)
        }
        guard !options.excludedKinds.isEmpty else { return unreachable }
        var open = options
        open.excludedKinds = []
        // With a high cost factor, the route uses as few excluded paths as possible.
        for kind in options.excludedKinds { open.costFactors[kind] = 1000 }
        guard let route = try? self.route(from: start, to: goal, open) else { return unreachable }
        let kinds = Set(route.legs.map(\.kind)).intersection(options.excludedKinds)
        return .needsExcludedWays(
            from: start, to: goal, kinds: kinds.isEmpty ? options.excludedKinds : kinds, length: route.length)
    }
}

/// An end of a route, connected to the paths of the venue.
struct RouteAnchor: Sendable {
    var place: RoutePoint
    var feet: [WayIndex.Projection]
    var crossesWall: Bool
}

extension RouteNetwork {
    /// Connects an end of a route to the nearest paths on its map.
    ///
    /// - Throws: `.noPaths`, `.unknownMap` or `.tooFarFromPaths`.
    func join(
        _ place: RoutePoint, _ end: RouteError.End, _ options: RouteOptions
    ) throws(RouteError) -> RouteAnchor {
        guard !edges.isEmpty else { throw .noPaths(venueID) }
        guard levels[place.mapID] != nil else { throw .unknownMap(place.mapID, end, known: levels.keys.sorted()) }
        let limit = options.snappingDistance
        guard let index = ways[place.mapID], place.isPlace else {
            throw .tooFarFromPaths(place, end, nearest: nil, limit: limit)
        }
        let found = index.feet(of: place.point, options.permitted, within: limit)
        guard !found.feet.isEmpty else {
            let nearest = index.feet(of: place.point, options.permitted, within: .infinity).feet.first?.distance
            throw .tooFarFromPaths(place, end, nearest: nearest, limit: limit)
        }
        return RouteAnchor(place: place, feet: found.feet, crossesWall: found.crossesWall)
    }

    /// Returns the search query between two ends.
    func query(from start: RouteAnchor, to goal: RouteAnchor, _ options: RouteOptions) -> RouteSearch.Query {
        let factors = options.factors
        let permitted = options.permitted
        var least = Double.infinity
        for kind in PathGraph.Edge.Kind.allCases where permitted.contains(WayKinds([kind])) {
            // A kind without edges has an infinite weight, and infinity times a factor of zero is NaN.
            guard space.leastWeights[kind.index] < .infinity else { continue }
            least = min(least, space.leastWeights[kind.index] * factors[kind.index])
        }
        let places = goal.feet.map { space.place(RoutePoint(mapID: goal.place.mapID, point: $0.point)) }
        var query = RouteSearch.Query(
            factors: factors, permitted: permitted,
            costPerMetre: options.algorithm == .aStar && least < .infinity ? least : 0, goal: places[0],
            slack: places.map { $0.distance(to: places[0]) }.max() ?? 0)
        for (index, foot) in start.feet.enumerated() {
            addExits(&query, index, foot, on: start.place.mapID)
            for (other, end) in goal.feet.enumerated() where start.place.mapID == goal.place.mapID {
                guard foot.way == end.way, let cost = cost(foot, end, on: start.place.mapID, factors),
                    cost < query.direct?.cost ?? .infinity
                else { continue }
                query.direct = (cost, index, other)
            }
        }
        for (index, foot) in goal.feet.enumerated() { addEntries(&query, index, foot, on: goal.place.mapID) }
        return query
    }

    /// Returns the way of a projection and its edge; the edge is nil for a node.
    func way(_ foot: WayIndex.Projection, on map: MapID) -> (way: WayIndex.Way, edge: Edge?)? {
        guard let way = ways[map]?.ways[foot.way] else { return nil }
        return (way, way.edge.map { edges[Int($0)] })
    }

    /// Returns the cost between two projections on the same way; nil against the direction of a one-way edge.
    private func cost(
        _ from: WayIndex.Projection, _ to: WayIndex.Projection, on map: MapID, _ factors: SIMD4<Double>
    ) -> Double? {
        guard let edge = way(from, on: map)?.edge else { return 0 }
        if edge.isOneWay && to.share < from.share { return nil }
        return edge.weight * abs(to.share - from.share) * factors[edge.kind.index]
    }

    private func addExits(_ query: inout RouteSearch.Query, _ index: Int, _ foot: WayIndex.Projection, on map: MapID) {
        guard let (way, edge) = way(foot, on: map) else { return }
        guard let edge else {
            query.exits.append(RouteSearch.Query.Gate(node: way.node, cost: 0, foot: index))
            return
        }
        let cost = edge.weight * query.factors[edge.kind.index]
        query.exits.append(RouteSearch.Query.Gate(node: edge.to, cost: cost * (1 - foot.share), foot: index))
        guard !edge.isOneWay || foot.share == 0 else { return }
        query.exits.append(RouteSearch.Query.Gate(node: edge.from, cost: cost * foot.share, foot: index))
    }

    private func addEntries(_ query: inout RouteSearch.Query, _ index: Int, _ foot: WayIndex.Projection, on map: MapID)
    {
        guard let (way, edge) = way(foot, on: map) else { return }
        guard let edge else {
            query.entries.append(RouteSearch.Query.Gate(node: way.node, cost: 0, foot: index))
            return
        }
        let cost = edge.weight * query.factors[edge.kind.index]
        query.entries.append(RouteSearch.Query.Gate(node: edge.from, cost: cost * foot.share, foot: index))
        guard !edge.isOneWay || foot.share == 1 else { return }
        query.entries.append(RouteSearch.Query.Gate(node: edge.to, cost: cost * (1 - foot.share), foot: index))
    }
}

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

/// A priority queue of nodes, ordered by the lower bound of the cost of a route through them.
///
/// A 4-ary heap, which has half the depth of a binary heap and stores the four children of an entry in contiguous
/// memory. Source: D. B. Johnson, *Priority queues with update and finding minimum spanning trees*, Information
/// Processing Letters 4 (1975).
struct RouteHeap: Sendable {
    struct Entry: Sendable {
        var key: Double
        var node: Int32
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Removes all entries and keeps the capacity.
    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    mutating func push(_ entry: Entry) {
        entries.append(entry)
        var hole = entries.count &- 1
        var span = entries.mutableSpan
        while hole > 0 {
            let above = (hole &- 1) >> 2
            let other = span[above]
            guard entry.key < other.key else { break }
            span[hole] = other
            hole = above
        }
        span[hole] = entry
    }

    /// Removes and returns the entry with the smallest key; nil if the heap is empty.
    mutating func pop() -> Entry? {
        guard let last = entries.popLast() else { return nil }
        guard let top = entries.first else { return last }
        let count = entries.count
        var span = entries.mutableSpan
        var hole = 0
        while true {
            let first = hole << 2 &+ 1
            guard first < count else { break }
            var (least, key) = (first, span[first].key)
            for child in first &+ 1..<min(first &+ 4, count) where span[child].key < key {
                (least, key) = (child, span[child].key)
            }
            guard key < last.key else { break }
            span[hole] = span[least]
            hole = least
        }
        span[hole] = last
        return top
    }
}

/// The places reachable from a place or a map. Places are connected to the paths in the same way as the ends of a
/// route.
struct RouteReach: Sendable {
    private let network: RouteNetwork
    private let options: RouteOptions
    /// The start; nil for a start anywhere on a map.
    private let start: RouteAnchor?
    /// Whether each node is reachable.
    private var isReached: [Bool]

    /// Creates the reach from one place; nil if no permitted path is near the place.
    init?(from place: RoutePoint, in network: RouteNetwork, _ options: RouteOptions) {
        guard let start = try? network.join(place, .start, options) else { return nil }
        let exits = network.query(from: start, to: start, options).exits
        self.init(network, options, start, from: exits.map { Int($0.node) })
    }

    /// Creates the reach from all nodes of a map.
    init(fromAnywhereOn map: MapID, in network: RouteNetwork, _ options: RouteOptions) {
        self.init(network, options, nil, from: network.nodes.indices.filter { network.nodes[$0].mapID == map })
    }

    private init(_ network: RouteNetwork, _ options: RouteOptions, _ start: RouteAnchor?, from nodes: [Int]) {
        self.network = network
        self.options = options
        self.start = start
        isReached = Array(repeating: false, count: network.nodes.count)
        let permitted = options.permitted
        var waiting = nodes
        for node in nodes { isReached[node] = true }
        while let node = waiting.popLast() {
            for arc in network.arcs[Int(network.starts[node])..<Int(network.starts[node + 1])] {
                let target = Int(arc.target)
                guard !isReached[target], permitted.rawValue & (1 << arc.kind) != 0 else { continue }
                isReached[target] = true
                waiting.append(target)
            }
        }
    }

    /// Returns whether the place is reachable.
    func contains(_ place: RoutePoint) -> Bool {
        guard let goal = try? network.join(place, .goal, options) else { return false }
        let query = network.query(from: start ?? goal, to: goal, options)
        return (start != nil && query.direct != nil) || query.entries.contains { isReached[Int($0.node)] }
    }
}

extension Venue {
    /// Returns the points of interest on all maps that are reachable from a place, in the order of the packet.
    ///
    /// A point of interest is reachable if a `RoutePlanner` finds a route to it with the same options. The result is
    /// empty for an unknown map and without a path graph. The method traverses the whole graph and searches for paths
    /// around each point of interest.
    public func reachablePointsOfInterest(
        from point: MapPoint, on map: MapID, _ options: RouteOptions = RouteOptions()
    ) -> [PointOfInterest] {
        let start = RoutePoint(mapID: map, point: point)
        guard let reach = RouteReach(from: start, in: RouteNetwork(venue: self, tags: options.tags), options) else {
            return []
        }
        return pointsOfInterest.filter { reach.contains(RoutePoint($0)) }
    }

    /// Returns the points of interest on all maps that are reachable from anywhere on a map, in the order of the
    /// packet.
    ///
    /// A route can begin at any node of the path graph on the map.
    public func reachablePointsOfInterest(
        from map: MapID, _ options: RouteOptions = RouteOptions()
    ) -> [PointOfInterest] {
        let reach = RouteReach(fromAnywhereOn: map, in: RouteNetwork(venue: self, tags: options.tags), options)
        return pointsOfInterest.filter { reach.contains(RoutePoint($0)) }
    }
}
