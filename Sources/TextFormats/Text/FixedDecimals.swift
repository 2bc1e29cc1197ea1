/// Numbers as text with a fixed number of decimals, with the same characters on every machine.
package enum FixedDecimals {
    /// Returns the number with exactly `decimals` decimals, rounded half away from zero.
    ///
    /// - Parameters:
    ///   - value: the number.
    ///   - decimals: the number of decimals, in 0...9.
    /// - Returns: nil if the number isn't finite, or has more than 18 digits.
    package static func text(_ value: Double, _ decimals: Int) -> String? {
        guard abs(scaled(value, decimals)) < 1e18 else { return nil }
        var text: [UInt8] = []
        return append(value, decimals, to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Appends the number with exactly `decimals` decimals, rounded half away from zero; returns false, and appends
    /// nothing, if it isn't finite or beyond ±2^63 / 10^decimals.
    package static func append(_ value: Double, _ decimals: Int, to text: inout [UInt8]) -> Bool {
        guard let scaled = Int64(exactly: scaled(value, decimals)) else { return false }
        if scaled < 0 { text.append(UInt8(ascii: "-")) }
        guard decimals > 0 else {
            append(scaled.magnitude, to: &text)
            return true
        }
        var scale: UInt64 = 1
        for _ in 0..<decimals { scale *= 10 }
        append(scaled.magnitude / scale, to: &text)
        text.append(UInt8(ascii: "."))
        append(padded: scaled.magnitude % scale, decimals, to: &text)
        return true
    }

    private static func scaled(_ value: Double, _ decimals: Int) -> Double {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        return (value * scale).rounded()
    }

    /// Returns a whole number that isn't negative, with leading zeros up to `count` digits.
    package static func padded(_ value: some BinaryInteger, _ count: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    /// Appends the last `count` digits of a number, with leading zeros.
    package static func append(padded value: UInt64, _ count: Int, to text: inout [UInt8]) {
        let start = text.count
        var rest = value
        for _ in 0..<count {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        reverse(&text, from: start)
    }

    /// Reverses the bytes from an index on.
    private static func reverse(_ text: inout [UInt8], from start: Int) {
        var (first, last) = (start, text.count - 1)
        while first < last {
            text.swapAt(first, last)
            (first, last) = (first + 1, last - 1)
        }
    }

    /// Appends a whole number.
    @inlinable
    package static func append(_ value: some FixedWidthInteger, to text: inout [UInt8]) {
        append(UInt64(value.magnitude), isNegative: value < 0, to: &text)
    }

    @usableFromInline
    static func append(_ magnitude: UInt64, isNegative: Bool, to text: inout [UInt8]) {
        if isNegative { text.append(UInt8(ascii: "-")) }
        var rest = magnitude
        let start = text.count
        repeat {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        reverse(&text, from: start)
    }
}

/// The shortest text that represents a number exactly.
package enum ShortestNumber {
    /// Returns the number without a trailing `.0`; `nan` and `inf` for values that JSON cannot represent.
    package static func text(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns a whole number with all of its digits, and any other number as Swift describes it.
    package static func digits(_ value: Double) -> String { Int(exactly: value).map(String.init) ?? value.description }

    /// Returns a number of billionths, such as the nanoseconds of a time, with as many decimals as it needs.
    package static func text(billionths: Int64) -> String {
        let (whole, rest) = billionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        var text = (billionths < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        text += "." + FixedDecimals.padded(rest, 9)
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }
}
