import FoundationEssentials
import IndoorVocabulary
import Synchronization

/// The start of a recording as ISO 8601 text, and as microseconds since 1970-01-01 UTC.
package enum RecordingStart {
    /// Returns the text of a point in time, to the millisecond.
    package static func text(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds) / 1e6).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
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
