import IndoorVocabulary
import VenueModel

/// An error from planning a route.
public enum RouteError: Error, Hashable, Sendable {
    /// An end of a route.
    public enum End: String, Hashable, Sendable {
        /// The start.
        case start
        /// The goal.
        case goal
    }

    /// The venue packet has no path graph.
    case noPaths(VenueID)
    /// The venue doesn't have this map; its maps are `known`.
    case unknownMap(MapID, End, known: [MapID])
    /// No usable path on the map is near enough; `nearest` is the distance in metres of the nearest one, or nil if the
    /// map has none.
    case tooFarFromPaths(RoutePoint, End, nearest: Double?, limit: Double)
    /// No path connects the start with the goal; the search explored `explored` nodes from the start.
    case unreachable(from: RoutePoint, to: RoutePoint, explored: Int)
    /// Every route uses excluded kinds of paths; the route with them is `length` metres long.
    case needsExcludedWays(
        from: RoutePoint, to: RoutePoint, kinds: Set<PathGraph.Edge.Kind>, length: Double)
    /// Every route uses paths that the tag options exclude; the route with them is `length` metres long.
    case needsExcludedTags(from: RoutePoint, to: RoutePoint, length: Double)
    /// An option is out of its range; the string describes it.
    case optionOutOfRange(String)
}

extension RouteError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noPaths(let venue):
            return "venue \(venue) has no paths; add nodes and edges to its packet"
        case .unknownMap(let map, let end, let known):
            let list = known.prefix(10).map(\.description).joined(separator: ", ") + (known.count > 10 ? ", …" : "")
            return "the route's \(end.rawValue) is on map \(map), which the venue does not have; its maps are \(list)"
        case .tooFarFromPaths(let place, let end, let nearest, let limit):
            let found = nearest.map { "the nearest one is \(Self.metres($0)) away" } ?? "there is none on that map"
            return
                "the route's \(end.rawValue), \(place), is not within \(Self.metres(limit)) of a permitted path: "
                + "\(found); increase the snapping distance, or add paths"
        case .unreachable(let start, let goal, let explored):
            return
                "there is no route from \(start) to \(goal): none of the \(explored) reachable nodes "
                + "leads to the goal; connect the parts of the path graph, or check its one-way edges"
        case .needsExcludedWays(let start, let goal, let kinds, let length):
            let names = kinds.map(\.rawValue).sorted().joined(separator: " and ")
            return "each route from \(start) to \(goal) uses \(names), which the options exclude; "
                + "a route with them has \(Self.metres(length))"
        case .needsExcludedTags(let start, let goal, let length):
            return "no route from \(start) to \(goal) has only paths with permitted tags; "
                + "a route without this rule has \(Self.metres(length))"
        case .optionOutOfRange(let problem):
            return problem
        }
    }

    private static func metres(_ value: Double) -> String {
        "\((value * 10).rounded() / 10) m"
    }
}

extension RouteError {
    /// Checks that a number is in its range. NaN is never in range.
    static func check(
        _ name: String, _ value: Double, in range: ClosedRange<Double>, _ unit: String = ""
    ) throws(RouteError) {
        guard !range.contains(value) else { return }
        let suffix = unit.isEmpty ? "" : " " + unit
        let texts = [range.lowerBound, range.upperBound, value].map { JSONValue.number($0).summary }
        throw .optionOutOfRange("\(name) must be in [\(texts[0]), \(texts[1])]\(suffix), not \(texts[2])")
    }
}

extension RouteError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .noPaths: .contentUnavailable
        case .unknownMap: .mapNotFound
        case .tooFarFromPaths, .unreachable, .needsExcludedWays, .needsExcludedTags: .noRoute
        case .optionOutOfRange: .settings
        }
    }
}
