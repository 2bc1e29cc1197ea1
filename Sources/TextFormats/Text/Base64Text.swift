/// Bytes in Base64 with the alphabet of RFC 4648, section 4.
package enum Base64Text {
    /// Appends the bytes of a text; returns false if the text is invalid. The padding may be missing.
    package static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        var count = text.count
        var padding = 0
        while count > 0, padding < 2, text[count - 1] == UInt8(ascii: "=") {
            count -= 1
            padding += 1
        }
        guard padding == 0 || text.count.isMultiple(of: 4) else { return false }
        bytes.reserveCapacity(bytes.count + count * 3 / 4)
        var buffer: UInt32 = 0
        var bits = 0
        for index in 0..<count {
            guard let value = value(of: text[index]) else { return false }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        }
        // The bits after the last byte must be zero, and a single remaining character has too few bits for a byte.
        return bits < 6 && buffer & (1 << UInt32(bits) - 1) == 0
    }

    /// Returns the text of bytes, with padding.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group: UInt32 = 0
            for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
            for index in 0..<4 {
                text.append(index > count ? UInt8(ascii: "=") : alphabet[Int(group >> UInt32(18 - 6 * index) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
