/// Decoding and encoding of JSON strings.
package enum JSONText {
    /// Returns the UTF-8 bytes that a scanned string represents.
    package static func bytes(ofString token: JSONToken, in line: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.range.count)
        var offset = token.range.lowerBound
        while offset < token.range.upperBound {
            let character = line[offset]
            offset += 1
            guard character == UInt8(ascii: "\\") else {
                bytes.append(character)
                continue
            }
            let letter = line[offset]
            offset += 1
            switch letter {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"): bytes.append(contentsOf: utf8(ofEscapeAt: &offset, in: line))
            default: bytes.append(letter)
            }
        }
        return bytes
    }

    /// Returns the UTF-8 bytes of the escape whose four digits begin at `offset`.
    ///
    /// If the escape is the first half of a surrogate pair, the result includes the second half.
    private static func utf8(ofEscapeAt offset: inout Int, in line: Span<UInt8>) -> [UInt8] {
        var value = codeUnit(at: &offset, in: line)
        if value & 0xFC00 == 0xD800 {
            offset += 2
            value = 0x10000 + (value & 0x3FF) << 10 + codeUnit(at: &offset, in: line) & 0x3FF
        }
        // The scanner rejects lone surrogates, so every value is a Unicode scalar.
        return Array(String(UnicodeScalar(value) ?? "\u{FFFD}").utf8)
    }

    private static func codeUnit(at offset: inout Int, in line: Span<UInt8>) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            value = value << 4 | UInt32(HexDigits.value(of: line[offset]) ?? 0)
            offset += 1
        }
        return value
    }

    /// Appends the text as a JSON string with its quotes, and escapes only what JSON requires.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(contentsOf: HexDigits.text(of: [byte]))
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
