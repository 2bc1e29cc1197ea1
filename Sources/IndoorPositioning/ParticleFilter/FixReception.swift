import VenueModel

/// The effect of an external position fix on the filter.
public struct FixReception: Hashable, Sendable {
    /// Agreement of the belief before the fix with the fix: 0 if they don't overlap, 1 if the belief is certain of the
    /// fix's position, about 0.5 if the belief is as uncertain as the fix; nil without a belief on that map.
    public var agreement: Double?
    /// Share of the belief after the fix that relies on the fix, in [0, 1].
    ///
    /// For a hard fix, this is the probability of its floor; for a soft fix, it also includes the probability that the
    /// fix is correct.
    public var belief: Double

    /// Creates a reception.
    package init(agreement: Double?, belief: Double) {
        self.agreement = agreement
        self.belief = belief
    }
}

/// The outcome of an external position fix.
public enum FixOutcome: Hashable, Sendable {
    /// The session has no position yet and keeps the fix as the starting position.
    case kept
    /// The filter applied the fix.
    case taken(FixReception)
    /// The filter ignored the fix for the given reason; the belief is unchanged.
    case ignored(FixError)
}
