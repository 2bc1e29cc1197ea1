import IndoorVocabulary
import VenueModel

/// Finds the cheapest routes through a venue, over all of its floors.
///
///     var planner = RoutePlanner(venue: venue)
///     let route = try planner.route(from: RoutePoint(position), to: RoutePoint(cafe), .accessible)
///     for leg in route.legs { print(leg.kind, leg.length, leg.turn as Any) }
///
/// It is made once for a venue; then each route costs time in the order of the places that it looks at, and asks for
/// memory for its result only. A copy shares the tables of the venue, so each task can have one of its own.
public struct RoutePlanner: Sendable {
    let network: RouteNetwork
    private let venue: Venue
    /// The ways that the tags of the latest routes permit: who asks once asks again.
    private var tagged: (tags: RouteTags, network: RouteNetwork)?
    private var search = RouteSearch()

    /// Creates a planner for the ways of a venue.
    public init(venue: Venue) {
        self.venue = venue
        network = RouteNetwork(venue: venue)
    }

    /// The venue that it plans for.
    public var venueID: VenueID { network.venueID }

    /// The ways of the packet that cannot be walked.
    ///
    /// Their ends are the same or unknown, or their weight is no number of metres. A packet that was read from a file
    /// has none of them, but for ways from a node to itself.
    public var ignoredEdges: [PathGraph.Edge] { network.ignoredEdges }

    /// How many places the last search has looked at.
    package var explored: Int { search.explored }

    /// The cheapest route from one place to another.
    ///
    /// Each end is joined to the nearest way of its map that may be used and is not behind a wall; if all are, to the
    /// nearest one.
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

    /// Throws if no route can lead to a place.
    func check(goal: RoutePoint, _ options: RouteOptions) throws(RouteError) {
        try options.check()
        let network = options.tags == .none ? network : RouteNetwork(venue: venue, tags: options.tags)
        _ = try network.join(goal, .goal, options)
    }

    /// The ways that tags permit, built once for as long as nobody asks for other tags.
    private mutating func network(_ tags: RouteTags) -> RouteNetwork {
        if tags == .none { return network }
        if let tagged, tagged.tags == tags { return tagged.network }
        let network = RouteNetwork(venue: venue, tags: tags)
        tagged = (tags, network)
        return network
    }

    /// Why there is no route between two places that have ways next to them.
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
        // Ways that were excluded cost so much that only as much of them is used as must be.
        for kind in options.excludedKinds { open.costFactors[kind] = 1000 }
        guard let route = try? self.route(from: start, to: goal, open) else { return unreachable }
        let kinds = Set(route.legs.map(\.kind)).intersection(options.excludedKinds)
        return .needsExcludedWays(
            from: start, to: goal, kinds: kinds.isEmpty ? options.excludedKinds : kinds, length: route.length)
    }
}
