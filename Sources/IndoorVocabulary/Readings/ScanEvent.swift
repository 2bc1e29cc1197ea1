/// The beginning or the end of a pass.
public struct ScanEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// A pass began: the radio receives.
        case started
        /// A pass ended: the radio receives nothing until the next one begins.
        case stopped
    }

    /// The kind of the event.
    public var kind: Kind
    /// Time since the scanner was started; on a recording, since its first reading.
    public var elapsed: Duration
    /// When it happened, on the timeline of the source; nil before the first reading of the source.
    public var instant: Instant?

    /// Creates an event.
    package init(kind: Kind, elapsed: Duration, instant: Instant? = nil) {
        self.kind = kind
        self.elapsed = elapsed
        self.instant = instant
    }
}
