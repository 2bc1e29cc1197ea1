/// Why a text cannot name a device or a room of devices.
public enum SharingNameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has no characters.
    case empty
    /// It has so many Unicode scalars, more than 64.
    case tooLong(count: Int)
    /// It has a character that no name may have, or may not have there.
    case forbidden(Unicode.Scalar, name: String)

    /// The longest name, in Unicode scalars.
    public static let longest = 64

    /// What is wrong with a name; nil if nothing is.
    ///
    /// Source: *MQTT Version 5.0*, OASIS 2019, 4.7: topic names and topic filters.
    public init?(of name: String) {
        let scalars = name.unicodeScalars
        if scalars.isEmpty {
            self = .empty
        } else if scalars.count > Self.longest {
            self = .tooLong(count: scalars.count)
        } else if let scalar = scalars.first(where: Self.isForbidden) ?? (scalars.first == "$" ? "$" : nil) {
            self = .forbidden(scalar, name: name)
        } else {
            return nil
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "+", "#": true
        default:
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                || scalar.properties.isNoncharacterCodePoint
        }
    }

    public var description: String {
        switch self {
        case .empty: "a name of a device or room must not be empty: give 1 to \(Self.longest) characters"
        case .tooLong(let count):
            "a name of a device or room has \(count) characters; at most \(Self.longest) are allowed"
        case .forbidden("$", let name):
            "the name \"\(name)\" begins with \"$\", which brokers keep for themselves: begin it otherwise"
        case .forbidden(let scalar, let name) where scalar.value < 0x20 || scalar.value > 0x7E:
            "a name has the character U+\(String(scalar.value, radix: 16, uppercase: true)), which no device or room may "
                + "have (the rest is \"\(String(name.unicodeScalars.filter { !Self.isForbidden($0) }))\")"
        case .forbidden(let scalar, let name):
            "the name \"\(name)\" has \"\(scalar)\"; names of devices and rooms are without / + and #"
        }
    }
}
