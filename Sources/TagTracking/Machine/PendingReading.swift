/// A reading that waits in the reorder window.
///
/// Readings are ordered by their instant. The order of readings with the same instant depends on their content alone,
/// so that the order of arrival doesn't change the result.
struct PendingReading: Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 UTC.
    var nanoseconds: Int64
    /// The hash of the tag's key.
    var hash: UInt64
    /// The index of the tag's record.
    var slot: Int
    /// The index of the receiver.
    var receiver: Int
    /// The RSSI in dBm.
    var rssi: Double
    /// The window of the gateway's filter in nanoseconds.
    var window: Int64
    /// The signal strength at 1 m that the tag advertises, in dBm; NaN if unknown.
    var measuredPower: Double

    static func < (left: PendingReading, right: PendingReading) -> Bool {
        if left.nanoseconds != right.nanoseconds { return left.nanoseconds < right.nanoseconds }
        if left.hash != right.hash { return left.hash < right.hash }
        if left.receiver != right.receiver { return left.receiver < right.receiver }
        return (left.rssi, left.window) < (right.rssi, right.window)
    }
}

/// The time at which a tag has its next position or is away.
///
/// A tag that was rescheduled leaves its earlier entry in the queue; ``TagRecord/scheduled`` identifies the valid one.
struct DueTag: Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 UTC.
    var nanoseconds: Int64
    /// The hash of the tag's key.
    var hash: UInt64
    /// The index of the tag's record.
    var slot: Int

    static func < (left: DueTag, right: DueTag) -> Bool {
        (left.nanoseconds, left.hash, left.slot) < (right.nanoseconds, right.hash, right.slot)
    }
}
