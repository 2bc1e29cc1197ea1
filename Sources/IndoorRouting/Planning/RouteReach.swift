import IndoorVocabulary
import VenueModel

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
