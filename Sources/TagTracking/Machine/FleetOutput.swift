import IndoorVocabulary
import LocalizationSession
import VenueModel

/// An output of a fleet about one tag.
///
/// A fleet emits each output at least once. The outputs of a tag increase in `epoch`, and within an epoch in
/// `sequence`: a reader drops an output that isn't greater than the last one of the tag.
public struct FleetOutput: Hashable, Sendable {
    /// The content of an output.
    public enum Content: Hashable, Sendable {
        /// The tag was received for the first time, or again after it was away.
        case present
        /// A position of the tag. Its instant is counted from the Unix epoch.
        case position(Position)
        /// The tag entered or left a room or a fence of the venue.
        case event(LocalizationEvent)
        /// No receiver received the tag for the timeout of its class.
        case away
    }

    /// The tag.
    public var tag: TagKey
    /// The display name of the tag; nil for the key.
    public var name: String?
    /// The number of the fleet's start or of the partition's owner, which increases with each start or owner.
    public var epoch: UInt64
    /// The number of the output within the tag and the epoch, from 1.
    public var sequence: UInt64
    /// The time of the output, counted from the Unix epoch.
    public var instant: Instant
    /// The content.
    public var content: Content

    /// Creates an output.
    public init(
        tag: TagKey, name: String? = nil, epoch: UInt64, sequence: UInt64, instant: Instant, content: Content
    ) {
        self.tag = tag
        self.name = name
        self.epoch = epoch
        self.sequence = sequence
        self.instant = instant
        self.content = content
    }
}
