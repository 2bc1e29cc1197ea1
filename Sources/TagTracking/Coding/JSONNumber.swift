extension JSONReader {
    /// A number of JSON as `±digits × 10^exponent`.
    struct Decimal {
        var isNegative = false
        /// The digits as an integer; only valid if the number is exact.
        var digits: UInt64 = 0
        var exponent = 0
        /// Whether all digits fit in `digits`.
        var isExact = true
        var range = 0..<0
    }

    /// Reads a number as the nearest double.
    ///
    /// - Throws: ``Failure`` if the number exceeds the range of a double.
    package mutating func number() throws(Failure) -> Double {
        let start = offset
        let decimal = try decimal()
        // Digits and power are both exact, so the result is the nearest number: W. D. Clinger, *How to Read Floating
        // Point Numbers Accurately*, PLDI 1990.
        if decimal.isExact, decimal.digits <= 1 << 53, abs(decimal.exponent) < Self.powersOfTen.count {
            let power = Self.powersOfTen[abs(decimal.exponent)]
            let magnitude = decimal.exponent < 0 ? Double(decimal.digits) / power : Double(decimal.digits) * power
            return decimal.isNegative ? -magnitude : magnitude
        }
        // Swift parses every number that is valid in JSON.
        let value = Double(String(decoding: bytes[decimal.range], as: UTF8.self)) ?? .infinity
        guard value.isFinite else { throw Failure(offset: start, expected: "a number within ±1.8e308") }
        return value
    }

    /// Reads an integer.
    ///
    /// - Throws: ``Failure`` if the number has a fraction or an exponent, or exceeds the range of `Int64`.
    package mutating func integer() throws(Failure) -> Int64 {
        skipBlanks()
        let start = offset
        let decimal = try decimal()
        guard decimal.isExact, decimal.exponent == 0,
            let value = Int64(exactly: decimal.digits).map({ decimal.isNegative ? -$0 : $0 })
        else { throw Failure(offset: start, expected: "an integer of 64 bits") }
        return value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Reads a number.
    mutating func decimal() throws(Failure) -> Decimal {
        skipBlanks()
        let decimal = try Self.decimal(in: bytes.span, at: offset)
        offset = decimal.range.upperBound
        return decimal
    }

    private static func decimal(in span: Span<UInt8>, at start: Int) throws(Failure) -> Decimal {
        var index = start
        var decimal = Decimal()
        if index < span.count, span[index] == UInt8(ascii: "-") {
            decimal.isNegative = true
            index += 1
        }
        let whole = index
        guard digits(in: span, at: &index, &decimal) else { throw Failure(offset: index, expected: "a number") }
        guard index == whole + 1 || span[whole] != UInt8(ascii: "0") else {
            throw Failure(offset: whole, expected: "a number without leading zeros")
        }
        if index < span.count, span[index] == UInt8(ascii: ".") {
            index += 1
            let point = index
            guard digits(in: span, at: &index, &decimal) else {
                throw Failure(offset: index, expected: "a digit after the decimal point")
            }
            decimal.exponent = point - index
        }
        if index < span.count, span[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            try exponent(in: span, at: &index, &decimal)
        }
        decimal.range = start..<index
        return decimal
    }

    /// Reads digits; returns false if there are none.
    private static func digits(in span: Span<UInt8>, at index: inout Int, _ decimal: inout Decimal) -> Bool {
        let start = index
        while index < span.count {
            let digit = span[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            // 19 digits always fit.
            if decimal.digits >= 1_000_000_000_000_000_000 { decimal.isExact = false }
            decimal.digits = decimal.digits &* 10 &+ UInt64(digit)
            index += 1
        }
        return index > start
    }

    private static func exponent(in span: Span<UInt8>, at index: inout Int, _ decimal: inout Decimal) throws(Failure) {
        var isNegative = false
        if index < span.count, span[index] == UInt8(ascii: "+") || span[index] == UInt8(ascii: "-") {
            isNegative = span[index] == UInt8(ascii: "-")
            index += 1
        }
        let start = index
        var value = 0
        while index < span.count, case let digit = span[index] &- UInt8(ascii: "0"), digit <= 9 {
            value = min(value * 10 + Int(digit), 100_000)
            index += 1
        }
        guard index > start else { throw Failure(offset: index, expected: "a digit in the exponent") }
        decimal.exponent += isNegative ? -value : value
    }
}
