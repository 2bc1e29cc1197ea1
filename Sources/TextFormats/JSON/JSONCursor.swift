/// A place in a JSON document, from which the caller reads the parts of the document in their order.
///
///     try cursor.enterArray(bytes)
///     while try cursor.nextElement(bytes) { numbers.append(try cursor.number(bytes)) }
///
/// The cursor allocates nothing. Each call receives the bytes of the document as a parameter, because a span can't be
/// stored; they must be the same each time. The caller enters an object, reads each key and either reads or skips its
/// value. The cursor accepts what RFC 8259 allows: no comments, no trailing commas, no leading zeros, and no unpaired
/// surrogates unless ``JSONLimits`` permit them. It doesn't check the UTF-8 of strings.
package struct JSONCursor: Hashable, Sendable {
    /// The offset of the next byte.
    package internal(set) var offset: Int
    /// Whether a string that the cursor has passed has bytes that aren't ASCII.
    package internal(set) var hasNonASCII = false
    let limits: JSONLimits
    private var depth = 0
    /// Whether the cursor has entered a container and not read a part of it yet.
    private var isFresh = false
    private var values = 1

    /// Creates a cursor.
    ///
    /// - Parameter offset: the offset of the first byte of the document.
    package init(limits: JSONLimits, at offset: Int = 0) {
        self.limits = limits
        self.offset = offset
    }

    // MARK: - Structure

    /// Returns the kind of the next value without reading it.
    package mutating func kind(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONKind {
        skipBlanks(bytes)
        guard offset < bytes.count else { throw error(.value) }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw error(.value)
        }
    }

    /// Enters an object; ``nextKey(_:)`` reads its keys.
    package mutating func enterObject(_ bytes: Span<UInt8>) throws(JSONSyntaxError) {
        try enter(bytes, UInt8(ascii: "{"), .object)
    }

    /// Enters an array; ``nextElement(_:)`` goes to its elements.
    package mutating func enterArray(_ bytes: Span<UInt8>) throws(JSONSyntaxError) {
        try enter(bytes, UInt8(ascii: "["), .array)
    }

    private mutating func enter(
        _ bytes: Span<UInt8>, _ opening: UInt8, _ kind: JSONKind
    ) throws(JSONSyntaxError) {
        skipBlanks(bytes)
        guard offset < bytes.count, bytes[offset] == opening else { throw error(.kind(kind)) }
        guard depth < limits.depth else { throw error(.depth(limits.depth)) }
        offset += 1
        depth += 1
        isFresh = true
    }

    /// Reads the next key of the object, up to its value; returns nil at the end of the object.
    package mutating func nextKey(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONString? {
        guard let key = try nextKeyAlone(bytes) else { return nil }
        try colon(bytes)
        return key
    }

    /// Reads the next key of the object, for a caller that checks its text before the colon; returns nil at the end of
    /// the object.
    mutating func nextKeyAlone(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONString? {
        guard try continueContainer(bytes, isObject: true) else { return nil }
        return try key(bytes)
    }

    /// Reads the colon after a key.
    mutating func colon(_ bytes: Span<UInt8>) throws(JSONSyntaxError) {
        skipBlanks(bytes)
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ":") else { throw error(.colon) }
        offset += 1
    }

    /// Goes to the next element of the array; returns false at its end.
    package mutating func nextElement(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> Bool {
        try continueContainer(bytes, isObject: false)
    }

    /// Checks that only white space follows.
    package mutating func finish(_ bytes: Span<UInt8>) throws(JSONSyntaxError) {
        skipBlanks(bytes)
        guard offset == bytes.count else { throw error(.end) }
    }

    /// Checks that only white space follows, and that the whole document is UTF-8.
    package mutating func finishText(_ bytes: Span<UInt8>) throws(JSONSyntaxError) {
        try finish(bytes)
        guard hasNonASCII else { return }
        do { _ = try UTF8Span(validating: bytes) } catch {
            throw JSONSyntaxError(.utf8, at: error.byteOffsets.lowerBound)
        }
    }

    private mutating func key(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONString {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { throw error(.key) }
        return try string(bytes)
    }

    private mutating func continueContainer(
        _ bytes: Span<UInt8>, isObject: Bool
    ) throws(JSONSyntaxError) -> Bool {
        skipBlanks(bytes)
        let wasFresh = isFresh
        guard offset < bytes.count else { throw error(.separator(isObject: isObject, isFresh: wasFresh)) }
        isFresh = false
        if bytes[offset] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            offset += 1
            depth -= 1
            return false
        }
        if !wasFresh {
            guard bytes[offset] == UInt8(ascii: ",") else {
                throw error(.separator(isObject: isObject, isFresh: false))
            }
            offset += 1
            skipBlanks(bytes)
        }
        values += isObject ? 2 : 1
        guard values <= limits.values else { throw error(.values(limits.values)) }
        return true
    }

    // MARK: - Any value

    /// Reads and checks a value of any kind; returns its place.
    ///
    /// It uses no recursion, so no document can exhaust the stack.
    @discardableResult
    package mutating func skipValue(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> JSONToken {
        let kind = try kind(bytes)
        let start = offset
        if kind == .string {
            let string = try string(bytes)
            return JSONToken(kind: .string, range: string.range, hasEscapes: string.hasEscapes)
        }
        if kind == .array || kind == .object {
            try skipContainer(bytes, kind)
        } else {
            try skipScalar(bytes, kind)
        }
        return JSONToken(kind: kind, range: start..<offset, hasEscapes: false)
    }

    private mutating func skipScalar(_ bytes: Span<UInt8>, _ kind: JSONKind) throws(JSONSyntaxError) {
        switch kind {
        case .null: try null(bytes)
        case .bool: _ = try bool(bytes)
        case .number: _ = try decimal(bytes)
        default: _ = try string(bytes)
        }
    }

    private mutating func skipContainer(_ bytes: Span<UInt8>, _ kind: JSONKind) throws(JSONSyntaxError) {
        // One bit for each open container, which is set for an object.
        var objects: UInt128 = 0
        var open = 0
        var kind = kind
        repeat {
            if kind == .array || kind == .object {
                try enter(bytes, kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["), kind)
                objects = objects << 1 | (kind == .object ? 1 : 0)
                open += 1
            } else {
                do throws(JSONSyntaxError) { try skipScalar(bytes, kind) } catch {
                    guard case .leadingZero = error.problem else { throw error }
                    throw JSONSyntaxError(
                        .leadingZero(inArray: objects & 1 == 0), at: error.offset, byte: error.byte)
                }
            }
            while open > 0, try !continueContainer(bytes, isObject: objects & 1 == 1) {
                objects >>= 1
                open -= 1
            }
            guard open > 0 else { return }
            if objects & 1 == 1 {
                _ = try key(bytes)
                try colon(bytes)
            }
            kind = try self.kind(bytes)
        } while true
    }

    // MARK: - Words

    /// Reads `null`.
    package mutating func null(_ bytes: Span<UInt8>) throws(JSONSyntaxError) { try word(bytes, "null", .null) }

    /// Reads `true` or `false`.
    package mutating func bool(_ bytes: Span<UInt8>) throws(JSONSyntaxError) -> Bool {
        skipBlanks(bytes)
        let isTrue = offset < bytes.count && bytes[offset] == UInt8(ascii: "t")
        try word(bytes, isTrue ? "true" : "false", .bool)
        return isTrue
    }

    private mutating func word(
        _ bytes: Span<UInt8>, _ word: StaticString, _ kind: JSONKind
    ) throws(JSONSyntaxError) {
        skipBlanks(bytes)
        for index in 0..<word.utf8CodeUnitCount {
            guard offset + index < bytes.count, bytes[offset + index] == word.utf8Start[index] else {
                throw JSONSyntaxError(.kind(kind), at: offset, byte: offset + index)
            }
        }
        offset += word.utf8CodeUnitCount
    }

    // MARK: - Bytes

    @inline(__always)
    mutating func skipBlanks(_ bytes: Span<UInt8>) {
        // Most programs write no white space.
        while offset < bytes.count, bytes[offset] <= 0x20 {
            let byte = bytes[offset]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            offset += 1
        }
    }

    func error(_ problem: JSONSyntaxError.Problem) -> JSONSyntaxError { JSONSyntaxError(problem, at: offset) }
}

/// The place of a value in a JSON document.
package struct JSONToken: Hashable, Sendable {
    /// The kind of the value.
    package var kind: JSONKind
    /// The offsets of its bytes; for a string, without the quotes.
    package var range: Range<Int>
    /// Whether the text of a string contains a backslash.
    package var hasEscapes: Bool
}
