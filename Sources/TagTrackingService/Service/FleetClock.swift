import Glibc
import IndoorVocabulary

/// The clock of a fleet: the system's wall clock, except that it never goes back.
///
/// When the wall clock is set back, the fleet's clock runs at half speed until both agree.
package struct FleetClock: Sendable {
    private var last: (fleet: Int64, uptime: Int64)?

    /// Creates a clock.
    package init() {}

    /// Returns the fleet's time.
    ///
    /// - Parameters:
    ///   - wall: the wall clock in nanoseconds since 1970-01-01 UTC.
    ///   - uptime: a clock in nanoseconds that can't be set.
    package mutating func now(wall: Int64, uptime: Int64) -> Instant {
        guard let last else {
            self.last = (wall, uptime)
            return Instant(nanoseconds: wall)
        }
        let slowest = last.fleet + max(0, uptime - last.uptime) / 2
        let fleet = max(wall, slowest)
        self.last = (fleet, max(uptime, last.uptime))
        return Instant(nanoseconds: fleet)
    }

    /// Returns the fleet's time by the system's clocks.
    package mutating func now() -> Instant { now(wall: Self.read(CLOCK_REALTIME), uptime: Self.read(CLOCK_BOOTTIME)) }

    /// The system's wall clock as it is, which can go back.
    package static var wallTime: Instant { Instant(nanoseconds: read(CLOCK_REALTIME)) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
