/// How the adapter scans.
package struct HCIScanParameters: Hashable, Sendable {
    /// Whether scan responses are asked for.
    package var isActive: Bool
    /// From the start of one window to the next, in units of 0.625 ms.
    package var interval: UInt16
    /// How long the adapter listens, in units of 0.625 ms; at most the interval.
    package var window: UInt16
    /// Whether the adapter has no public address to ask from.
    package var usesRandomAddress = false

    /// What both sets of commands allow, in units of 0.625 ms: 2.5 ms to 10.24 s.
    package static let range: ClosedRange<UInt16> = 0x0004...0x4000

    /// Creates parameters from durations, which are rounded to units and brought into the range.
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
