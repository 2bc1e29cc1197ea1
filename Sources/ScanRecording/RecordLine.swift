import TextFormats

/// A line of a recording as JSON: what it may contain, and how its errors are described.
enum RecordLine {
    /// The maximum depth of arrays and objects nested in the line's object.
    static let maximumDepth = 64
    /// The limits of a line.
    static let limits = JSONLimits(depth: maximumDepth + 1)

    /// Returns the problem of a line that isn't a JSON object.
    static func problem(_ error: JSONSyntaxError) -> RecordingError.Problem {
        .malformedJSON(column: error.byte + 1, reason: reason(error))
    }

    /// Returns the error at the invalid byte in words.
    static func reason(_ error: JSONSyntaxError) -> String {
        switch error.problem {
        case .kind(.object): "expected '{'"
        case .value, .kind, .wholeDigits, .separator(isObject: false, isFresh: true): "expected a value"
        case .key, .separator(isObject: true, isFresh: true): "expected '\"'"
        case .colon: "expected ':'"
        case .separator(isObject: true, isFresh: false), .leadingZero(inArray: false): "expected ',' or '}'"
        case .separator(isObject: false, isFresh: false), .leadingZero(inArray: true): "expected ',' or ']'"
        case .unterminated: "unterminated string"
        case .unterminatedEscape, .escape: "unknown escape"
        case .trailSurrogate: "unpaired surrogate"
        case .secondHalf: "expected the second half of a surrogate pair"
        case .secondEscape: "expected 'u' and four hexadecimal digits"
        case .control: "control character in a string"
        case .utf8: "invalid UTF-8"
        case .depth(let limit): "nested deeper than \(limit - 1)"
        case .end: "unexpected text after the object"
        case .fractionDigits, .exponentDigits, .hexDigits, .numberRange, .integerRange, .values, .other:
            "expected " + error.expected
        }
    }
}
