import Glibc
import IndoorVocabulary

/// Turns the kernel's times of reception, which are of the clock on the wall, into instants that never run backwards.
///
/// Instants count from the machine's boot, sleep included (CLOCK_BOOTTIME): that is how long a beacon was silent while a
/// laptop slept, and what Swift's `ContinuousClock` counts. How far the clock on the wall is ahead is measured at each
/// wake-up, since it may be set at any time; a packet waits for microseconds only, so that its time is of the same setting
/// but for the rare one in between, and that one is kept between the last instant and now.
package struct KernelTimeline: Sendable, Equatable {
    /// The present, as of the last wake-up.
    package private(set) var now: Instant
    private var last: Instant
    private var wallAhead: Int64 = 0

    /// Begins at a present.
    package init(wall: Int64, boot: Int64) {
        now = Instant(nanoseconds: boot)
        last = now
        wallAhead = wall &- boot
    }

    /// Begins at the system's present.
    init() { self.init(wall: Self.read(CLOCK_REALTIME), boot: Self.read(CLOCK_BOOTTIME)) }

    /// Takes in what both clocks show, in nanoseconds.
    package mutating func wake(wall: Int64, boot: Int64) {
        now = max(now, Instant(nanoseconds: boot))
        wallAhead = wall &- boot
    }

    /// Looks at the system's clocks.
    mutating func wake() { wake(wall: Self.read(CLOCK_REALTIME), boot: Self.read(CLOCK_BOOTTIME)) }

    /// How instants relate to the clock on the wall, as both showed at the last wake-up.
    package var wallClock: WallClock {
        var clock = WallClock(timeOfZero: .nanoseconds(wallAhead))
        clock.measuredAt = clock.unixTime(at: now)
        return clock
    }

    /// Whether a packet was received after the last wake-up, so that the clocks are to be looked at again.
    ///
    /// - Parameter wall: when it was received, in nanoseconds of the clock on the wall; negative if unknown.
    package func isBehind(wall: Int64) -> Bool { wall >= 0 && wall &- wallAhead > now.nanoseconds }

    /// The instant of a packet.
    ///
    /// - Parameter wall: when it was received, in nanoseconds of the clock on the wall; negative if unknown.
    package mutating func instant(wall: Int64) -> Instant {
        let instant = wall < 0 ? now : Instant(nanoseconds: wall &- wallAhead)
        last = max(last, min(instant, now))
        return last
    }

    /// The present, for what has no time of its own.
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
