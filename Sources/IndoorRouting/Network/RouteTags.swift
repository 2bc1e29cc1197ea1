/// Which ways a route may use, by the tags that the venue's packet gives them.
///
///     var options = RouteOptions()
///     options.tags = .excludeInaccessible
public struct RouteTags: Hashable, Sendable {
    /// How a way's tags are compared with a set.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The way has one of them, or more.
        case any
        /// The way has all of them.
        case all
    }

    /// Only ways with these may be used; empty for no such demand.
    public var included: Set<String>
    /// Whether any of `included` is enough.
    public var inclusion: Mode
    /// Ways with these must not be used; empty to exclude none.
    public var excluded: Set<String>
    /// Whether any of `excluded` is enough.
    public var exclusion: Mode

    /// Creates a rule; without arguments, it permits all ways.
    public init(
        including included: Set<String> = [], _ inclusion: Mode = .any, excluding excluded: Set<String> = [],
        _ exclusion: Mode = .any
    ) {
        self.included = included
        self.inclusion = inclusion
        self.excluded = excluded
        self.exclusion = exclusion
    }

    /// All ways.
    public static let none = RouteTags()
    /// None of the ways that not everybody can use, which have the tag "inaccessible".
    public static let excludeInaccessible = RouteTags(excluding: ["inaccessible"])
    /// None of the ways that are meant for those who need them, which have the tag "accessibleOnly".
    public static let excludeAccessibleOnly = RouteTags(excluding: ["accessibleOnly"])

    /// Whether a way with these tags may be used. Exclusion beats inclusion.
    public func permits(_ tags: Set<String>) -> Bool {
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
