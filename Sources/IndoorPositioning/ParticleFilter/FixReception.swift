import VenueModel

/// How the filter took in a place that was given from outside.
public struct FixReception: Hashable, Sendable {
    /// How well the belief until then fits to it: 0 if it is nowhere near, 1 if it is certain of the very place, about 0.5 if
    /// it is as uncertain as the fix; nil if there was no belief on that map.
    public var agreement: Double?
    /// Share of the belief that rests on it from now on, in [0, 1].
    ///
    /// Of a hard fix, what its floor is believed; of a soft one, also how probable it is that it is no mistake.
    public var belief: Double

    /// Creates a reception.
    public init(agreement: Double?, belief: Double) {
        self.agreement = agreement
        self.belief = belief
    }
}

/// What became of a place that was given from outside.
public enum FixOutcome: Hashable, Sendable {
    /// The device is not located yet: that begins with this place.
    case kept
    /// The filter took it in.
    case taken(FixReception)
    /// It tells nothing, for that reason: what was known stays.
    case ignored(FixError)
}
