import IndoorVocabulary

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
