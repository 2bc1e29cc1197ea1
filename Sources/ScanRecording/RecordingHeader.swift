import IndoorVocabulary

/// The header of a recording: its first line.
public struct RecordingHeader: Hashable, Sendable {
    /// The value of the `format` field in every recording.
    package static let format = "indoor-localization-recording"
    /// The newest version of the format that this package reads.
    package static let newestVersion = 1

    /// The version of the format, from 1 to `newestVersion`.
    package var version: Int
    /// The time of instant zero as ISO 8601 text, unchanged from the file; nil if unknown.
    public var startedAt: String?
    /// The model of the receiver; nil if unknown.
    public var device: String?
    /// The venue in which the recording was made; nil if unknown.
    public var venueID: VenueID?
    /// A display name; nil if the recording has none.
    public var name: String?
    /// The session that made the recording; nil if no session made it, or if that session had no trace identifier.
    public var traceID: TraceID?

    /// Creates a header of the newest version.
    public init(
        startedAt: String? = nil, device: String? = nil, venueID: VenueID? = nil, name: String? = nil,
        traceID: TraceID? = nil
    ) {
        self.version = Self.newestVersion
        self.startedAt = startedAt
        self.device = device
        self.venueID = venueID
        self.name = name
        self.traceID = traceID
    }

    /// The relation of instants to Unix time; nil if `startedAt` is missing or is not ISO 8601 with a time zone.
    public var wallClock: WallClock? {
        startedAt.flatMap(RecordingStart.microseconds).flatMap(WallClock.init(startMicroseconds:))
    }
}
