/// How long a geofence log remembers.
public struct GeofenceLogSettings: Hashable, Sendable {
    /// How many records are kept at most, 1 at least; each beyond takes the place of the oldest.
    ///
    /// A record takes about 150 bytes with its indexes: 100,000 of them are 15 MB.
    public var recordLimit = 100_000
    /// Records older than this are forgotten; nil keeps them as long as the limit does.
    ///
    /// Their age is counted from the newest record, or from the device's clock if that is earlier. A clock that is set
    /// forward ages no record: the time since the machine was started tells of it. Over a restart of the machine the clock
    /// counts, by at most 31 days.
    public var retention: Duration?
    /// How long to wait for another program that writes to the same log, from 0 s on.
    public var busyTimeout = Duration.seconds(5)

    /// Creates the settings with their defaults.
    public init() {}
}
