import Glibc

/// The device's clock and the uptime of the machine, read at the same time. The uptime shows whether the clock was set.
package struct DeviceMoment: Hashable, Sendable {
    /// The time in seconds since 1970, from the clock that can be set.
    package var clock: Double
    /// The identifier of the current run of the machine; empty if it is unknown.
    package var boot: String
    /// The duration of that run in seconds, including sleep.
    package var uptime: Double

    package init(clock: Double, boot: String, uptime: Double) {
        (self.clock, self.boot, self.uptime) = (clock, boot, uptime)
    }

    /// Returns the present moment of this machine.
    package static func now() -> DeviceMoment {
        DeviceMoment(clock: seconds(CLOCK_REALTIME), boot: boot(), uptime: seconds(CLOCK_BOOTTIME))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the identifier that Linux generates at each start; empty if it cannot be read.
    private static func boot() -> String {
        guard let file = fopen("/proc/sys/kernel/random/boot_id", "re") else { return "" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), file) != nil else { return "" }
        return String(decoding: line.prefix { $0 > 32 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The time with which a file measures the age of its records: the device's clock without its jumps.
///
/// Within one run of the machine it advances with the uptime, and follows the clock only if both agree. After a
/// restart, the time for which the machine was off is unknown: the time follows the clock, but by at most `longestOff`.
///
/// Where the identifier of the run can't be read, as in a systemd unit with `ProcSubset=pid`, an uptime below the stored
/// one tells a restart. If the uptime has passed the stored one by then, the records are kept for longer, by the time for
/// which the machine was off.
package struct RetentionClock: Hashable, Sendable {
    /// The largest difference in seconds between clock and uptime that counts as an adjustment by NTP. If the
    /// difference is larger, a user has set the clock.
    static let tolerance = 3_600.0
    /// The maximum number of seconds by which a restart can age the records.
    package static let longestOff = 31 * 86_400.0

    /// The estimated time in seconds since 1970.
    package private(set) var time: Double
    /// The moment of the device at that time.
    private(set) var moment: DeviceMoment

    /// Creates a clock from stored values.
    package init(time: Double, moment: DeviceMoment) { (self.time, self.moment) = (time, moment) }

    /// Creates the clock of a file that has not stored one yet.
    ///
    /// - Parameter latest: the time of the last record; nil if there is none.
    package init(from latest: Double?, at moment: DeviceMoment) {
        time = latest.map { min(moment.clock, $0 + Self.longestOff) } ?? moment.clock
        self.moment = moment
    }

    /// Advances the clock to the present moment.
    ///
    /// - Parameters:
    ///   - settling: the uptime in seconds before which the device's clock isn't followed after a restart, because it
    ///     may not be set yet.
    ///   - longestOff: the maximum number of seconds by which a restart can age the records.
    package mutating func advance(
        to now: DeviceMoment, settling: Double = 0, longestOff: Double = RetentionClock.longestOff
    ) {
        let passed = now.uptime - moment.uptime
        if now.boot == moment.boot, passed >= 0 {
            let expected = time + passed
            time = abs(now.clock - expected) <= Self.tolerance ? max(time, now.clock) : expected
        } else {
            guard now.uptime >= settling else { return }
            time += min(max(0, now.clock - time), longestOff)
        }
        moment = now
    }

    /// Advances the clock to the time of the oldest record, which makes none too old.
    ///
    /// Otherwise, if the device's clock was years behind when the file began, this clock would stay behind for years.
    package mutating func follow(oldest record: Double) { time = max(time, record) }
}

extension RetentionClock {
    /// Returns the clock that a file has stored; nil if there is none.
    package static func stored<Failure: SQLiteFileError>(
        in database: SQLiteFile<Failure>
    ) throws(Failure) -> RetentionClock? {
        try database.run(
            """
            CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY CHECK (id = 1), time REAL NOT NULL,
                clock REAL NOT NULL, boot TEXT NOT NULL, uptime REAL NOT NULL)
            """)
        guard let row = try database.run("SELECT time, clock, boot, uptime FROM clock").first, row.count == 4,
            let time = row[0].real, let clock = row[1].real, let boot = row[2].text, let uptime = row[3].real
        else { return nil }
        return RetentionClock(time: time, moment: DeviceMoment(clock: clock, boot: boot, uptime: uptime))
    }

    /// Stores the clock in the table that ``stored(in:)`` creates.
    package func store<Failure: SQLiteFileError>(in database: SQLiteFile<Failure>) throws(Failure) {
        try database.run(
            "INSERT OR REPLACE INTO clock (id, time, clock, boot, uptime) VALUES (1, ?, ?, ?, ?)",
            [.real(time), .real(moment.clock), .text(moment.boot), .real(moment.uptime)])
    }
}
