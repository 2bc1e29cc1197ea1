import Glibc
import IndoorVocabulary

/// The time since boot, including sleep, as in live scans.
enum BootTime {
    static var now: Instant { Instant(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME)) }

    static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
