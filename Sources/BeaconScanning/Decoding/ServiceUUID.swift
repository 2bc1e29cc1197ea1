import IndoorVocabulary
import TextFormats

/// The UUID of a Bluetooth service: 128 bits, or a short form of 16 or 32 bits.
///
/// Source: Bluetooth Core Specification 5.4, Vol 3, Part B, 2.5.1.
public struct ServiceUUID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 128 bits.
    public var uuid: BeaconUUID

    /// The base UUID, whose first 32 bits a short UUID replaces.
    private static let base = BeaconUUID(high: 0x0000_0000_0000_1000, low: 0x8000_0080_5F9B_34FB)

    /// Creates a UUID of 128 bits.
    public init(_ uuid: BeaconUUID) { self.uuid = uuid }

    /// Creates a UUID from its short form of 16 or 32 bits.
    public init(short: UInt32) {
        uuid = BeaconUUID(high: UInt64(short) << 32 | Self.base.high, low: Self.base.low)
    }

    /// The short form; nil if there is none.
    public var short: UInt32? {
        guard uuid.low == Self.base.low, uuid.high & 0xFFFF_FFFF == Self.base.high else { return nil }
        return UInt32(truncatingIfNeeded: uuid.high >> 32)
    }

    /// The short form as four or eight upper-case hexadecimal digits, otherwise all digits with dashes.
    public var description: String {
        guard let short else { return uuid.description }
        return HexDigits.text(short, short > 0xFFFF ? 8 : 4, uppercase: true)
    }

    /// Whether the short form has 2 bytes.
    var isShort: Bool { short.map { $0 <= 0xFFFF } ?? false }

    /// The 2 bytes of the short form, otherwise all 16 bytes; the most significant byte first.
    var bigEndianBytes: [UInt8] {
        guard let short, short <= 0xFFFF else {
            return [uuid.high, uuid.low].flatMap { half in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) }
            }
        }
        return [UInt8(short >> 8), UInt8(short & 0xFF)]
    }

    public static func < (left: ServiceUUID, right: ServiceUUID) -> Bool { left.uuid < right.uuid }
}
