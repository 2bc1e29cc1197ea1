/// Conversion between bytes and pairs of hexadecimal digits.
enum HexDigits {
    /// Returns the value of a digit in upper or lower case; nil for any other character.
    static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the bytes that the digits in the range represent; nil if they are not complete pairs of digits.
    static func bytes(in range: Range<Int>, of text: Span<UInt8>) -> [UInt8]? {
        guard range.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count / 2)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            guard let high = value(of: text[offset]), let low = value(of: text[offset + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns two upper-case digits for each byte.
    static func text(of bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte in [digit(byte >> 4), digit(byte & 15)] }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "A")
    }
}
