import Foundation
import IndoorLocalization
import ScanRecording

/// The time of a live scan, counted from its first reading.
struct ScanTimeline {
    private let clock = ContinuousClock()
    private var origin: Instant?
    private var latest: (instant: Instant, read: ContinuousClock.Instant)?

    /// Returns the reading with its instant counted from the first reading.
    mutating func rebase(_ reading: SensorReading) -> SensorReading {
        let start = origin ?? reading.instant
        origin = start
        var rebased = reading
        rebased.instant = Instant.zero.advanced(by: max(.zero, start.duration(to: reading.instant)))
        latest = (rebased.instant, clock.now)
        return rebased
    }

    /// The instant of the latest reading; zero before the first one.
    var last: Instant { latest?.instant ?? .zero }

    /// The present instant; zero before the first reading.
    var now: Instant { instant(at: clock.now) ?? .zero }

    /// Returns the instant at a time of the clock; nil before the first reading.
    func instant(at time: ContinuousClock.Instant) -> Instant? {
        guard let latest else { return nil }
        return max(.zero, latest.instant.advanced(by: latest.read.duration(to: time)))
    }
}

/// The start time of a live recording: that of its first reading, on the source's wall clock, or else on the machine's
/// clock.
struct RecordingBeginning {
    let wallClock: @Sendable () -> WallClock?
    private var begun: Int64?

    init(wallClock: @escaping @Sendable () -> WallClock?) { self.wallClock = wallClock }

    /// Stores the start time with the first reading.
    mutating func note(_ reading: SensorReading) {
        guard begun == nil else { return }
        begun = wallClock().map { $0.unixTime(at: reading.instant).milliseconds &* 1000 } ?? Self.now
    }

    /// The start time in microseconds since 1970 (UTC); before the first reading, the present time.
    var microseconds: Int64 { begun ?? Self.now }

    /// The header of the recording.
    var header: RecordingHeader { RecordingHeader(startedAt: RecordingStart.text(microseconds)) }

    private static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1e6).rounded()) }
}
