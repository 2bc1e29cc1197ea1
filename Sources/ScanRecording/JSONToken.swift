/// A value in a line of JSON: its kind and the position of its text.
package struct JSONToken: Hashable, Sendable {
    /// The kinds of value.
    package enum Kind: UInt8, Sendable {
        /// No value: the line doesn't contain the member.
        case absent
        case null, bool, number, string, array, object
    }

    /// The kind of the value.
    package var kind: Kind
    /// The offset of the value's first byte in the line; for a string, without its quotes.
    var start: Int32
    /// The offset after the text's last byte.
    var end: Int32
    /// Whether the text of a string contains a backslash.
    var hasEscapes: Bool

    /// The token of a missing member.
    static let absent = JSONToken(kind: .absent, start: 0, end: 0, hasEscapes: false)

    /// The range of the value's text in the line.
    package var range: Range<Int> { Int(start)..<Int(end) }
}

/// The reason a line is not a JSON object.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    /// The offset of the invalid byte, from 0; the line's length if the line ends too early.
    package var offset: Int
    /// The error at that byte.
    package var reason: String
}
