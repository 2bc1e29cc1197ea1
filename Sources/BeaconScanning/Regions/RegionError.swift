/// The reason why a region cannot be tracked.
public enum RegionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a UUID.
    case malformedUUID(String)

    public var description: String {
        switch self {
        case .malformedUUID(let text):
            "\"\(text)\" is not a UUID: give 32 hexadecimal digits, with dashes after digits 8, 12, 16 and 20 or with none."
        }
    }
}
