import FoundationEssentials
import IndoorVocabulary
import Synchronization

/// The content of one line of a recording.
public enum RecordingEntry: Hashable, Sendable {
    /// The header of the recording; always the first entry and only the first.
    case header(RecordingHeader)
    /// A measurement by one of the device's sensors.
    case measurement(SensorReading)
    /// The true position of the device; used for surveys and for scoring, never for localization.
    case truth(Truth)

    /// The time of the entry; nil for the header.
    public var instant: Instant? {
        switch self {
        case .header: nil
        case .measurement(let measurement): measurement.instant
        case .truth(let truth): truth.instant
        }
    }
}

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

/// The start of a recording as ISO 8601 text, and as microseconds since 1970-01-01 UTC.
package enum RecordingStart {
    /// Returns the text of a point in time, rounded down to the millisecond.
    package static func text(_ microseconds: Int64) -> String {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1000)
        return CivilTime(UnixTime(milliseconds: remainder < 0 ? quotient - 1 : quotient)).text
    }

    /// Returns the point in time that a text represents; nil if the text is not ISO 8601.
    package static func microseconds(_ text: String) -> Int64? {
        let date = [true, false].lazy.compactMap { hasFraction in
            try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
        }.first
        return date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1e6).rounded()) }
    }
}

extension WallClock {
    /// Creates the clock of a recording or capture that began at that time; nil if the time represents no known start.
    ///
    /// - Parameter startMicroseconds: the time of instant zero, in microseconds since 1970 (UTC).
    init?(startMicroseconds: Int64) {
        guard startMicroseconds != BTSnoopWriter.unknownStart else { return nil }
        self.init(timeOfZero: .microseconds(startMicroseconds))
    }
}

/// The start time of a file. The streams of a source store it when they have read it.
///
/// A class, because a source and its streams share it. The lock makes it safe to send.
package final class FoundStart: Sendable {
    private let state = Mutex<WallClock?>(nil)

    /// Creates a start that is not known yet.
    package init() {}

    package var wallClock: WallClock? { state.withLock { $0 } }

    package func note(_ clock: WallClock?) {
        guard let clock else { return }
        state.withLock { $0 = clock }
    }
}

/// The true position of the device at one instant: ground truth for surveys and scoring.
public struct Truth: Hashable, Sendable {
    /// The range of coordinates on a map, in metres.
    package static let coordinates = -1e6...1e6

    /// The time of the position.
    public var instant: Instant
    /// The map that the device was on; nil if only the room is known.
    public var mapID: MapID?
    /// The position on that map, in metres; nil if only the room is known. Always nil without `mapID`.
    public var point: MapPoint?
    /// The name of the room that the device was in; nil if only the point is known.
    public var room: String?
    /// Whether the device stayed there until the next ground truth.
    ///
    /// Otherwise this is a waypoint: the device moved in a straight line at constant speed between waypoints.
    public var isHold: Bool

    /// Creates a ground truth. A point requires a map, and at least one of `point` and `room` is required.
    public init(
        instant: Instant, mapID: MapID? = nil, point: MapPoint? = nil, room: String? = nil, isHold: Bool = false
    ) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
        self.room = room
        self.isHold = isHold
    }
}
