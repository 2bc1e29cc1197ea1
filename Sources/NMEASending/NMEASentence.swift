import IndoorVocabulary
import TextFormats

/// A sentence of NMEA 0183, such as `$GPGGA,…*5C`.
///
/// The text has at most 82 characters, which is the limit of NMEA 0183.
public struct NMEASentence: Hashable, Sendable, CustomStringConvertible {
    /// The talker and the type, such as `GPGGA`.
    package let address: String
    /// The fields after the address; an empty text is an unknown value.
    package let fields: [String]

    /// The talker of all sentences, that of a satellite receiver: many readers accept no other one.
    static let talker = "GP"

    package init(_ type: String, _ fields: [String]) {
        address = Self.talker + type
        self.fields = fields
    }

    /// The sentence with its checksum, and without a line end.
    public var description: String {
        let content = ([address] + fields).joined(separator: ",")
        return "$\(content)*\(Self.checksum(content))"
    }

    /// The sentence with its checksum and the line end CR LF, as a reader receives it.
    public var bytes: [UInt8] { Array(description.utf8) + [13, 10] }

    /// Returns the exclusive or of the characters between `$` and `*`, as two hexadecimal digits.
    static func checksum(_ content: String) -> String {
        HexDigits.text(content.utf8.reduce(0, ^), 2, uppercase: true)
    }
}
