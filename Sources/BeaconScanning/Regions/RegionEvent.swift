import IndoorVocabulary

/// A tracked region was entered or left.
public struct RegionEvent: Hashable, Sendable {
    /// What can happen.
    public enum Kind: String, Hashable, Sendable {
        /// The first of its beacons was heard.
        case enter
        /// None of its beacons was heard any more.
        case exit
    }

    /// When it happened: an exit, when the region's exit timeout had passed.
    public var instant: Instant
    /// The name under which the region is tracked.
    public var regionID: String
    /// What happened.
    public var kind: Kind

    /// Creates an event.
    public init(instant: Instant, regionID: String, kind: Kind) {
        self.instant = instant
        self.regionID = regionID
        self.kind = kind
    }
}
