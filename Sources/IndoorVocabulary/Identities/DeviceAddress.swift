import TextFormats

/// A 48-bit Bluetooth device address, written as six hexadecimal pairs with colons.
public struct DeviceAddress: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The kinds of Bluetooth addresses.
    public enum Kind: String, Hashable, Sendable {
        /// An address that is registered with the IEEE and doesn't change.
        case `public`
        /// An address that the device chooses and may change at any time.
        case random
    }

    /// The address in the lower 48 bits; the first written pair is the most significant.
    public var rawValue: UInt64
    /// The kind of the address; nil if the source doesn't report it.
    public var kind: Kind?

    /// Creates an address from its lower 48 bits; the upper 16 are ignored.
    public init(rawValue: UInt64, kind: Kind? = nil) {
        self.rawValue = rawValue & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// Creates an address from six pairs of hexadecimal digits in upper or lower case, separated by colons; nil for any
    /// other text.
    public init?(_ description: String) {
        let pairs = description.split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == 6 else { return nil }
        var value: UInt64 = 0
        for pair in pairs {
            guard pair.utf8.count == 2, pair.utf8.first != UInt8(ascii: "+"), let byte = UInt8(pair, radix: 16) else {
                return nil
            }
            value = value << 8 | UInt64(byte)
        }
        self.init(rawValue: value)
    }

    /// The address as upper-case hexadecimal pairs with colons.
    public var description: String {
        (0..<6).map { index in
            HexDigits.text(rawValue >> UInt64(40 - index * 8) & 0xFF, 2, uppercase: true)
        }.joined(separator: ":")
    }

    /// Whether the device changes the address, which therefore identifies no beacon: a random address that isn't
    /// static.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 1.3.2.
    package var isPrivate: Bool { kind == .random && !hasStaticForm }

    /// Whether the address can be neither public nor static random: its two highest bits aren't those of a static
    /// address, and it isn't a universally administered address of a single device, which every public address is.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 1.3.1; IEEE 802-2014, 8.2.
    package var hasPrivateForm: Bool { !hasStaticForm && rawValue >> 40 & 0b11 != 0 }

    /// Whether the device may change the address: false for an address that is certainly public or static.
    ///
    /// The two highest bits of a private address are 00 or 01. The bits of a public address can have any value.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 1.3.
    package var mayChange: Bool { kind != .public && rawValue >> 47 == 0 }

    private var hasStaticForm: Bool { rawValue >> 46 == 0b11 }

    public static func < (left: DeviceAddress, right: DeviceAddress) -> Bool { left.rawValue < right.rawValue }
}
