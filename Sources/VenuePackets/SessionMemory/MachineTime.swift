import Glibc
import IndoorVocabulary

/// A moment that is comparable between runs of a program.
///
/// Since the last boot, moments are compared by uptime, which cannot be set; across a reboot, by the wall clock.
struct MachineTime: Hashable, Sendable {
    /// Seconds since 1970 by the wall clock, which may have been set.
    var seconds: Double
    /// The identifier of the boot; empty if the system doesn't provide one.
    var boot: String
    /// Seconds since that boot, including suspend.
    var uptime: Double

    init(seconds: Double, boot: String, uptime: Double) {
        self.seconds = seconds
        self.boot = boot
        self.uptime = uptime
    }

    /// Reads the moment from a document.
    init(_ members: [String: JSONValue]) throws(StoredMemoryError) {
        guard case .number(let seconds)? = members["savedAt"], seconds.isFinite else {
            throw StoredMemoryError(message: "\"savedAt\" must be a number of seconds since 1970")
        }
        self.seconds = seconds
        if case .string(let boot)? = members["bootId"] { self.boot = boot } else { boot = "" }
        if case .number(let uptime)? = members["uptime"] { self.uptime = uptime } else { uptime = .nan }
    }

    /// Returns the age at another moment; nil if it would be negative, because a clock was set or isn't set yet.
    func age(at now: MachineTime) -> Duration? {
        let isSameRun = !boot.isEmpty && boot == now.boot && uptime.isFinite
        let age = isSameRun ? now.uptime - uptime : now.seconds - seconds
        // A `Duration` can hold 292 thousand million years, but an age of about a thousand years already means a wrong
        // clock.
        guard age >= 0, age < 3e10 else { return nil }
        return .seconds(age)
    }
}

/// A source of the present moment.
struct MachineClock: Sendable {
    private let read: @Sendable () -> MachineTime

    /// The clock of this machine.
    init() {
        let boot = Self.bootID
        self.init {
            MachineTime(seconds: Self.seconds(CLOCK_REALTIME), boot: boot, uptime: Self.seconds(CLOCK_BOOTTIME))
        }
    }

    init(_ read: @escaping @Sendable () -> MachineTime) { self.read = read }

    var now: MachineTime { read() }

    private static var bootID: String {
        guard let file = try? OpenFile("/proc/sys/kernel/random/boot_id", O_RDONLY), let bytes = try? file.read() else {
            return ""
        }
        return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
