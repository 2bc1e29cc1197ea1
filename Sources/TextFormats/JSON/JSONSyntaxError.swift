/// A place in a document that isn't JSON, exceeds a limit, or has another content than the caller expects.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    /// What is wrong at the place.
    package enum Problem: Hashable, Sendable {
        /// No value begins here.
        case value
        /// A value of another kind begins here, or a word such as `true` is misspelled.
        case kind(JSONKind)
        case key
        case colon
        /// The container neither ends nor continues; `isFresh` if it has just begun.
        case separator(isObject: Bool, isFresh: Bool)
        case wholeDigits, fractionDigits, exponentDigits
        /// Digits follow a zero, in an array or elsewhere.
        case leadingZero(inArray: Bool)
        case numberRange, integerRange
        case unterminated
        /// The document ends after a backslash.
        case unterminatedEscape
        case escape
        case hexDigits
        /// The second half of a pair without the first one.
        case trailSurrogate
        /// The first half of a pair without an escape after it, without the letter u in that escape, or without the
        /// second half in that escape.
        case secondHalf, secondEscape
        case control
        case utf8
        case depth(Int)
        case values(Int)
        case end
        /// The caller's own expectation.
        case other(String)
    }

    /// The offset of the first byte of the invalid part; the number of bytes if the document ends too early.
    package var offset: Int
    /// The offset of the invalid byte itself, which may be inside the part.
    package var byte: Int
    /// What is wrong there.
    package var problem: Problem

    /// Creates an error.
    ///
    /// - Parameter byte: the offset of the invalid byte; nil if the part begins with it.
    package init(_ problem: Problem, at offset: Int, byte: Int? = nil) {
        self.offset = offset
        self.byte = byte ?? offset
        self.problem = problem
    }

    /// Creates an error with the caller's words for what it expects.
    package init(offset: Int, expected: String) { self.init(.other(expected), at: offset) }

    /// What the reader expects at the offset, to follow the word "expected".
    package var expected: String {
        switch problem {
        case .value: "a value"
        case .kind(.object): "an object"
        case .kind(.array): "an array"
        case .kind(.string): "a string"
        case .kind(.null): "null"
        case .kind(.bool): "true or false"
        case .kind(.number), .wholeDigits: "a number"
        case .key: "a key"
        case .colon: "':'"
        case .separator(let isObject, _): isObject ? "',' or '}'" : "',' or ']'"
        case .fractionDigits: "a digit after the decimal point"
        case .exponentDigits: "a digit in the exponent"
        case .leadingZero: "a number without leading zeros"
        case .numberRange: "a number within ±1.8e308"
        case .integerRange: "an integer of 64 bits"
        case .unterminated, .unterminatedEscape: "the end of the string"
        case .escape: "an escape such as \\n"
        case .hexDigits: "four hexadecimal digits"
        case .trailSurrogate, .secondHalf, .secondEscape: "a pair of surrogates"
        case .control: "no control character in a string"
        case .utf8: "UTF-8"
        case .depth(let limit): "at most \(limit) nested arrays and objects"
        case .values(let limit): "at most \(limit) values and keys"
        case .end: "the end of the document"
        case .other(let expected): expected
        }
    }
}

/// The kind of a JSON value.
package enum JSONKind: UInt8, Hashable, Sendable {
    case null, bool, number, string, array, object
}

/// What a reader of JSON accepts.
package struct JSONLimits: Hashable, Sendable {
    /// The largest depth that any reader can permit: the cursor has one bit for each open container that it skips.
    package static let maximumDepth = 128

    /// The maximum depth of nested arrays and objects.
    package var depth: Int
    /// The maximum number of values and keys.
    package var values: Int
    /// Whether a string that nobody reads as text may have control characters, which some gateways write in names.
    package var permitsControls: Bool
    /// Whether a string may have half of a surrogate pair. Such a string has no text.
    package var permitsLoneSurrogates: Bool

    /// Creates limits.
    package init(
        depth: Int, values: Int = .max, permitsControls: Bool = false, permitsLoneSurrogates: Bool = false
    ) {
        self.depth = min(depth, Self.maximumDepth)
        self.values = values
        self.permitsControls = permitsControls
        self.permitsLoneSurrogates = permitsLoneSurrogates
    }
}
