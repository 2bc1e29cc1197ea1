/// The resolution and the offset of the times of a capture file.
package struct PacketTime: Hashable, Sendable {
    /// Microseconds, the default of both formats.
    package static let microseconds = PacketTime(resolution: 6, offset: 0)

    /// The exponent: times count 10^-resolution s or, if the highest bit is set, 2^-(the other bits) s.
    package var resolution: UInt8
    /// The seconds that are added to each time.
    package var offset: Int64

    /// Creates a resolution and an offset.
    package init(resolution: UInt8, offset: Int64) {
        self.resolution = resolution
        self.offset = offset
    }

    /// Returns a count of units as nanoseconds since 1970; nil out of range.
    package func nanoseconds(_ units: UInt64) -> Int64? {
        let exponent = Int(resolution & 0x7F)
        let value: UInt64
        if resolution & 0x80 != 0 {
            guard exponent < 64 else { return nil }
            let (high, low) = units.multipliedFullWidth(by: 1_000_000_000)
            guard high >> UInt64(exponent) == 0 else { return nil }
            value = exponent == 0 ? low : high << UInt64(64 - exponent) | low >> UInt64(exponent)
        } else {
            guard exponent <= 18 else { return nil }
            let (factor, divisor) = (Self.power(9 - exponent), Self.power(exponent - 9))
            let (product, overflow) = units.multipliedReportingOverflow(by: factor)
            guard !overflow else { return nil }
            value = product / divisor
        }
        let (shift, isFar) = offset.multipliedReportingOverflow(by: 1_000_000_000)
        guard value < 9_200_000_000_000_000_000, !isFar else { return nil }
        let (sum, overflow) = Int64(value).addingReportingOverflow(shift)
        return overflow ? nil : sum
    }

    /// Returns a power of ten; 1 for a negative exponent.
    private static func power(_ exponent: Int) -> UInt64 {
        var power: UInt64 = 1
        for _ in 0..<max(0, exponent) { power *= 10 }
        return power
    }
}
