/// Conversion of numbers that the scanner has found to be well-formed JSON.
package enum DecimalText {
    /// Returns the nearest double; infinity beyond the range of doubles.
    ///
    /// A number of up to 19 digits with a small exponent needs only one exact multiplication or division.
    /// Source: W. D. Clinger, *How to Read Floating Point Numbers Accurately*, PLDI 1990.
    package static func double(in range: Range<Int>, of line: Span<UInt8>) -> Double {
        let parts = Parts(range, line)
        if parts.isExact, parts.digits <= 1 << 53, abs(parts.exponent) <= 22 {
            let magnitude = Double(parts.digits)
            let scaled =
                parts.exponent < 0
                ? magnitude / powersOfTen[-parts.exponent] : magnitude * powersOfTen[parts.exponent]
            return parts.isNegative ? -scaled : scaled
        }
        var text: [UInt8] = []
        for offset in range { text.append(line[offset]) }
        // Every JSON number is also a valid Swift number, so the default is never used.
        return Double(String(decoding: text, as: UTF8.self)) ?? .infinity
    }

    /// Returns seconds as whole nanoseconds; nil beyond ±292 years.
    ///
    /// The conversion doesn't go through a double, which would lose digits.
    package static func nanoseconds(in range: Range<Int>, of line: Span<UInt8>) -> Int64? {
        let parts = Parts(range, line)
        if parts.isExact, (-9...9).contains(parts.exponent) {
            var value = parts.digits
            for _ in 0..<(parts.exponent + 9) {
                let (product, overflow) = value.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                value = product
            }
            guard value < 9_200_000_000_000_000_000 else { return nil }
            return parts.isNegative ? -Int64(value) : Int64(value)
        }
        let nanoseconds = (double(in: range, of: line) * 1e9).rounded()
        return abs(nanoseconds) < 9.2e18 ? Int64(nanoseconds) : nil
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The number as `±digits × 10^exponent`.
    private struct Parts {
        var digits: UInt64 = 0
        var exponent = 0
        var isNegative = false
        /// Whether all digits fit.
        var isExact = true

        init(_ range: Range<Int>, _ line: Span<UInt8>) {
            var offset = range.lowerBound
            var isFraction = false
            var written = 0
            var isExponentNegative = false
            scan: while offset < range.upperBound {
                let character = line[offset]
                offset += 1
                switch character {
                case UInt8(ascii: "-"): isNegative = true
                case UInt8(ascii: "."): isFraction = true
                case UInt8(ascii: "e"), UInt8(ascii: "E"): break scan
                default:
                    guard digits < 1_000_000_000_000_000_000 else {
                        isExact = false
                        continue
                    }
                    digits = digits * 10 + UInt64(character - UInt8(ascii: "0"))
                    if isFraction { exponent -= 1 }
                }
            }
            while offset < range.upperBound {
                let character = line[offset]
                offset += 1
                if character == UInt8(ascii: "-") { isExponentNegative = true }
                if character &- UInt8(ascii: "0") <= 9, written < 100_000 {
                    written = written * 10 + Int(character - UInt8(ascii: "0"))
                }
            }
            exponent += isExponentNegative ? -written : written
        }
    }
}
