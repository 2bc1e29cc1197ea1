/// A pull reader of one JSON document: a cursor with the bytes of the document, of which it makes no copies.
///
/// A byte order mark at the beginning is skipped. The reader checks the UTF-8 of a string only when the caller reads the
/// string as text.
package struct JSONReader: Sendable {
    /// The document isn't JSON, or a value has another kind than the caller expects.
    package typealias Failure = JSONSyntaxError

    /// The bytes of the document.
    @usableFromInline let bytes: [UInt8]
    private var cursor: JSONCursor

    /// Creates a reader at the first byte.
    package init(_ bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        cursor = JSONCursor(limits: limits, at: ByteOrderMark.length(in: bytes))
    }

    /// The offset of the next byte.
    package var offset: Int { cursor.offset }

    /// Passes the cursor and the bytes to a closure.
    @inline(__always) @discardableResult
    private mutating func advance<Result>(
        _ body: (inout JSONCursor, Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A copy, because the reader can't change while a span of its bytes exists.
        var cursor = cursor
        defer { self.cursor = cursor }
        return try body(&cursor, bytes.span)
    }

    // MARK: - Structure

    /// Returns the kind of the next value without reading it.
    package mutating func kind() throws(Failure) -> JSONKind {
        try advance { (cursor, bytes) throws(Failure) in try cursor.kind(bytes) }
    }

    /// Enters an object; ``nextKey()`` reads its keys.
    package mutating func enterObject() throws(Failure) {
        try advance { (cursor, bytes) throws(Failure) in try cursor.enterObject(bytes) }
    }

    /// Enters an array; ``nextElement()`` goes to its elements.
    package mutating func enterArray() throws(Failure) {
        try advance { (cursor, bytes) throws(Failure) in try cursor.enterArray(bytes) }
    }

    /// Reads the next key of the object, up to its value; returns nil at the end of the object.
    package mutating func nextKey() throws(Failure) -> JSONString? {
        try advance { (cursor, bytes) throws(Failure) in try cursor.nextKey(bytes) }
    }

    /// Goes to the next element of the array; returns false at its end.
    package mutating func nextElement() throws(Failure) -> Bool {
        try advance { (cursor, bytes) throws(Failure) in try cursor.nextElement(bytes) }
    }

    /// Reads and checks a value of any kind.
    package mutating func skipValue() throws(Failure) {
        try advance { (cursor, bytes) throws(Failure) in try cursor.skipValue(bytes) }
    }

    /// Checks that only white space follows.
    package mutating func finish() throws(Failure) {
        try advance { (cursor, bytes) throws(Failure) in try cursor.finish(bytes) }
    }

    // MARK: - Single values

    /// Reads `null`.
    package mutating func null() throws(Failure) {
        try advance { (cursor, bytes) throws(Failure) in try cursor.null(bytes) }
    }

    /// Reads `true` or `false`.
    package mutating func bool() throws(Failure) -> Bool {
        try advance { (cursor, bytes) throws(Failure) in try cursor.bool(bytes) }
    }

    /// Reads a number as the nearest double.
    ///
    /// - Throws: `JSONSyntaxError` if the number exceeds the range of a double.
    package mutating func number() throws(Failure) -> Double {
        try advance { (cursor, bytes) throws(Failure) in try cursor.number(bytes) }
    }

    /// Reads a number as the nearest double; infinity if it exceeds the range of a double.
    package mutating func anyNumber() throws(Failure) -> Double {
        try advance { (cursor, bytes) throws(Failure) in try cursor.decimal(bytes).double(bytes) }
    }

    /// Reads an integer.
    ///
    /// - Throws: `JSONSyntaxError` if the number has a fraction or an exponent, or exceeds the range of `Int64`.
    package mutating func integer() throws(Failure) -> Int64 {
        try advance { (cursor, bytes) throws(Failure) in try cursor.integer(bytes) }
    }

    // MARK: - Strings

    /// Reads a string.
    package mutating func string() throws(Failure) -> JSONString {
        try advance { (cursor, bytes) throws(Failure) in try cursor.string(bytes) }
    }

    /// Reads a string as text; returns nil if it contains half of a surrogate pair.
    package mutating func representableText() throws(Failure) -> String? {
        try representableText(of: try string())
    }

    private func representableText(of string: JSONString) throws(Failure) -> String? {
        guard string.hasLoneSurrogate else { return try text(of: string) }
        guard (try? UTF8Span(validating: bytes.span.extracting(string.range))) != nil else {
            throw Failure(.utf8, at: string.range.lowerBound)
        }
        return nil
    }

    /// Reads the next key of the object as text, up to its value; returns nil at the end of the object.
    package mutating func nextName() throws(Failure) -> String? {
        guard let key = try advance({ (cursor, bytes) throws(Failure) in try cursor.nextKeyAlone(bytes) }) else {
            return nil
        }
        guard let name = try representableText(of: key) else { throw Failure(.key, at: key.range.lowerBound - 1) }
        try advance { (cursor, bytes) throws(Failure) in try cursor.colon(bytes) }
        return name
    }

    /// Returns whether a string is equal to a word of ASCII.
    @inlinable @inline(__always)
    package func matches(_ string: JSONString, _ word: StaticString) -> Bool {
        // Decoders compare each key with many words; most differ in length.
        guard string.hasEscapes || string.range.count == word.utf8CodeUnitCount else { return false }
        return withBytes(of: string) { $0.equals(word) }
    }

    /// Returns the text of a string.
    ///
    /// - Throws: `JSONSyntaxError` if it has a control character, half of a surrogate pair, or isn't UTF-8.
    package func text(of string: JSONString) throws(Failure) -> String {
        if let control = string.control { throw Failure(.control, at: control) }
        guard !string.hasLoneSurrogate else { throw Failure(.trailSurrogate, at: string.range.lowerBound) }
        let text: String? = withBytes(of: string) { bytes in
            guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
            return String(copying: utf8)
        }
        guard let text else { throw Failure(.utf8, at: string.range.lowerBound) }
        return text
    }

    /// Passes the bytes of a string to a closure, with the escapes replaced by their characters.
    @inlinable
    package func withBytes<Result>(of string: JSONString, _ body: (Span<UInt8>) -> Result) -> Result {
        guard string.hasEscapes else { return body(bytes.span.extracting(string.range)) }
        let plain = unescaped(string)
        return body(plain.span)
    }

    @usableFromInline
    func unescaped(_ string: JSONString) -> [UInt8] {
        JSONEscapes.removed(from: bytes.span.extracting(string.range))
    }
}

extension Span<UInt8> {
    /// Returns whether the bytes are equal to a word of ASCII.
    @inlinable @inline(__always)
    package func equals(_ word: StaticString) -> Bool { count == word.utf8CodeUnitCount && starts(with: word) }

    /// Returns whether the bytes begin with a word of ASCII.
    @inlinable @inline(__always)
    package func starts(with word: StaticString) -> Bool {
        guard count >= word.utf8CodeUnitCount else { return false }
        let start = word.utf8Start
        for index in 0..<word.utf8CodeUnitCount where self[index] != start[index] { return false }
        return true
    }
}
