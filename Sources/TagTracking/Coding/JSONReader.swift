/// A pull reader of one JSON document in bytes. It makes no copies, and the caller needs no recursion.
///
/// The caller reads the parts of the document in order: it enters an object, reads each key and either reads or skips
/// its value. The reader accepts what RFC 8259 allows: no comments, no trailing commas, no unpaired surrogates. It
/// checks the UTF-8 of a string only when the caller reads the string as text.
package struct JSONReader: Sendable {
    /// The maximum depth of nested arrays and objects.
    package static let maximumDepth = 32

    /// The kind of a value.
    package enum Kind: Hashable, Sendable {
        case null, bool, number, string, array, object
    }

    /// The document isn't JSON, or a value has another kind than the caller expects.
    package struct Failure: Error, Hashable, Sendable {
        /// The offset of the first invalid byte; the number of bytes if the document ends too early.
        package var offset: Int
        /// The syntax or the kind of value that is expected there.
        package var expected: String

        /// Creates a failure.
        package init(offset: Int, expected: String) {
            self.offset = offset
            self.expected = expected
        }
    }

    let bytes: [UInt8]
    /// The offset of the next byte.
    package internal(set) var offset = 0
    private var depth = 0
    /// Whether the reader has entered a container and not read a part of it yet.
    private var isFresh = false

    /// Creates a reader at the first byte.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: - Structure

    /// Returns the kind of the next value without reading it.
    package mutating func kind() throws(Failure) -> Kind {
        skipBlanks()
        guard offset < bytes.count else { throw failure("a value") }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw failure("a value")
        }
    }

    /// Enters an object; ``nextKey()`` reads its keys.
    package mutating func enterObject() throws(Failure) { try enter(UInt8(ascii: "{"), "an object") }

    /// Enters an array; ``nextElement()`` goes to its elements.
    package mutating func enterArray() throws(Failure) { try enter(UInt8(ascii: "["), "an array") }

    /// Reads the next key of the object, up to its value; returns nil at the end of the object.
    package mutating func nextKey() throws(Failure) -> JSONString? {
        guard try continueContainer(closing: UInt8(ascii: "}"), "',' or '}'") else { return nil }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { throw failure("a key") }
        let key = try string()
        skipBlanks()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ":") else { throw failure("':'") }
        offset += 1
        return key
    }

    /// Goes to the next element of the array; returns false at its end.
    package mutating func nextElement() throws(Failure) -> Bool {
        try continueContainer(closing: UInt8(ascii: "]"), "',' or ']'")
    }

    /// Reads and checks a value of any kind.
    package mutating func skipValue() throws(Failure) {
        switch try kind() {
        case .null: try null()
        case .bool: _ = try bool()
        case .number: _ = try decimal()
        case .string: _ = try string()
        case .array:
            try enterArray()
            while try nextElement() { try skipValue() }
        case .object:
            try enterObject()
            while try nextKey() != nil { try skipValue() }
        }
    }

    /// Checks that only white space follows.
    package mutating func finish() throws(Failure) {
        skipBlanks()
        guard offset == bytes.count else { throw failure("the end of the document") }
    }

    private mutating func enter(_ opening: UInt8, _ expected: String) throws(Failure) {
        skipBlanks()
        guard offset < bytes.count, bytes[offset] == opening else { throw failure(expected) }
        guard depth < Self.maximumDepth else { throw failure("at most \(Self.maximumDepth) nested arrays and objects") }
        offset += 1
        depth += 1
        isFresh = true
    }

    private mutating func continueContainer(closing: UInt8, _ expected: String) throws(Failure) -> Bool {
        skipBlanks()
        guard offset < bytes.count else { throw failure(expected) }
        let wasFresh = isFresh
        isFresh = false
        if bytes[offset] == closing {
            offset += 1
            depth -= 1
            return false
        }
        if !wasFresh {
            guard bytes[offset] == UInt8(ascii: ",") else { throw failure(expected) }
            offset += 1
            skipBlanks()
        }
        return true
    }

    // MARK: - Words

    /// Reads `null`.
    package mutating func null() throws(Failure) {
        guard word("null") else { throw failure("null") }
    }

    /// Reads `true` or `false`.
    package mutating func bool() throws(Failure) -> Bool {
        if word("true") { return true }
        guard word("false") else { throw failure("true or false") }
        return false
    }

    private mutating func word(_ word: StaticString) -> Bool {
        skipBlanks()
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes.span.extracting(offset..<end).equals(word) else { return false }
        offset = end
        return true
    }

    // MARK: - Bytes

    @inline(__always)
    mutating func skipBlanks() {
        // Return early, because most gateways write no white space.
        guard offset < bytes.count, bytes[offset] <= 0x20 else { return }
        offset = Self.endOfBlanks(in: bytes.span, from: offset)
    }

    // A static function, because the reader can't change while a span of its bytes exists.
    private static func endOfBlanks(in span: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < span.count,
            span[index] == 0x20 || span[index] == 0x0A || span[index] == 0x0D || span[index] == 0x09
        {
            index += 1
        }
        return index
    }

    func failure(_ expected: String) -> Failure { Failure(offset: offset, expected: expected) }
}
