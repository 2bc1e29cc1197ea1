import VenueModel

/// How the cheapest route is looked for; both ways find one of the same cost.
public enum RouteAlgorithm: String, Hashable, Sendable, CaseIterable {
    /// Towards the goal first.
    ///
    /// Source: P. E. Hart, N. J. Nilsson, B. Raphael, *A Formal Basis for the Heuristic Determination of Minimum Cost
    /// Paths*, IEEE Transactions on Systems Science and Cybernetics 4 (1968).
    case aStar = "astar"
    /// In all directions, the nearest places first.
    ///
    /// Source: E. W. Dijkstra, *A Note on Two Problems in Connexion with Graphs*, Numerische Mathematik 1 (1959).
    case dijkstra
}

/// What a route may use, and what it is to avoid.
public struct RouteOptions: Hashable, Sendable {
    /// How the route is looked for.
    public var algorithm = RouteAlgorithm.aStar
    /// Ways that the route must not use at all.
    public var excludedKinds: Set<PathGraph.Edge.Kind> = []
    /// Which ways may be used, by their tags.
    public var tags = RouteTags.none
    /// How many times its weight a way of that kind costs, from 0 to 1,000; 1 where nothing is given.
    ///
    /// Above 1, such ways are avoided where others are not much longer.
    public var costFactors: [PathGraph.Edge.Kind: Double] = [:]
    /// Metres that the start and the goal may lie off the nearest way, above 0; 30 reaches across a large hall.
    public var snappingDistance = 30.0
    /// Metres a second on level ground, from 0.1 to 10, for a route's duration.
    ///
    /// 1.34 m/s is the mean of pedestrians. Source: U. Weidmann, *Transporttechnik der Fussgänger*, ETH Zürich 1993.
    public var walkingSpeed = 1.34

    /// Creates options: all ways, each for its weight, by A*.
    public init() {}

    /// Ways for a wheelchair or a pram: no stairs and no escalators.
    public static var accessible: RouteOptions {
        var options = RouteOptions()
        options.isAccessible = true
        return options
    }

    /// Whether stairs and escalators are excluded; setting it excludes both or allows both.
    public var isAccessible: Bool {
        get { excludedKinds.isSuperset(of: Self.barriers) }
        set { if newValue { excludedKinds.formUnion(Self.barriers) } else { excludedKinds.subtract(Self.barriers) } }
    }

    private static let barriers: Set<PathGraph.Edge.Kind> = [.stairs, .escalator]

    /// Throws if a number is out of its range.
    func check() throws(RouteError) {
        for (kind, factor) in costFactors.sorted(by: { $0.key.index < $1.key.index }) {
            try RouteError.check("costFactors[.\(kind.rawValue)]", factor, in: 0...1000)
        }
        try RouteError.check("snappingDistance", snappingDistance, in: 1e-3...1e7, "m")
        try RouteError.check("walkingSpeed", walkingSpeed, in: 0.1...10, "m/s")
    }

    /// The kinds that may be used.
    var permitted: WayKinds { WayKinds(PathGraph.Edge.Kind.allCases.filter { !excludedKinds.contains($0) }) }
    /// How many times its weight each kind costs, by its index.
    var factors: SIMD4<Double> {
        var factors = SIMD4<Double>(repeating: 1)
        for (kind, factor) in costFactors { factors[kind.index] = factor }
        return factors
    }
}

extension PathGraph.Edge.Kind {
    /// The kind as a number from 0, for tables.
    var index: Int {
        switch self {
        case .walk: 0
        case .stairs: 1
        case .elevator: 2
        case .escalator: 3
        }
    }
}

/// A set of kinds of ways.
struct WayKinds: OptionSet, Hashable, Sendable {
    var rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ kinds: some Sequence<PathGraph.Edge.Kind>) {
        rawValue = kinds.reduce(0) { $0 | 1 << UInt8($1.index) }
    }

    static let all = WayKinds(PathGraph.Edge.Kind.allCases)
}
