/// A source of satellite positions beside the radio: a receiver, or the service of one.
///
/// A `Localizer` uses one beside its `ScanSource`. A recording has satellite positions among its readings.
public protocol GNSSSource: Sendable {
    /// Begins to receive and returns positions, ordered by instant, until the receiver ends or is cancelled.
    ///
    /// The stream throws the error that ended the reception; a localizer reports it and starts again after a pause. Each call
    /// begins a reception of its own. While the receiver has no fix, the stream delivers nothing.
    ///
    /// Instants are on the clock of the scan. On Linux, live sources use CLOCK_BOOTTIME, which `ContinuousClock` reads. A
    /// localizer shifts the instants of a receiver with another clock, so that the first one is the present.
    func fixes() -> AsyncThrowingStream<GNSSFix, any Error>
}
