import IndoorVocabulary
import SQLiteFiles

/// The limit of the age of a history's rows. A clock that is set wrong deletes no young ones.
///
/// Rows age with the uptime of the machine, see `RetentionClock`. After a restart they age by the clock: once NTP has had
/// time to set it, and by at most half of the limit, so that one that stays wrong deletes no young rows, either.
struct AgeLimit {
    /// The uptime in seconds from which the clock counts after a restart.
    private static let settling = 600.0
    /// Stands for the run of the machine in which an earlier version wrote the file. No run has this identifier.
    private static let earlierBoot = "earlier version"

    private let age: Duration
    private let now: @Sendable () -> DeviceMoment
    /// Nil if a new file has no row that can be too old.
    private var clock: RetentionClock?

    /// Reads the clock of a file. Call it before rows are written, because they must not determine the age of earlier ones.
    ///
    /// - Parameter now: returns the present moment of the device.
    init(
        _ age: Duration, in database: SQLiteFile<TagHistoryError>, now: @escaping @Sendable () -> DeviceMoment
    ) throws(TagHistoryError) {
        self.age = age
        self.now = now
        clock = try RetentionClock.stored(in: database)
        guard clock == nil, let latest = try Self.time("max", in: database) else { return }
        // The file of an earlier version: its clock begins at the latest row, in an earlier run of the machine.
        let earlier = RetentionClock(
            time: latest, moment: DeviceMoment(clock: latest, boot: Self.earlierBoot, uptime: 0))
        try earlier.store(in: database)
        clock = earlier
    }

    /// Returns the time before which rows are too old; nil if none is.
    ///
    /// - Parameter newest: the time of the newest output.
    mutating func bound(
        in database: SQLiteFile<TagHistoryError>, at newest: Instant
    ) throws(TagHistoryError) -> Instant? {
        let moment = now()
        let isSettled = moment.uptime >= Self.settling
        guard var present = clock ?? (isSettled ? RetentionClock(from: nil, at: moment) : nil) else { return nil }
        present.advance(
            to: moment, settling: Self.settling, longestOff: min(RetentionClock.longestOff, age.seconds / 2))
        if isSettled, let oldest = try Self.time("min", in: database) { present.follow(oldest: oldest) }
        try present.store(in: database)
        clock = present
        return min(newest, Instant(seconds: present.time)).advanced(by: .zero - age)
    }

    /// Returns the least or the greatest time of the rows in seconds, with the function of SQL; nil without rows.
    private static func time(
        _ function: String, in database: SQLiteFile<TagHistoryError>
    ) throws(TagHistoryError) -> Double? {
        let rows = try database.run(
            """
            SELECT \(function)(time) FROM (
                SELECT \(function)(time) AS time FROM position UNION ALL SELECT \(function)(end) FROM visit)
            """)
        return rows.first?.first?.integer.map { Double($0) / 1_000 }
    }
}
