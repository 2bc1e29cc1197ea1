/// The scan parameters of an adapter.
package struct HCIScanParameters: Hashable, Sendable {
    /// Whether the adapter requests scan responses.
    package var isActive: Bool
    /// The time from the start of one window to the start of the next, in units of 0.625 ms.
    package var interval: UInt16
    /// The time that the adapter listens in each interval, in units of 0.625 ms; at most the interval.
    package var window: UInt16
    /// Whether the adapter has no public address, and requests scan responses from a random one.
    package var usesRandomAddress = false

    /// The range that both command sets allow, in units of 0.625 ms: 2.5 ms to 10.24 s.
    package static let range: ClosedRange<UInt16> = 0x0004...0x4000

    /// Creates parameters from durations, which are rounded to units and clamped to the range.
    package init(isActive: Bool, window: Duration, interval: Duration) {
        self.isActive = isActive
        self.interval = Self.units(interval)
        self.window = min(Self.units(window), self.interval)
    }

    private static func units(_ duration: Duration) -> UInt16 {
        let units = duration / .microseconds(625)
        guard units > Double(range.lowerBound) else { return range.lowerBound }
        return units < Double(range.upperBound) ? UInt16(units.rounded()) : range.upperBound
    }
}
