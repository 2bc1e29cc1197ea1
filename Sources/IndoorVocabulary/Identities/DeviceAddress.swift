/// A 48-bit Bluetooth device address, written as six hexadecimal pairs with colons.
public struct DeviceAddress: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The kinds of Bluetooth addresses.
    public enum Kind: String, Hashable, Sendable {
        /// Registered with the IEEE and constant.
        case `public`
        /// Chosen by the device; it may change at any time.
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

    /// Creates an address from six pairs of hexadecimal digits of either case, separated by colons; nil for any other
    /// text.
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
            let text = String(rawValue >> UInt64(40 - index * 8) & 0xFF, radix: 16, uppercase: true)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined(separator: ":")
    }

    public static func < (left: DeviceAddress, right: DeviceAddress) -> Bool { left.rawValue < right.rawValue }
}
