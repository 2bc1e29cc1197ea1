import Glibc
import IndoorVocabulary

/// A moment that another run of a program can compare with its own.
///
/// Within one run of the machine its uptime counts, which nobody sets; only across a reboot the clock on the wall does.
struct MachineTime: Hashable, Sendable {
    /// Seconds since 1970, by a clock that may have been set.
    var seconds: Double
    /// Which run of the machine; empty if the system doesn't tell.
    var boot: String
    /// Seconds of that run, also asleep.
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

    /// How long ago it was at another moment; nil if that seems to have been before: a clock was set, or is not set yet.
    func age(at now: MachineTime) -> Duration? {
        let isSameRun = !boot.isEmpty && boot == now.boot && uptime.isFinite
        let age = isSameRun ? now.uptime - uptime : now.seconds - seconds
        // A Duration holds 292 thousand million years; no clock is right that tells of a thousand.
        guard age >= 0, age < 3e10 else { return nil }
        return .seconds(age)
    }
}

/// Tells the present moment.
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
