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
