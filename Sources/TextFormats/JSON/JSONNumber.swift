/// A number of JSON as `±digits × 10^exponent`.
package struct JSONNumber: Hashable, Sendable {
    /// Whether the number begins with a minus sign.
    package var isNegative = false
    /// The digits as an integer; only valid if the number is exact.
    package var digits: UInt64 = 0
    /// The power of ten.
    package var exponent = 0
    /// Whether all digits fit in `digits`.
    package var isExact = true
    /// The offsets of its text.
    package var range = 0..<0

    /// Creates the number 0, which has no place.
    package init() {}

    /// Returns the nearest double; infinity beyond the range of doubles.
    ///
    /// - Parameter bytes: the document of the number.
    package func double(_ bytes: Span<UInt8>) -> Double {
        // Digits and power are both exact, so the result is the nearest number: W. D. Clinger, *How to Read Floating
        // Point Numbers Accurately*, PLDI 1990.
        if isExact, digits <= 1 << 53, abs(exponent) < Self.powersOfTen.count {
            let power = Self.powersOfTen[abs(exponent)]
            let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
            return isNegative ? -magnitude : magnitude
        }
        var text: [UInt8] = []
        for index in range { text.append(bytes[index]) }
        // Swift parses every number that is valid in JSON.
        return Double(String(decoding: text, as: UTF8.self)) ?? .infinity
    }

    /// The number as an integer; nil if it has a fraction or an exponent, or exceeds the range of `Int64`.
    package var integer: Int64? {
        guard isExact, exponent == 0, let magnitude = Int64(exactly: digits) else { return nil }
        return isNegative ? -magnitude : magnitude
    }

    /// Returns seconds as whole nanoseconds; nil beyond ±292 years.
    ///
    /// The conversion doesn't go through a double, which would lose digits.
    package func nanoseconds(_ bytes: Span<UInt8>) -> Int64? {
        if isExact, (-9...9).contains(exponent) {
            var value = digits
            for _ in 0..<(exponent + 9) {
                let (product, overflow) = value.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                value = product
            }
            guard value < 9_200_000_000_000_000_000 else { return nil }
            return isNegative ? -Int64(value) : Int64(value)
        }
        let nanoseconds = (double(bytes) * 1e9).rounded()
        return abs(nanoseconds) < 9.2e18 ? Int64(nanoseconds) : nil
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

extension JSONCursor {
    /// Reads a number as the nearest double.
    ///
    /// - Throws: `JSONSyntaxError` if the number exceeds the range of a double.
    package mutating func number(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> Double {
        let start = offset
        let value = try decimal(bytes).double(bytes)
        guard value.isFinite else { throw JSONSyntaxError(.numberRange, at: start) }
        return value
    }

    /// Reads an integer.
    ///
    /// - Throws: `JSONSyntaxError` if the number has a fraction or an exponent, or exceeds the range of `Int64`.
    package mutating func integer(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> Int64 {
        skipBlanks(bytes)
        let start = offset
        guard let value = try decimal(bytes).integer else { throw JSONSyntaxError(.integerRange, at: start) }
        return value
    }

    /// Reads a number.
    package mutating func decimal(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONNumber {
        skipBlanks(bytes)
        var index = offset
        var number = JSONNumber()
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") {
            number.isNegative = true
            index += 1
        }
        let whole = index
        guard Self.digits(bytes, at: &index, &number) else { throw JSONSyntaxError(.wholeDigits, at: index) }
        guard index == whole + 1 || bytes[whole] != UInt8(ascii: "0") else {
            throw JSONSyntaxError(.leadingZero(inArray: false), at: whole, byte: whole + 1)
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            let point = index
            guard Self.digits(bytes, at: &index, &number) else { throw JSONSyntaxError(.fractionDigits, at: index) }
            number.exponent = point - index
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            try Self.exponent(bytes, at: &index, &number)
        }
        number.range = offset..<index
        offset = index
        return number
    }

    /// Reads digits; returns false if there are none.
    private static func digits(_ bytes: Span<UInt8>, at index: inout Int, _ number: inout JSONNumber) -> Bool {
        let start = index
        while index < bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            // 19 digits always fit.
            if number.digits >= 1_000_000_000_000_000_000 { number.isExact = false }
            number.digits = number.digits &* 10 &+ UInt64(digit)
            index += 1
        }
        return index > start
    }

    private static func exponent(
        _ bytes: Span<UInt8>, at index: inout Int, _ number: inout JSONNumber
    ) throws(JSONSyntaxError) {
        var isNegative = false
        if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
            isNegative = bytes[index] == UInt8(ascii: "-")
            index += 1
        }
        let start = index
        var value = 0
        while index < bytes.count, case let digit = bytes[index] &- UInt8(ascii: "0"), digit <= 9 {
            value = min(value * 10 + Int(digit), 100_000)
            index += 1
        }
        guard index > start else { throw JSONSyntaxError(.exponentDigits, at: index) }
        number.exponent += isNegative ? -value : value
    }
}
