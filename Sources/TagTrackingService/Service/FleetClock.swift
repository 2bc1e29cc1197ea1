import Glibc
import IndoorVocabulary

/// The clock of a fleet: the system's wall clock, except that it never goes back.
///
/// When the wall clock is set back, the fleet's clock runs at half speed until both agree. When it is set forward, such as
/// by NTP some time after the start, the fleet's clock follows at once. No time has passed then: those who compare times
/// move them by the step, see ``steps``.
package struct FleetClock: Sendable {
    /// The difference from which the wall clock was set, and not only adjusted.
    package static let tolerance = Duration.seconds(5)

    /// The sum of the times by which the wall clock was set forward since the first reading.
    package private(set) var steps = Duration.zero
    /// The time by which the fleet's clock was ahead of the wall clock at the latest reading, because that was set back.
    package private(set) var lead = Duration.zero
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
        let elapsed = max(0, uptime - last.uptime)
        let step = Duration.nanoseconds(wall - (last.fleet + elapsed))
        if step > Self.tolerance { steps += step }
        let fleet = max(wall, last.fleet + elapsed / 2)
        lead = .nanoseconds(fleet - wall)
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
