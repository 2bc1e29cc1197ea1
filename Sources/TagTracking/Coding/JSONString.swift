/// The place of a string in a JSON document.
package struct JSONString: Hashable, Sendable {
    /// The bytes between the quotes.
    package var range: Range<Int>
    /// Whether they contain a backslash.
    package var hasEscapes: Bool
    /// The offset of the first control character, which JSON forbids but some gateways write in names; nil for none.
    package var control: Int?
}

extension JSONReader {
    /// Reads a string.
    package mutating func string() throws(Failure) -> JSONString {
        skipBlanks()
        let string = try Self.string(in: bytes.span, at: offset)
        offset = string.range.upperBound + 1
        return string
    }

    private static func string(in span: Span<UInt8>, at start: Int) throws(Failure) -> JSONString {
        guard start < span.count, span[start] == UInt8(ascii: "\"") else {
            throw Failure(offset: start, expected: "a string")
        }
        var index = start + 1
        var hasEscapes = false
        var control: Int?
        while true {
            index = endOfPlainBytes(in: span, from: index)
            guard index < span.count else { break }
            let byte = span[index]
            if byte == UInt8(ascii: "\"") {
                return JSONString(range: (start + 1)..<index, hasEscapes: hasEscapes, control: control)
            }
            if byte < 0x20 { control = control ?? index }
            index += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            hasEscapes = true
            _ = try escape(in: span, at: &index)
        }
        throw Failure(offset: index, expected: "the end of the string")
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

    /// Returns whether a string is equal to a word of ASCII.
    @inline(__always)
    package func matches(_ string: JSONString, _ word: StaticString) -> Bool {
        // Decoders compare each key with many words; most differ in length.
        guard string.hasEscapes || string.range.count == word.utf8CodeUnitCount else { return false }
        return withBytes(of: string) { $0.equals(word) }
    }

    /// Returns the text of a string.
    ///
    /// - Throws: ``Failure`` if it has a control character or isn't UTF-8.
    package func text(of string: JSONString) throws(Failure) -> String {
        if let control = string.control {
            throw Failure(offset: control, expected: "no control character in a string")
        }
        let text: String? = withBytes(of: string) { bytes in
            guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
            return String(copying: utf8)
        }
        guard let text else { throw Failure(offset: string.range.lowerBound, expected: "UTF-8") }
        return text
    }

    /// Passes the bytes of a string to a closure, with the escapes replaced by their characters.
    package func withBytes<Result>(of string: JSONString, _ body: (Span<UInt8>) -> Result) -> Result {
        guard string.hasEscapes else { return body(bytes.span.extracting(string.range)) }
        let plain = Self.unescaped(bytes.span.extracting(string.range))
        return body(plain.span)
    }

    /// Returns the bytes of a string with its valid escapes replaced by their characters.
    private static func unescaped(_ span: Span<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(span.count)
        var index = 0
        while index < span.count {
            let byte = span[index]
            index += 1
            if byte == UInt8(ascii: "\\"), let scalar = try? escape(in: span, at: &index) {
                plain.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// Reads an escape after its backslash.
    private static func escape(in span: Span<UInt8>, at index: inout Int) throws(Failure) -> Unicode.Scalar {
        guard index < span.count else { throw Failure(offset: index, expected: "the end of the string") }
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
        default: throw Failure(offset: index - 1, expected: "an escape such as \\n")
        }
        let start = index
        let first = try codeUnit(in: span, at: &index)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), index + 1 < span.count, span[index] == UInt8(ascii: "\\"),
            span[index + 1] == UInt8(ascii: "u")
        else { throw Failure(offset: start, expected: "a pair of surrogates") }
        index += 2
        let second = try codeUnit(in: span, at: &index)
        guard UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw Failure(offset: start, expected: "a pair of surrogates") }
        return scalar
    }

    private static func codeUnit(in span: Span<UInt8>, at index: inout Int) throws(Failure) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard index < span.count, let digit = HexText.value(of: span[index]) else {
                throw Failure(offset: index, expected: "four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}

extension Span<UInt8> {
    /// Returns whether the bytes are equal to a word of ASCII.
    @inline(__always)
    func equals(_ word: StaticString) -> Bool { count == word.utf8CodeUnitCount && starts(with: word) }

    /// Returns whether the bytes begin with a word of ASCII.
    @inline(__always)
    func starts(with word: StaticString) -> Bool {
        guard count >= word.utf8CodeUnitCount else { return false }
        let start = word.utf8Start
        for index in 0..<word.utf8CodeUnitCount where self[index] != start[index] { return false }
        return true
    }
}
