import Foundation
import IndoorLocalization
import ScanRecording

/// When a live recording begins: at its first reading, by the source's wall clock, or the machine's if it has none.
struct RecordingBeginning {
    let wallClock: @Sendable () -> WallClock?
    private var begun: Int64?

    init(wallClock: @escaping @Sendable () -> WallClock?) { self.wallClock = wallClock }

    /// Takes in a reading, of which the first counts.
    mutating func note(_ reading: SensorReading) {
        guard begun == nil else { return }
        begun = wallClock().map { $0.unixTime(at: reading.instant).milliseconds &* 1000 } ?? Self.now
    }

    /// Microseconds since 1970 (UTC); before the first reading, those of now.
    var microseconds: Int64 { begun ?? Self.now }

    /// The header of the recording.
    var header: RecordingHeader { RecordingHeader(startedAt: RecordingStart.text(microseconds)) }

    private static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1e6).rounded()) }
}
