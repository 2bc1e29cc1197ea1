import IndoorVocabulary
import TextFormats

/// The names of tags, which come from gateways, registers and the tags themselves.
enum NameText {
    /// The length of the longest name in bytes of UTF-8.
    static let longest = 200

    /// Returns whether a text can be the name of a tag: it isn't empty, is at most as long as `longest`, and has no
    /// control characters, which are U+0000 to U+001F and U+007F to U+009F (the category Cc of Unicode).
    static func isName(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }
}

/// Identities of beacons in the text of gateways.
package enum BeaconText {
    /// Returns the beacon of `UUID-MAJOR-MINOR`, with or without hyphens in the UUID; nil for another text.
    package static func identity(_ text: Span<UInt8>) -> BeaconIdentity? {
        guard text.count > 33 else { return nil }
        let length = text[8] == UInt8(ascii: "-") ? 36 : 32
        guard text.count > length, text[length] == UInt8(ascii: "-"),
            let uuid = HexText.uuid(text.extracting(0..<length))
        else { return nil }
        var index = length + 1
        guard let major = number(text, at: &index), index < text.count, text[index] == UInt8(ascii: "-") else {
            return nil
        }
        index += 1
        guard let minor = number(text, at: &index), index == text.count else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    /// Returns the beacon of `NAMESPACE-INSTANCE` (Eddystone-UID); nil for another text.
    ///
    /// The namespace has ten bytes. Nodes of ESPresense write eleven, because they repeat the fifth one.
    package static func eddystone(_ text: Span<UInt8>) -> BeaconIdentity? {
        var bytes: [UInt8] = []
        guard text.count == 33 || text.count == 35, text[text.count - 13] == UInt8(ascii: "-"),
            HexDigits.append(text.extracting(0..<(text.count - 13)), to: &bytes),
            HexDigits.append(text.extracting((text.count - 12)..<text.count), to: &bytes)
        else { return nil }
        if bytes.count == 17 {
            guard bytes[4] == bytes[5] else { return nil }
            bytes.remove(at: 5)
        }
        let halves = (bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
        return BeaconIdentity(uuid: BeaconUUID(high: halves.0, low: halves.1), major: 0, minor: 0)
    }

    /// Reads one to five digits.
    private static func number(_ text: Span<UInt8>, at index: inout Int) -> UInt16? {
        let end = min(index + 5, text.count)
        let start = index
        var number: UInt32 = 0
        while index < end, case let digit = text[index] &- UInt8(ascii: "0"), digit <= 9 {
            number = number * 10 + UInt32(digit)
            index += 1
        }
        return index > start ? UInt16(exactly: number) : nil
    }
}
