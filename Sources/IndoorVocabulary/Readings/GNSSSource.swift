/// Where satellite positions come from beside the radio: a receiver, a service that has one, a test.
///
/// A `Localizer` takes one beside its `ScanSource`; a recording has its satellite positions among its readings.
public protocol GNSSSource: Sendable {
    /// Begins to receive and returns positions, ordered by instant, until the receiver ends or is cancelled.
    ///
    /// The sequence throws what made it impossible to go on; a localizer reports that and begins anew after a pause. Each
    /// call receives on its own. While the place is not known, there is no position.
    ///
    /// Instants count on the clock of the scan: on Linux, those of live sources on CLOCK_BOOTTIME, which `ContinuousClock`
    /// reads. Those of a receiver that counts from elsewhere are moved as a whole, so that the first is the present.
    func fixes() -> AsyncThrowingStream<GNSSFix, any Error>
}
