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
