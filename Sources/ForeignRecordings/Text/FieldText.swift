import BeaconScanning
import IndoorVocabulary
import TagTracking
import TextFormats

/// Conversion of the fields of text formats.
enum FieldText {
    /// Returns a finite number; nil for any other text.
    static func number(_ text: some StringProtocol) -> Double? {
        guard let number = Double(String(text)), number.isFinite else { return nil }
        return number
    }

    /// Returns an address of six hexadecimal pairs, with or without colons or hyphens; nil for any other text.
    static func address(_ text: some StringProtocol) -> DeviceAddress? { HexText.address(Array(text.utf8).span) }

    /// Returns the bytes of pairs of hexadecimal digits; nil for any other text.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        return HexDigits.append(Array(text.utf8).span, to: &bytes) ? bytes : nil
    }

    /// Returns the bytes of advertising data that doesn't exceed the maximum length; nil for any other text.
    static func advertisingData(_ text: some StringProtocol) -> [UInt8]? {
        bytes(text).flatMap { $0.count <= AdvertisingReassembler.maximumLength ? $0 : nil }
    }

    /// Returns the number of a map, which must be exact as a double; nil for any other text.
    static func identifier(_ text: some StringProtocol) -> Int? {
        Int(String(text)).flatMap { (-(1 << 53)...(1 << 53)).contains($0) ? $0 : nil }
    }

    /// Returns the beacon of UUID, major and minor, or of namespace and instance, with `/`, `-` or `_` between them, or
    /// of the 40 digits of an AltBeacon; nil for any other text.
    static func identity(_ text: some StringProtocol) -> BeaconIdentity? {
        let text = String(text)
        let parts = text.split(maxSplits: .max, omittingEmptySubsequences: false) { "/-_".contains($0) }
        if parts.count == 2 {
            return BeaconIdentity(eddystoneNamespace: String(parts[0]), instance: String(parts[1]))
        }
        if parts.count == 1 { return BeaconIdentity(altBeaconID: text) }
        guard parts.count >= 3, let minor = UInt16(parts[parts.count - 1]), let major = UInt16(parts[parts.count - 2]),
            let uuid = BeaconUUID(String(text.dropLast(parts.suffix(2).reduce(2) { $0 + $1.count })))
        else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }
}
