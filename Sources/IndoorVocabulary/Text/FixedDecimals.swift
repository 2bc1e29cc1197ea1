/// Numbers as text with a fixed number of decimals, with the same characters on every machine.
package enum FixedDecimals {
    /// Returns the number with exactly `decimals` decimals, rounded half away from zero.
    ///
    /// - Parameters:
    ///   - value: the number.
    ///   - decimals: the number of decimals, in 0...9.
    /// - Returns: nil if the number isn't finite, or has more than 18 digits.
    package static func text(_ value: Double, _ decimals: Int) -> String? {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = (value.magnitude * scale).rounded()
        guard scaled < 1e18 else { return nil }
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(Int64(scaled)) }
        let digits = padded(Int64(scaled), decimals + 1)
        return sign + digits.dropLast(decimals) + "." + digits.suffix(decimals)
    }

    /// Returns a whole number that isn't negative, with leading zeros up to `count` digits.
    package static func padded(_ value: some BinaryInteger, _ count: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
