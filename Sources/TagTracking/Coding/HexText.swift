import IndoorVocabulary
import TextFormats

/// Addresses and UUIDs in hexadecimal digits of either case.
package enum HexText {
    /// Returns an address of six pairs, which colons or hyphens may separate.
    package static func address(_ text: Span<UInt8>) -> DeviceAddress? {
        guard text.count != 12 else { return HexDigits.number(text).map { DeviceAddress(rawValue: $0) } }
        guard text.count == 17 else { return nil }
        let separator = text[2]
        guard separator == UInt8(ascii: ":") || separator == UInt8(ascii: "-") else { return nil }
        var number: UInt64 = 0
        for index in text.indices {
            if index % 3 == 2 {
                guard text[index] == separator else { return nil }
            } else {
                guard let digit = HexDigits.value(of: text[index]) else { return nil }
                number = number << 4 | UInt64(digit)
            }
        }
        return DeviceAddress(rawValue: number)
    }

    /// Returns a UUID of 32 digits, with four hyphens or without.
    package static func uuid(_ text: Span<UInt8>) -> BeaconUUID? {
        switch text.count {
        case 32:
            guard let high = HexDigits.number(text.extracting(0..<16)),
                let low = HexDigits.number(text.extracting(16..<32))
            else {
                return nil
            }
            return BeaconUUID(high: high, low: low)
        case 36:
            let hyphen = UInt8(ascii: "-")
            guard text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen,
                let first = HexDigits.number(text.extracting(0..<8)),
                let second = HexDigits.number(text.extracting(9..<13)),
                let third = HexDigits.number(text.extracting(14..<18)),
                let fourth = HexDigits.number(text.extracting(19..<23)),
                let fifth = HexDigits.number(text.extracting(24..<36))
            else { return nil }
            return BeaconUUID(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
        default: return nil
        }
    }
}
