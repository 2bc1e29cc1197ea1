import IndoorVocabulary
import VenueModel

/// Where ways lead to from somewhere; its ends are joined to the ways as those of a route are.
struct RouteReach: Sendable {
    private let network: RouteNetwork
    private let options: RouteOptions
    /// Where all begins; nil if it may begin anywhere on a map.
    private let start: RouteAnchor?
    /// Whether a node can be reached.
    private var isReached: [Bool]

    /// From one place; nil if that is not next to a way that may be used.
    init?(from place: RoutePoint, in network: RouteNetwork, _ options: RouteOptions) {
        guard let start = try? network.join(place, .start, options) else { return nil }
        let exits = network.query(from: start, to: start, options).exits
        self.init(network, options, start, from: exits.map { Int($0.node) })
    }

    /// From all nodes of a map.
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

    /// Whether a route leads to the place.
    func contains(_ place: RoutePoint) -> Bool {
        guard let goal = try? network.join(place, .goal, options) else { return false }
        let query = network.query(from: start ?? goal, to: goal, options)
        return (start != nil && query.direct != nil) || query.entries.contains { isReached[Int($0.node)] }
    }
}

extension Venue {
    /// The points of interest on all maps that one can walk to from a place, in the packet's order.
    ///
    /// Those are the ones that a `RoutePlanner` finds a route to with the same options; on an unknown map, and without
    /// a path graph, there are none. Costs a look at the whole graph, and at the ways around each point of interest.
    public func reachablePointsOfInterest(
        from point: MapPoint, on map: MapID, _ options: RouteOptions = RouteOptions()
    ) -> [PointOfInterest] {
        let start = RoutePoint(mapID: map, point: point)
        guard let reach = RouteReach(from: start, in: RouteNetwork(venue: self, tags: options.tags), options) else {
            return []
        }
        return pointsOfInterest.filter { reach.contains(RoutePoint($0)) }
    }

    /// The points of interest on all maps that one can walk to from anywhere on a map, in the packet's order.
    ///
    /// Walking begins at any node of the path graph on that map, and ends as a route with these options does.
    public func reachablePointsOfInterest(
        from map: MapID, _ options: RouteOptions = RouteOptions()
    ) -> [PointOfInterest] {
        let reach = RouteReach(fromAnywhereOn: map, in: RouteNetwork(venue: self, tags: options.tags), options)
        return pointsOfInterest.filter { reach.contains(RoutePoint($0)) }
    }
}
