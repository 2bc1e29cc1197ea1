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
