/// A value in a line of JSON: its kind and where its text lies.
package struct JSONToken: Hashable, Sendable {
    /// What kind of value it is.
    package enum Kind: UInt8, Sendable {
        /// No value: the member is not in the line.
        case absent
        case null, bool, number, string, array, object
    }

    /// What kind of value it is.
    package var kind: Kind
    /// Offsets of the value's text within the line; of a string, without its quotes.
    var start: Int32
    /// The offset after the text's last byte.
    var end: Int32
    /// Whether a string's text holds a backslash.
    var hasEscapes: Bool

    /// The token of a member that is not there.
    static let absent = JSONToken(kind: .absent, start: 0, end: 0, hasEscapes: false)

    /// The offsets of the value's text within the line.
    package var range: Range<Int> { Int(start)..<Int(end) }
}

/// Why a line is not a JSON object.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    /// Offset of the byte that is wrong, from 0; the line's length if the line ends too early.
    package var offset: Int
    /// What is wrong there.
    package var reason: String
}
