/// The place of a string in a JSON document.
package struct JSONString: Hashable, Sendable {
    /// The bytes between the quotes.
    package var range: Range<Int>
    /// Whether they contain a backslash.
    package var hasEscapes = false
    /// Whether they contain half of a surrogate pair, so that the string has no text.
    package var hasLoneSurrogate = false
    /// The offset of the first control character, which JSON forbids; nil for none.
    package var control: Int?
}

extension JSONCursor {
    /// Reads a string.
    package mutating func string(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONString {
        skipBlanks(bytes)
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { throw error(.kind(.string)) }
        var index = offset + 1
        var string = JSONString(range: index..<index)
        while true {
            index = Self.endOfPlainBytes(in: bytes, from: index)
            guard index < bytes.count else { break }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                string.range = (offset + 1)..<index
                offset = index + 1
                return string
            }
            if byte >= 0x80 { hasNonASCII = true }
            if byte < 0x20 {
                guard limits.permitsControls else { throw JSONSyntaxError(.control, at: index) }
                string.control = string.control ?? index
            }
            index += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            string.hasEscapes = true
            try passEscape(bytes, at: &index, of: &string)
        }
        throw JSONSyntaxError(.unterminated, at: index)
    }

    private func passEscape(
        _ bytes: Span<UInt8>, at index: inout Int, of string: inout JSONString
    ) throws(JSONSyntaxError) {
        do throws(JSONSyntaxError) { _ = try JSONEscapes.scalar(in: bytes, at: &index) } catch {
            switch error.problem {
            case .trailSurrogate, .secondHalf, .secondEscape:
                guard limits.permitsLoneSurrogates else { throw error }
                string.hasLoneSurrogate = true
                // The four digits of the half; what follows may be an escape of its own.
                index = error.offset + 4
            default: throw error
            }
        }
    }

    /// Returns the offset of the first byte that is a quote, a backslash, a control character or not ASCII. If the
    /// words of eight bytes contain none, returns the offset of the remaining bytes, of which there are at most seven.
    @inline(__always)
    private static func endOfPlainBytes(in span: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index + 8 <= span.count {
            // One load needs one check of the bounds. The high bit of a byte in `found` is set if the byte is one of
            // these; it may also be set for a byte after the first such byte: H. S. Warren, *Hacker's Delight*, second
            // edition, 2012, 6-1.
            let load = span.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let word = UInt64(littleEndian: load)
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let found = ((quote &- ones) | (backslash &- ones) | (word &- ones &* 0x20) | word) & (ones << 7)
            guard found == 0 else { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        return index
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
}

/// The escapes in a JSON string.
package enum JSONEscapes {
    /// Returns the bytes of a string with its escapes replaced by their characters.
    ///
    /// - Parameter span: the bytes between the quotes of a string that a cursor has read.
    package static func removed(from span: Span<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(span.count)
        var index = 0
        while index < span.count {
            let byte = span[index]
            index += 1
            if byte == UInt8(ascii: "\\"), let scalar = try? scalar(in: span, at: &index) {
                plain.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// Reads an escape after its backslash.
    static func scalar(in span: Span<UInt8>, at index: inout Int) throws(JSONSyntaxError) -> Unicode.Scalar {
        guard index < span.count else { throw JSONSyntaxError(.unterminatedEscape, at: index) }
        let letter = span[index]
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw JSONSyntaxError(.escape, at: index - 1)
        }
        let start = index
        let first = try codeUnit(in: span, at: &index)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first) else { throw JSONSyntaxError(.trailSurrogate, at: start, byte: index) }
        guard index < span.count, span[index] == UInt8(ascii: "\\") else {
            throw JSONSyntaxError(.secondHalf, at: start, byte: index)
        }
        index += 1
        guard index < span.count, span[index] == UInt8(ascii: "u") else {
            throw JSONSyntaxError(.secondEscape, at: start, byte: index)
        }
        index += 1
        let second = try codeUnit(in: span, at: &index)
        guard UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw JSONSyntaxError(.secondHalf, at: start, byte: index) }
        return scalar
    }

    private static func codeUnit(in span: Span<UInt8>, at index: inout Int) throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard index < span.count, let digit = HexDigits.value(of: span[index]) else {
                throw JSONSyntaxError(.hexDigits, at: index)
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    /// Which control characters an escape of one letter replaces. The others have four hexadecimal digits.
    package enum Style: Sendable {
        /// None; the digits are upper-case.
        case digits
        /// None; the digits are lower-case.
        case lowerDigits
        /// Tab, line feed and carriage return.
        case lines
        /// Each that JSON has a letter for.
        case letters
    }

    /// Appends a text as a JSON string with its quotes, and escapes only what JSON requires.
    package static func append(_ text: String, to bytes: inout [UInt8], style: Style = .lines) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case ..<0x20: append(control: byte, to: &bytes, style)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func append(control byte: UInt8, to bytes: inout [UInt8], _ style: Style) {
        bytes.append(UInt8(ascii: "\\"))
        switch (byte, style) {
        case (0x0A, .lines), (0x0A, .letters): bytes.append(UInt8(ascii: "n"))
        case (0x0D, .lines), (0x0D, .letters): bytes.append(UInt8(ascii: "r"))
        case (0x09, .lines), (0x09, .letters): bytes.append(UInt8(ascii: "t"))
        case (0x08, .letters): bytes.append(UInt8(ascii: "b"))
        case (0x0C, .letters): bytes.append(UInt8(ascii: "f"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            HexDigits.append(byte, to: &bytes, uppercase: style == .digits)
        }
    }
}
