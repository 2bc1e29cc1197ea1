import IndoorVocabulary
import ScanRecording
import TextFormats

/// The conversion of the times of a file to the instants of a recording.
///
/// Unix times count from the first one, which is the start of the recording. Other times stay unchanged. A time that is
/// up to `tolerance` earlier than the previous time becomes equal to it, because several sensors or channels write to
/// one file.
struct ForeignTimeline: Hashable, Sendable {
    /// The longest time by which an entry may be late.
    static let tolerance = Duration.seconds(1)

    /// The first Unix time; nil before the first entry, and if the file has other times.
    private(set) var start: ForeignTime?
    /// The number of entries that were late within the tolerance.
    private(set) var late = 0
    private var isUnix: Bool?
    private var latest: Instant?

    /// Returns the instant of a time.
    mutating func instant(of time: ForeignTime) throws(ForeignProblem) -> Instant {
        if isUnix == nil {
            isUnix = time.isUnix
            if time.isUnix { start = time }
        }
        guard isUnix == time.isUnix else {
            throw ForeignProblem.invalid(
                "time", ShortestNumber.text(billionths: time.nanoseconds),
                expected: isUnix == true
                    ? "a time since 1970, as before" : "a time that doesn't count since 1970, as before")
        }
        let (elapsed, overflow) = time.nanoseconds.subtractingReportingOverflow(start?.nanoseconds ?? 0)
        guard !overflow, elapsed.magnitude < 9_200_000_000_000_000_000 else {
            throw ForeignProblem("time", .timeOutOfRange)
        }
        let instant = Instant(nanoseconds: elapsed)
        guard let latest, instant < latest else {
            latest = instant
            return instant
        }
        guard instant.duration(to: latest) <= Self.tolerance else {
            throw ForeignProblem("time", .timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        late += 1
        return latest
    }
}
