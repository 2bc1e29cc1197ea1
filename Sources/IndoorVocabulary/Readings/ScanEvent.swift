/// A radio began or ceased to scan.
public struct ScanEvent: Hashable, Sendable {
    /// What can happen.
    public enum Kind: String, Hashable, Sendable {
        /// A pass began: from now on, beacons are heard.
        case started
        /// A pass ended: nothing is heard until the next one begins.
        case stopped
    }

    /// What happened.
    public var kind: Kind
    /// Time since the scanner was started; on a recording, since its first reading.
    public var elapsed: Duration
    /// When it happened, on the source's timeline; nil as long as the source has told no instant.
    public var instant: Instant?

    /// Creates an event.
    public init(kind: Kind, elapsed: Duration, instant: Instant? = nil) {
        self.kind = kind
        self.elapsed = elapsed
        self.instant = instant
    }
}
