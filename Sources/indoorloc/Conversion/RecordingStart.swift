import Foundation

/// A recording's start as ISO 8601 text, and as microseconds since 1970-01-01 UTC.
enum RecordingStart {
    /// The text of a point in time, to the millisecond.
    static func text(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds) / 1e6).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The point in time that a text stands for; nil if it is no ISO 8601.
    static func microseconds(_ text: String) -> Int64? {
        let date = [true, false].lazy.compactMap { hasFraction in
            try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
        }.first
        return date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1e6).rounded()) }
    }
}
