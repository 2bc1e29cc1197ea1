/// A scanner that reads the members of one JSON object in a line of bytes, without allocating.
///
/// The scanner accepts exactly what RFC 8259 allows: no comments, no trailing commas, no lone surrogates. It checks and
/// skips nested values without recursion, so no input can exhaust the stack. Each call receives the line as a
/// parameter, because a span cannot be stored. It must be the same line each time, and at most 2 GiB long.
package struct JSONObjectScanner {
    /// The maximum depth of arrays and objects nested in the line's object.
    package static let maximumDepth = 64

    private var offset = 0
    private var isFirst = true
    private(set) var hasNonASCII = false

    /// Creates a scanner, which can be used for many lines.
    package init() {}

    /// Begins to read the object.
    package mutating func begin(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        offset = 0
        isFirst = true
        hasNonASCII = false
        skipWhitespace(line)
        try expect(UInt8(ascii: "{"), line, "expected '{'")
    }

    /// Returns the name and value of the next member; nil after the last one, once the rest of the line is checked too.
    package mutating func next(_ line: Span<UInt8>) throws(JSONSyntaxError) -> (name: JSONToken, value: JSONToken)? {
        skipWhitespace(line)
        if byte(line) == UInt8(ascii: "}") {
            offset += 1
            try finish(line)
            return nil
        }
        if !isFirst {
            try expect(UInt8(ascii: ","), line, "expected ',' or '}'")
            skipWhitespace(line)
        }
        isFirst = false
        let name = try scanString(line)
        try scanColon(line)
        return (name, try scanValue(line))
    }

    /// Returns the next element of an array that was scanned before; nil after the last one.
    ///
    /// - Parameter offset: the offset at which to continue; initially the array's start.
    static func element(after offset: inout Int, of array: JSONToken, in line: Span<UInt8>) -> JSONToken? {
        var scanner = JSONObjectScanner()
        scanner.offset = offset + 1
        scanner.skipWhitespace(line)
        guard scanner.offset < Int(array.end) - 1, let token = try? scanner.scanValue(line) else { return nil }
        scanner.skipWhitespace(line)
        offset = scanner.offset
        return token
    }

    // MARK: - Values

    private mutating func scanValue(_ line: Span<UInt8>) throws(JSONSyntaxError) -> JSONToken {
        let start = offset
        let kind: JSONToken.Kind
        switch byte(line) {
        case UInt8(ascii: "\""): return try scanString(line)
        case UInt8(ascii: "["):
            kind = .array
            try skipContainer(line)
        case UInt8(ascii: "{"):
            kind = .object
            try skipContainer(line)
        case UInt8(ascii: "t"):
            kind = .bool
            try skipWord("true", line)
        case UInt8(ascii: "f"):
            kind = .bool
            try skipWord("false", line)
        case UInt8(ascii: "n"):
            kind = .null
            try skipWord("null", line)
        default:
            kind = .number
            try skipNumber(line)
        }
        return JSONToken(kind: kind, start: Int32(start), end: Int32(offset), hasEscapes: false)
    }

    /// Skips an array or an object. One bit for each nested container records whether it is an object.
    private mutating func skipContainer(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        var isObject: UInt64 = 0
        var depth = 0
        repeat {
            let opening = byte(line)
            if opening == UInt8(ascii: "[") || opening == UInt8(ascii: "{") {
                guard depth < Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
                offset += 1
                depth += 1
                isObject = isObject << 1 | (opening == UInt8(ascii: "{") ? 1 : 0)
                skipWhitespace(line)
                let closing = isObject & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")
                if byte(line) != closing {
                    if isObject & 1 == 1 { try skipName(line) }
                    continue
                }
            } else {
                _ = try scanValue(line)
            }
            try closeContainers(line, isObject: &isObject, depth: &depth)
        } while depth > 0
    }

    /// Closes the containers that end after a value, and stops at the next value.
    private mutating func closeContainers(
        _ line: Span<UInt8>, isObject: inout UInt64, depth: inout Int
    ) throws(JSONSyntaxError) {
        while depth > 0 {
            skipWhitespace(line)
            let closing = isObject & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")
            switch byte(line) {
            case closing:
                offset += 1
                depth -= 1
                isObject >>= 1
            case UInt8(ascii: ","):
                offset += 1
                skipWhitespace(line)
                if isObject & 1 == 1 { try skipName(line) }
                return
            default:
                throw error("expected ',' or '\(Character(UnicodeScalar(closing)))'")
            }
        }
    }

    private mutating func skipName(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        _ = try scanString(line)
        try scanColon(line)
    }

    private mutating func scanColon(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        skipWhitespace(line)
        try expect(UInt8(ascii: ":"), line, "expected ':'")
        skipWhitespace(line)
    }

    private mutating func skipWord(_ word: StaticString, _ line: Span<UInt8>) throws(JSONSyntaxError) {
        for index in 0..<word.utf8CodeUnitCount {
            try expect(word.utf8Start[index], line, "expected a value")
        }
    }

    private mutating func skipNumber(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        if byte(line) == UInt8(ascii: "-") { offset += 1 }
        if byte(line) == UInt8(ascii: "0") {
            offset += 1
        } else {
            try skipDigits(line, "expected a value")
        }
        if byte(line) == UInt8(ascii: ".") {
            offset += 1
            try skipDigits(line, "expected a digit after the decimal point")
        }
        if let letter = byte(line), letter | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if let sign = byte(line), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { offset += 1 }
            try skipDigits(line, "expected a digit in the exponent")
        }
    }

    private mutating func skipDigits(_ line: Span<UInt8>, _ reason: String) throws(JSONSyntaxError) {
        let start = offset
        while let digit = byte(line), digit &- UInt8(ascii: "0") <= 9 { offset += 1 }
        guard offset > start else { throw error(reason) }
    }

    // MARK: - Strings

    private mutating func scanString(_ line: Span<UInt8>) throws(JSONSyntaxError) -> JSONToken {
        try expect(UInt8(ascii: "\""), line, "expected '\"'")
        let start = offset
        var hasEscapes = false
        while let character = byte(line) {
            switch character {
            case UInt8(ascii: "\""):
                offset += 1
                return JSONToken(
                    kind: .string, start: Int32(start), end: Int32(offset - 1), hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape(line)
            case 0..<0x20:
                throw error("control character in a string")
            default:
                if character >= 0x80 { hasNonASCII = true }
                offset += 1
            }
        }
        throw error("unterminated string")
    }

    private mutating func skipEscape(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        offset += 1
        switch byte(line) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 1
        case UInt8(ascii: "u"):
            let unit = try scanCodeUnit(line)
            guard UTF16.isLeadSurrogate(unit) else {
                if UTF16.isTrailSurrogate(unit) { throw error("unpaired surrogate") }
                return
            }
            try expect(UInt8(ascii: "\\"), line, "expected the second half of a surrogate pair")
            guard UTF16.isTrailSurrogate(try scanCodeUnit(line)) else {
                throw error("expected the second half of a surrogate pair")
            }
        default:
            throw error("unknown escape")
        }
    }

    /// Reads `uXXXX`.
    private mutating func scanCodeUnit(_ line: Span<UInt8>) throws(JSONSyntaxError) -> UInt16 {
        try expect(UInt8(ascii: "u"), line, "expected 'u' and four hexadecimal digits")
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = byte(line).flatMap(HexDigits.value(of:)) else {
                throw error("expected four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    // MARK: - Bytes

    private func byte(_ line: Span<UInt8>) -> UInt8? { offset < line.count ? line[offset] : nil }

    private mutating func skipWhitespace(_ line: Span<UInt8>) {
        while let space = byte(line), space == 0x20 || space == 0x09 || space == 0x0D || space == 0x0A { offset += 1 }
    }

    private mutating func expect(_ wanted: UInt8, _ line: Span<UInt8>, _ reason: String) throws(JSONSyntaxError) {
        guard byte(line) == wanted else { throw error(reason) }
        offset += 1
    }

    private mutating func finish(_ line: Span<UInt8>) throws(JSONSyntaxError) {
        skipWhitespace(line)
        guard offset == line.count else { throw error("unexpected text after the object") }
        if hasNonASCII {
            do { _ = try UTF8Span(validating: line) } catch {
                throw JSONSyntaxError(offset: error.byteOffsets.lowerBound, reason: "invalid UTF-8")
            }
        }
    }

    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: offset, reason: reason) }
}
