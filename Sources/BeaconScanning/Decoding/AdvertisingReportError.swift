/// Why an HCI event with advertising reports is malformed. Offsets are in bytes, from the event code on.
public enum AdvertisingReportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A field of the event that holds a value without a meaning.
    public enum Field: String, Hashable, Sendable {
        /// The event type of a legacy report, in [0, 4].
        case eventType = "event type"
        /// The data status of an extended report, in [0, 2].
        case dataStatus = "data status"
        /// The length in bytes of a legacy report's data, in [0, 31].
        case dataLength = "data length"
    }

    /// Something that begins at the offset needs more bytes than there are.
    case truncated(offset: Int, expected: Int, found: Int)
    /// Bytes follow on the end of the event or of its last report.
    case surplus(offset: Int, count: Int)
    /// A field holds a value that the specification gives no meaning.
    case reservedValue(Field, Int, offset: Int)

    public var description: String {
        switch self {
        case .truncated(let offset, let expected, let found):
            "Event needs \(expected) bytes at byte \(offset), \(found) are there: it was cut off."
        case .surplus(let offset, let count):
            "\(count) bytes too many at byte \(offset): the event's lengths do not agree."
        case .reservedValue(let field, let value, let offset):
            "The \(field.rawValue) at byte \(offset) is \(value), which has no meaning: check who wrote the event."
        }
    }
}
