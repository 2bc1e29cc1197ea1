/// One sample of the barometer.
public struct PressureSample: Hashable, Sendable {
    /// When the barometer measured it.
    public var instant: Instant
    /// Air pressure in hectopascal.
    public var hectopascals: Double

    /// Creates a sample.
    public init(instant: Instant, hectopascals: Double) {
        self.instant = instant
        self.hectopascals = hectopascals
    }
}
