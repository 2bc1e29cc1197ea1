/// Bytes and numbers in hexadecimal digits of either case.
package enum HexDigits {
    /// Returns the value of a digit; nil for any other byte.
    @inlinable @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        let decimal = digit &- UInt8(ascii: "0")
        if decimal <= 9 { return decimal }
        let letter = (digit | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// Returns a number of up to 16 digits; nil for no digit, for more digits or for another character.
    package static func number(_ text: Span<UInt8>) -> UInt64? {
        guard !text.isEmpty, text.count <= 16 else { return nil }
        var number: UInt64 = 0
        for index in text.indices {
            guard let digit = value(of: text[index]) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }

    /// Appends the bytes of pairs of digits; returns false for an odd number of digits or another character.
    package static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count.isMultiple(of: 2) else { return false }
        bytes.reserveCapacity(bytes.count + text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else { return false }
            bytes.append(high << 4 | low)
        }
        return true
    }

    /// Appends the two digits of a byte.
    package static func append(_ byte: UInt8, to text: inout [UInt8], uppercase: Bool) {
        text.append(digit(byte >> 4, uppercase))
        text.append(digit(byte & 15, uppercase))
    }

    /// Returns the digits of a number that isn't negative, with leading zeros up to `count` digits.
    package static func text(_ number: some BinaryInteger, _ count: Int, uppercase: Bool) -> String {
        let digits = String(number, radix: 16, uppercase: uppercase)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    /// Returns the two digits of each byte.
    package static func text(of bytes: some Sequence<UInt8>, uppercase: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes { append(byte, to: &text, uppercase: uppercase) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8, _ uppercase: Bool) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + (uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a"))
    }
}
