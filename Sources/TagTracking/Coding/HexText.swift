import IndoorVocabulary

/// Addresses, UUIDs and bytes in hexadecimal digits of either case.
package enum HexText {
    /// Returns the value of a digit; nil for any other byte.
    @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        let decimal = digit &- UInt8(ascii: "0")
        if decimal <= 9 { return decimal }
        let letter = (digit | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// Returns a number of up to 16 digits; nil for no digit, for more digits or for another character.
    package static func number(_ text: Span<UInt8>) -> UInt64? {
        guard !text.isEmpty, text.count <= 16 else { return nil }
        var number: UInt64 = 0
        for index in text.indices {
            guard let digit = value(of: text[index]) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }

    /// Returns an address of six pairs, which colons or hyphens may separate.
    package static func address(_ text: Span<UInt8>) -> DeviceAddress? {
        guard text.count != 12 else { return number(text).map { DeviceAddress(rawValue: $0) } }
        guard text.count == 17 else { return nil }
        let separator = text[2]
        guard separator == UInt8(ascii: ":") || separator == UInt8(ascii: "-") else { return nil }
        var number: UInt64 = 0
        for index in text.indices {
            if index % 3 == 2 {
                guard text[index] == separator else { return nil }
            } else {
                guard let digit = value(of: text[index]) else { return nil }
                number = number << 4 | UInt64(digit)
            }
        }
        return DeviceAddress(rawValue: number)
    }

    /// Returns a UUID of 32 digits, with four hyphens or without.
    package static func uuid(_ text: Span<UInt8>) -> BeaconUUID? {
        switch text.count {
        case 32:
            guard let high = number(text.extracting(0..<16)), let low = number(text.extracting(16..<32)) else {
                return nil
            }
            return BeaconUUID(high: high, low: low)
        case 36:
            let hyphen = UInt8(ascii: "-")
            guard text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen,
                let first = number(text.extracting(0..<8)), let second = number(text.extracting(9..<13)),
                let third = number(text.extracting(14..<18)), let fourth = number(text.extracting(19..<23)),
                let fifth = number(text.extracting(24..<36))
            else { return nil }
            return BeaconUUID(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
        default: return nil
        }
    }

    /// Appends the bytes of pairs of digits; returns false for an odd number of digits or another character.
    package static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count.isMultiple(of: 2) else { return false }
        bytes.reserveCapacity(bytes.count + text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else { return false }
            bytes.append(high << 4 | low)
        }
        return true
    }
}
