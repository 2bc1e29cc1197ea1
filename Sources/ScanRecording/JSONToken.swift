/// A value in a line of JSON: its kind and where its text lies.
struct JSONToken: Hashable, Sendable {
    /// What kind of value it is.
    enum Kind: UInt8, Sendable {
        /// No value: the member is not in the line.
        case absent
        case null, bool, number, string, array, object
    }

    /// What kind of value it is.
    var kind: Kind
    /// Offsets of the value's text within the line; of a string, without its quotes.
    var start: Int32
    /// The offset after the text's last byte.
    var end: Int32
    /// Whether a string's text holds a backslash.
    var hasEscapes: Bool

    /// The token of a member that is not there.
    static let absent = JSONToken(kind: .absent, start: 0, end: 0, hasEscapes: false)

    /// The offsets of the value's text within the line.
    var range: Range<Int> { Int(start)..<Int(end) }
}

/// Why a line is not a JSON object.
struct JSONSyntaxError: Error, Hashable, Sendable {
    /// Offset of the byte that is wrong, from 0; the line's length if the line ends too early.
    var offset: Int
    /// What is wrong there.
    var reason: String
}
