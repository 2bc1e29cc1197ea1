/// The name of one session in logs and recordings: 16 hexadecimal digits, such as "9f86d081884c7d65".
///
/// It is made as the session begins, and tells two sessions apart. It says nothing of the device or its user.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    /// The number that the digits stand for.
    public let rawValue: UInt64

    /// Creates the ID of a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates a random ID.
    public init(using generator: inout some RandomNumberGenerator) { rawValue = generator.next() }

    /// Creates a random ID with the system's generator.
    public init() {
        // The one number that need not be the same with the same seed: nothing is computed from it.
        self = Self.making(using: SystemRandomNumberGenerator())
    }

    private static func making(using generator: consuming some RandomNumberGenerator) -> TraceID {
        TraceID(rawValue: generator.next())
    }

    /// Reads an ID: up to 16 hexadecimal digits; nil for anything else.
    public init?(_ text: String) {
        guard (1...16).contains(text.utf8.count), text.allSatisfy(\.isHexDigit),
            let number = UInt64(text, radix: 16)
        else { return nil }
        rawValue = number
    }

    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
