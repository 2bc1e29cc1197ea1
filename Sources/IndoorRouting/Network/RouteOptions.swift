import IndoorVocabulary
import VenueModel

/// The search algorithm. Both algorithms find a route of the same cost.
public enum RouteAlgorithm: String, Hashable, Sendable, CaseIterable {
    /// A* search, which explores towards the goal first.
    ///
    /// Source: P. E. Hart, N. J. Nilsson, B. Raphael, *A Formal Basis for the Heuristic Determination of Minimum Cost
    /// Paths*, IEEE Transactions on Systems Science and Cybernetics 4 (1968).
    case aStar = "astar"
    /// Dijkstra's algorithm, which explores in all directions, nearest nodes first.
    ///
    /// Source: E. W. Dijkstra, *A Note on Two Problems in Connexion with Graphs*, Numerische Mathematik 1 (1959).
    case dijkstra
}

/// Options that control which paths a route uses and avoids.
public struct RouteOptions: Hashable, Sendable {
    /// The search algorithm.
    public var algorithm = RouteAlgorithm.aStar
    /// The kinds of paths that the route must not use.
    public var excludedKinds: Set<PathGraph.Edge.Kind> = []
    /// The paths that the route may use, by their tags.
    public var tags = RouteTags.none
    /// The cost factor of each kind of path, from 0 to 1,000; 1 for kinds without an entry.
    ///
    /// With a factor above 1, the route avoids paths of this kind unless the alternatives are much longer.
    public var costFactors: [PathGraph.Edge.Kind: Double] = [:]
    /// The maximum distance in metres from the start or goal to the nearest path, above 0. 30 m spans a large hall.
    public var snappingDistance = 30.0
    /// The walking speed on level ground in metres per second, from 0.1 to 10, used for the duration of a route.
    ///
    /// 1.34 m/s is the mean of pedestrians. Source: U. Weidmann, *Transporttechnik der Fussgänger*, ETH Zürich 1993.
    public var walkingSpeed = 1.34

    /// Creates options for an A* search over all paths, each at its own weight.
    public init() {}

    /// Options for wheelchairs and prams: no stairs and no escalators.
    public static var accessible: RouteOptions {
        var options = RouteOptions()
        options.isAccessible = true
        return options
    }

    /// Whether the route avoids stairs and escalators. Setting this property excludes or allows both.
    package var isAccessible: Bool {
        get { excludedKinds.isSuperset(of: Self.barriers) }
        set { if newValue { excludedKinds.formUnion(Self.barriers) } else { excludedKinds.subtract(Self.barriers) } }
    }

    private static let barriers: Set<PathGraph.Edge.Kind> = [.stairs, .escalator]

    /// Checks that each number is in its range.
    func check() throws(RouteError) {
        for (kind, factor) in costFactors.sorted(by: { $0.key.index < $1.key.index }) {
            try RouteError.check("costFactors[.\(kind.rawValue)]", factor, in: 0...1000)
        }
        try RouteError.check("snappingDistance", snappingDistance, in: 1e-3...1e7, "m")
        try RouteError.check("walkingSpeed", walkingSpeed, in: 0.1...10, "m/s")
    }

    /// The kinds of paths that the route may use.
    var permitted: WayKinds { WayKinds(PathGraph.Edge.Kind.allCases.filter { !excludedKinds.contains($0) }) }
    /// The cost factor of each kind, by the index of the kind.
    var factors: SIMD4<Double> {
        var factors = SIMD4<Double>(repeating: 1)
        for (kind, factor) in costFactors { factors[kind.index] = factor }
        return factors
    }
}

extension PathGraph.Edge.Kind {
    /// The index of the kind in tables, from 0.
    var index: Int {
        switch self {
        case .walk: 0
        case .stairs: 1
        case .elevator: 2
        case .escalator: 3
        }
    }
}

/// A set of path kinds.
struct WayKinds: OptionSet, Hashable, Sendable {
    var rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ kinds: some Sequence<PathGraph.Edge.Kind>) {
        rawValue = kinds.reduce(0) { $0 | 1 << UInt8($1.index) }
    }

    static let all = WayKinds(PathGraph.Edge.Kind.allCases)
}

/// A rule that selects the paths a route may use by their tags in the venue packet.
///
///     var options = RouteOptions()
///     options.tags = .excludeInaccessible
public struct RouteTags: Hashable, Sendable {
    /// The comparison of a path's tags with a set.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The path has at least one of the tags.
        case any
        /// The path has all of the tags.
        case all
    }

    /// The tags that a path needs; empty to permit paths with any tags.
    package var included: Set<String>
    /// Whether a path needs any or all of the tags in `included`.
    package var inclusion: Mode
    /// The tags that exclude a path; empty to exclude none.
    package var excluded: Set<String>
    /// Whether any or all of the tags in `excluded` exclude a path.
    package var exclusion: Mode

    /// Creates a rule. Without arguments, it permits all paths.
    public init(
        including included: Set<String> = [], _ inclusion: Mode = .any, excluding excluded: Set<String> = [],
        _ exclusion: Mode = .any
    ) {
        self.included = included
        self.inclusion = inclusion
        self.excluded = excluded
        self.exclusion = exclusion
    }

    /// A rule that permits all paths.
    public static let none = RouteTags()
    /// A rule that excludes paths with the tag "inaccessible", which not all users can use.
    public static let excludeInaccessible = RouteTags(excluding: ["inaccessible"])
    /// A rule that excludes paths with the tag "accessibleOnly", which are reserved for users with reduced mobility.
    public static let excludeAccessibleOnly = RouteTags(excluding: ["accessibleOnly"])

    /// Returns whether a route may use a path with these tags. Exclusion overrides inclusion.
    package func permits(_ tags: Set<String>) -> Bool {
        if !excluded.isEmpty, Self.matches(tags, excluded, exclusion) { return false }
        return included.isEmpty || Self.matches(tags, included, inclusion)
    }

    private static func matches(_ tags: Set<String>, _ wanted: Set<String>, _ mode: Mode) -> Bool {
        switch mode {
        case .any: !tags.isDisjoint(with: wanted)
        case .all: tags.isSuperset(of: wanted)
        }
    }
}

/// A place on a map at which a route begins, turns or ends.
public struct RoutePoint: Hashable, Sendable, CustomStringConvertible {
    /// The map of the place.
    public var mapID: MapID
    /// The point on the map, in metres.
    public var point: MapPoint

    /// Metres to the right of the plan's left edge.
    public var x: Double { point.x }
    /// Metres below the plan's top edge.
    public var y: Double { point.y }

    /// Creates a place on a map.
    public init(mapID: MapID, point: MapPoint) {
        self.mapID = mapID
        self.point = point
    }

    /// Creates a place at the position of the device.
    public init(_ position: Position) { self.init(mapID: position.mapID, point: position.point) }

    /// Creates a place at a point of interest.
    public init(_ place: PointOfInterest) { self.init(mapID: place.mapID, point: place.point) }

    public var description: String { "(\(point.x), \(point.y)) on map \(mapID)" }

    /// Whether the coordinates are finite and below one million kilometres.
    var isPlace: Bool { abs(point.x) < 1e9 && abs(point.y) < 1e9 }
}
