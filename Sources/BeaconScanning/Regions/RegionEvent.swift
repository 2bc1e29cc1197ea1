import IndoorVocabulary

/// The entry into a tracked region, or the exit from it.
public struct RegionEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// The radio received the first of its beacons.
        case enter
        /// The radio no longer receives any of its beacons.
        case exit
    }

    /// When it happened; for an exit, the end of the exit timeout.
    public var instant: Instant
    /// The name of the tracked region.
    public var regionID: String
    /// The kind of the event.
    public var kind: Kind

    /// Creates an event.
    public init(instant: Instant, regionID: String, kind: Kind) {
        self.instant = instant
        self.regionID = regionID
        self.kind = kind
    }
}
