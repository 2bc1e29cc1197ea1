import TagTracking

/// A time as a file states it.
struct ForeignTime: Hashable, Sendable {
    /// Nanoseconds since the zero point of the file's clock.
    var nanoseconds: Int64
    /// Whether the zero point is that of Unix, 1970-01-01 UTC.
    var isUnix: Bool

    /// Returns the time in a text: ISO 8601, or a number whose magnitude determines its unit.
    ///
    /// A number from 10^17 counts nanoseconds, from 10^14 microseconds, from 10^11 milliseconds, and below that
    /// seconds. A number from 10^8, which is 1973 in seconds, counts since 1970. A time without a zone is UTC.
    static func text(_ text: some StringProtocol) -> ForeignTime? {
        let bytes = Array(text.utf8)
        if bytes.count > 10, bytes[4] == UInt8(ascii: "-") {
            return TimeText.time(bytes.span).map { ForeignTime(nanoseconds: $0.nanoseconds, isUnix: true) }
        }
        guard let number = FieldText.number(text) else { return nil }
        let size = number.magnitude
        let decimals = size >= 1e17 ? 0 : size >= 1e14 ? 3 : size >= 1e11 ? 6 : 9
        guard let nanoseconds = nanoseconds(bytes, unit: decimals) else { return nil }
        return ForeignTime(nanoseconds: nanoseconds, isUnix: size >= 1e8)
    }

    /// Returns a decimal number as nanoseconds; nil for any other text, and beyond ±292 years.
    ///
    /// - Parameter unit: the power of ten of the number's unit in nanoseconds, such as 9 for seconds.
    static func nanoseconds(_ text: [UInt8], unit: Int) -> Int64? {
        var (value, decimals) = (Int64(0), 0)
        var (hasPoint, hasDigit) = (false, false)
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"), index == 0 { continue }
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return scientific(text, unit: unit) }
            hasDigit = true
            guard !hasPoint || decimals < unit else { continue }
            if hasPoint { decimals += 1 }
            guard let next = multiplied(value, by: 10, plus: Int64(digit)) else { return nil }
            value = next
        }
        guard hasDigit else { return nil }
        for _ in decimals..<unit {
            guard let next = multiplied(value, by: 10, plus: 0) else { return nil }
            value = next
        }
        return text.first == UInt8(ascii: "-") ? -value : value
    }

    /// Returns a number with an exponent as nanoseconds, with the precision of a double.
    private static func scientific(_ text: [UInt8], unit: Int) -> Int64? {
        guard var number = FieldText.number(String(decoding: text, as: UTF8.self)) else { return nil }
        for _ in 0..<unit { number *= 10 }
        return number.magnitude < 9.2e18 ? Int64(number.rounded()) : nil
    }

    private static func multiplied(_ value: Int64, by factor: Int64, plus term: Int64) -> Int64? {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        let (sum, carry) = product.addingReportingOverflow(term)
        return overflow || carry ? nil : sum
    }
}
