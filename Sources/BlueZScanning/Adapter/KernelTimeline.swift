import Glibc
import IndoorVocabulary

/// A converter from the kernel's times of reception, which are on the wall clock, to monotonic instants.
///
/// Instants count from boot and include sleep (CLOCK_BOOTTIME), as Swift's `ContinuousClock` does, so that the silence
/// of a beacon includes the time that a laptop slept. The offset of the wall clock is measured at each wake-up, because
/// the wall clock may be set at any time. A packet waits for microseconds only, so its time almost always has the same
/// offset; otherwise its instant is clamped between the last instant and now.
package struct KernelTimeline: Sendable, Equatable {
    /// The current instant as of the last wake-up.
    package private(set) var now: Instant
    private var last: Instant
    private var wallAhead: Int64 = 0

    /// Creates a timeline from the readings of both clocks, in nanoseconds.
    package init(wall: Int64, boot: Int64) {
        now = Instant(nanoseconds: boot)
        last = now
        wallAhead = wall &- boot
    }

    /// Creates a timeline from the system's clocks.
    init() { self.init(wall: Self.read(CLOCK_REALTIME), boot: Self.read(CLOCK_BOOTTIME)) }

    /// Updates the timeline with the readings of both clocks, in nanoseconds.
    package mutating func wake(wall: Int64, boot: Int64) {
        now = max(now, Instant(nanoseconds: boot))
        wallAhead = wall &- boot
    }

    /// Updates the timeline from the system's clocks.
    mutating func wake() { wake(wall: Self.read(CLOCK_REALTIME), boot: Self.read(CLOCK_BOOTTIME)) }

    /// The relation of instants to the wall clock at the last wake-up.
    package var wallClock: WallClock {
        var clock = WallClock(timeOfZero: .nanoseconds(wallAhead))
        clock.measuredAt = clock.unixTime(at: now)
        return clock
    }

    /// Returns whether a packet was received after the last wake-up, so that the clocks must be read again.
    ///
    /// - Parameter wall: The time of reception in nanoseconds of the wall clock; negative if unknown.
    package func isBehind(wall: Int64) -> Bool { wall >= 0 && wall &- wallAhead > now.nanoseconds }

    /// Returns the instant of a packet.
    ///
    /// - Parameter wall: The time of reception in nanoseconds of the wall clock; negative if unknown.
    package mutating func instant(wall: Int64) -> Instant {
        let instant = wall < 0 ? now : Instant(nanoseconds: wall &- wallAhead)
        last = max(last, min(instant, now))
        return last
    }

    /// Returns the current instant, for events without a time of their own.
    package mutating func present() -> Instant {
        last = max(last, now)
        return last
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
