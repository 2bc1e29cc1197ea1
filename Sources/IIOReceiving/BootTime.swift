import Glibc
import IndoorVocabulary

/// Time since the machine's boot, sleep included, as live scans count it.
enum BootTime {
    static var now: Instant { Instant(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME)) }

    static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
