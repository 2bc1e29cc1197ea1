import IndoorVocabulary

/// What a recording is: its first line.
public struct RecordingHeader: Hashable, Sendable {
    /// The value of the field `format` in every recording.
    public static let format = "indoor-localization-recording"
    /// The newest edition of the format that this package knows.
    public static let newestVersion = 1

    /// Edition of the format, from 1 to `newestVersion`.
    public var version: Int
    /// When the recording began, at `t` 0: ISO 8601 text, kept as it was written; nil if unknown.
    public var startedAt: String?
    /// Model of the receiver; nil if unknown.
    public var device: String?
    /// The venue that it was made in; nil if unknown.
    public var venueID: VenueID?
    /// Name for people; nil if it has none.
    public var name: String?
    /// The session that it was made by; nil if it was made by none, or by one that is not named.
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

    /// How the recording's instants relate to Unix time; nil if `startedAt` is missing or is not ISO 8601 with a time zone.
    public var wallClock: WallClock? {
        startedAt.flatMap(RecordingStart.microseconds).flatMap(WallClock.init(startMicroseconds:))
    }
}
