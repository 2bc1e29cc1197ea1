/// One reading of the barometer.
public struct PressureSample: Hashable, Sendable {
    /// When it was read.
    public var instant: Instant
    /// Air pressure in hectopascal.
    public var hectopascals: Double

    /// Creates a reading.
    public init(instant: Instant, hectopascals: Double) {
        self.instant = instant
        self.hectopascals = hectopascals
    }
}
