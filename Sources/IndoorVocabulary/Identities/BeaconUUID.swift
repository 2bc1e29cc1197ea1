import TextFormats

/// A 128-bit identifier of beacons, written as `8-4-4-4-12` hexadecimal digits.
///
/// The core doesn't import Foundation, so it can't use `Foundation.UUID`.
public struct BeaconUUID: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The first eight bytes; the first byte is the most significant.
    public var high: UInt64
    /// The last eight bytes; the first of them is the most significant.
    public var low: UInt64

    /// Creates an identifier from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates an identifier from 32 hexadecimal digits in upper or lower case, with dashes after digits 8, 12, 16 and
    /// 20 or without dashes.
    ///
    /// The result is nil for any other text.
    public init?(_ description: String) {
        let text = description.utf8
        let dashed: Bool
        switch text.count {
        case 36: dashed = true
        case 32: dashed = false
        default: return nil
        }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        for (offset, byte) in text.enumerated() {
            if dashed, offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexDigits.value(of: byte).map(UInt64.init) else { return nil }
            if digits < 16 { high = high << 4 | digit } else { low = low << 4 | digit }
            digits += 1
        }
        guard digits == 32 else { return nil }
        self.init(high: high, low: low)
    }

    /// The identifier as upper-case hexadecimal digits with dashes.
    public var description: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { digits.append(UInt8(ascii: "-")) }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - (index & 15) * 4)) & 15
            digits.append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "A"))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    public static func < (left: BeaconUUID, right: BeaconUUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
