import TextFormats

/// The number that identifies a venue in its packet.
public struct VenueID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(integerLiteral value: Int) { rawValue = value }
    public var description: String { String(rawValue) }
    public static func < (left: VenueID, right: VenueID) -> Bool { left.rawValue < right.rawValue }
}

/// The number that identifies a map, the plan of one floor, within its venue.
public struct MapID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(integerLiteral value: Int) { rawValue = value }
    public var description: String { String(rawValue) }
    public static func < (left: MapID, right: MapID) -> Bool { left.rawValue < right.rawValue }
}

/// The identifier of a session in logs and recordings: 16 hexadecimal digits, such as "9f86d081884c7d65".
///
/// Each session creates a new one. It contains no information about the device or its user.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    /// The number that the digits represent.
    public let rawValue: UInt64

    /// Creates an ID from a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates a random ID.
    package init(using generator: inout some RandomNumberGenerator) { rawValue = generator.next() }

    /// Creates a random ID with the system's generator.
    public init() {
        // The ID needn't be reproducible from a seed, because no result depends on it.
        self = Self.making(using: SystemRandomNumberGenerator())
    }

    private static func making(using generator: consuming some RandomNumberGenerator) -> TraceID {
        TraceID(rawValue: generator.next())
    }

    /// Creates an ID from up to 16 hexadecimal digits; nil for any other text.
    public init?(_ text: String) {
        guard (1...16).contains(text.utf8.count), text.allSatisfy(\.isHexDigit),
            let number = UInt64(text, radix: 16)
        else { return nil }
        rawValue = number
    }

    public var description: String { HexDigits.text(rawValue, 16, uppercase: false) }
}
