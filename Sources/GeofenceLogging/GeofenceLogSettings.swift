/// How long a geofence log remembers.
public struct GeofenceLogSettings: Hashable, Sendable {
    /// How many records are kept at most, 1 at least; each beyond takes the place of the oldest.
    ///
    /// A record takes about 150 bytes with its indexes: 100,000 of them are 15 MB.
    public var recordLimit = 100_000
    /// Records older than this are forgotten; nil keeps them as long as the limit does.
    public var retention: Duration?
    /// How long to wait for another program that writes to the same log, from 0 s on.
    public var busyTimeout = Duration.seconds(5)

    /// Creates the settings with their defaults.
    public init() {}
}
