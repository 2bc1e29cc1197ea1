import IndoorVocabulary

/// A reader of JSON (RFC 8259) that visits the values in the order of the text.
package struct JSONVisitor: Sendable {
    /// The text isn't JSON, or a value has another type than the caller expects.
    package struct Failure: Error, Hashable, Sendable {
        /// The offset of the first byte that couldn't be read.
        package var offset: Int
        /// The expected value, such as `a number`.
        package var expected: String
    }

    /// The maximum depth of nested arrays and objects, so that a hostile text can't exhaust the stack.
    private static let deepest = 64

    private let bytes: [UInt8]
    /// The offset of the next byte.
    package private(set) var offset = 0
    private var depth = 0

    /// Creates a reader at the first byte.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Checks that nothing but white space follows.
    package mutating func finish() throws(Failure) {
        skipSpace()
        guard offset == bytes.count else { throw failure("the end") }
    }

    // MARK: Structure

    /// Reads an object: calls `member` with each name; it must read or skip the value.
    package mutating func object(
        _ member: (String, inout JSONVisitor) throws(Failure) -> Void
    ) throws(Failure) {
        try enter(UInt8(ascii: "{"), "an object")
        if !skip(UInt8(ascii: "}")) {
            repeat {
                let name = try string()
                guard skip(UInt8(ascii: ":")) else { throw failure("a colon") }
                try member(name, &self)
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "}")) else { throw failure("a comma or the end of the object") }
        }
        depth -= 1
    }

    /// Reads an array: calls `element` before each element; it must read or skip it.
    package mutating func array(_ element: (inout JSONVisitor) throws(Failure) -> Void) throws(Failure) {
        try enter(UInt8(ascii: "["), "an array")
        if !skip(UInt8(ascii: "]")) {
            repeat { try element(&self) } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "]")) else { throw failure("a comma or the end of the array") }
        }
        depth -= 1
    }

    private mutating func enter(_ bracket: UInt8, _ expected: String) throws(Failure) {
        guard skip(bracket) else { throw failure(expected) }
        depth += 1
        guard depth <= Self.deepest else { throw failure("at most \(Self.deepest) nested values") }
    }

    // MARK: Values

    /// Reads `null` if it is next. Returns whether it was.
    package mutating func null() -> Bool { skip(word: "null") }

    /// Reads a number as the nearest floating-point number.
    package mutating func double() throws(Failure) -> Double {
        let (start, text) = (offset, try numberText())
        guard let value = Double(text), value.isFinite else { throw failure("a number in range", at: start) }
        return value
    }

    /// Reads an integer.
    package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) throws(Failure)
        -> Integer
    {
        let (start, text) = (offset, try numberText())
        guard let value = Integer(text) else { throw failure("an integer in range", at: start) }
        return value
    }

    private mutating func numberText() throws(Failure) -> Substring {
        skipSpace()
        let start = offset
        while offset < bytes.count, Self.isOfNumber(bytes[offset]) { offset += 1 }
        let text = bytes[start..<offset]
        // The grammar of JSON: no plus sign, no leading zero, and a digit before and after the point.
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        let point = digits.firstIndex(of: UInt8(ascii: "."))
        guard let first = digits.first, (0x30...0x39).contains(first),
            first != 0x30 || digits.count == 1 || !(0x30...0x39).contains(digits[digits.startIndex + 1]),
            point.map({ $0 + 1 < digits.endIndex && (0x30...0x39).contains(digits[$0 + 1]) }) ?? true
        else { throw failure("a number", at: start) }
        return Substring(decoding: text, as: UTF8.self)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// Reads a string.
    package mutating func string() throws(Failure) -> String {
        skipSpace()
        let start = offset
        guard skip(UInt8(ascii: "\"")) else { throw failure("a string") }
        let content = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\""), bytes[offset] != UInt8(ascii: "\\"),
            bytes[offset] >= 0x20
        { offset += 1 }
        var text = Array(bytes[content..<offset])
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
            guard bytes[offset] >= 0x20 else { throw failure("a string without control characters") }
            if bytes[offset] == UInt8(ascii: "\\") {
                try appendEscape(to: &text)
            } else {
                text.append(bytes[offset])
                offset += 1
            }
        }
        guard skip(UInt8(ascii: "\"")) else { throw failure("the end of the string") }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw failure("a string in UTF-8", at: start)
        }
        return string
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(Failure) {
        let start = offset
        guard offset + 1 < bytes.count else { throw failure("an escape sequence") }
        let letter = bytes[offset + 1]
        offset += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try unit()
            if (0xD800...0xDBFF).contains(code) {
                guard offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
                    bytes[offset + 1] == UInt8(ascii: "u")
                else { throw failure("the second half of a surrogate pair", at: start) }
                offset += 2
                let low = try unit()
                guard (0xDC00...0xDFFF).contains(low) else {
                    throw failure("the second half of a surrogate pair", at: start)
                }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("a Unicode character", at: start) }
            text.append(contentsOf: Character(scalar).utf8)
        default: throw failure("an escape sequence", at: start)
        }
    }

    /// Reads four hexadecimal digits.
    private mutating func unit() throws(Failure) -> UInt32 {
        guard offset + 4 <= bytes.count, bytes[offset] != UInt8(ascii: "+"),
            let code = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits") }
        offset += 4
        return code
    }

    /// Reads any value.
    package mutating func value() throws(Failure) -> JSONValue {
        skipSpace()
        guard offset < bytes.count else { throw failure("a value") }
        switch bytes[offset] {
        case UInt8(ascii: "{"):
            var members: [String: JSONValue] = [:]
            try object { (name, reader) throws(Failure) in members[name] = try reader.value() }
            return .object(members)
        case UInt8(ascii: "["):
            var values: [JSONValue] = []
            try array { reader throws(Failure) in values.append(try reader.value()) }
            return .array(values)
        case UInt8(ascii: "\""): return .string(try string())
        default:
            if skip(word: "null") { return .null }
            if skip(word: "true") { return .bool(true) }
            if skip(word: "false") { return .bool(false) }
            return .number(try double())
        }
    }

    /// Reads a value without returning it.
    package mutating func skipValue() throws(Failure) { _ = try value() }

    // MARK: Bytes

    private mutating func skip(_ byte: UInt8) -> Bool {
        skipSpace()
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skip(word: StaticString) -> Bool {
        skipSpace()
        let count = word.utf8CodeUnitCount
        let isNext = word.withUTF8Buffer { bytes[offset...].prefix(count).elementsEqual($0) }
        if isNext { offset += count }
        return isNext
    }

    private mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return
            }
        }
    }

    private func failure(_ expected: String, at offset: Int? = nil) -> Failure {
        Failure(offset: offset ?? self.offset, expected: expected)
    }
}
