import TextFormats

// The names of a beacon in formats other than iBeacon. In each format, the identity of a beacon consists of the same 20
// bytes: its UUID, its major and its minor.

extension BeaconIdentity {
    /// Creates the identity of an Eddystone-UID: namespace and instance are the UUID, and major and minor are 0.
    ///
    /// The result is nil unless the namespace has 20 and the instance has 12 hexadecimal digits, in upper or lower
    /// case.
    ///
    /// Source: Google, *Eddystone Protocol Specification*, UID frame, 2015.
    public init?(eddystoneNamespace namespace: String, instance: String) {
        guard namespace.utf8.count == 20, instance.utf8.count == 12, let uuid = BeaconUUID(namespace + instance) else {
            return nil
        }
        self.init(uuid: uuid, major: 0, minor: 0)
    }

    /// Creates the identity of an AltBeacon: the first 16 bytes of its ID are the UUID, the next 2 are the major, and
    /// the last 2 are the minor.
    ///
    /// The result is nil unless the text has 40 hexadecimal digits, in upper or lower case. After digits 8, 12, 16, 20,
    /// 32 and 36, a dash may follow.
    ///
    /// Source: Radius Networks, *AltBeacon Protocol Specification* 1.0, Beacon ID, 2014.
    public init?(altBeaconID text: String) {
        var digits: [UInt8] = []
        var isBehindDash = false
        for byte in text.utf8 {
            let isDash = byte == UInt8(ascii: "-")
            if isDash {
                guard !isBehindDash, [8, 12, 16, 20, 32, 36].contains(digits.count) else { return nil }
            } else {
                digits.append(byte)
            }
            isBehindDash = isDash
        }
        guard digits.count == 40, let uuid = BeaconUUID(String(decoding: digits.prefix(32), as: UTF8.self)),
            digits.suffix(8).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let numbers = UInt32(String(decoding: digits.suffix(8), as: UTF8.self), radix: 16)
        else { return nil }
        self.init(
            uuid: uuid, major: UInt16(truncatingIfNeeded: numbers >> 16), minor: UInt16(truncatingIfNeeded: numbers))
    }

    /// Creates the identity of a beacon that is known by its device address alone.
    ///
    /// The identity depends only on the 48 bits of the address. Its UUID is of version 8 (RFC 9562), begins with
    /// "BEACON" in ASCII and ends with the address, for example `42454143-4F4E-8000-8000-C47C8D000101`. Major and minor
    /// are 0.
    public init(address: DeviceAddress) {
        self.init(
            uuid: BeaconUUID(high: Self.addressHigh, low: Self.addressLow | address.rawValue), major: 0, minor: 0)
    }

    /// The device address from which ``init(address:)`` derives this identity; nil for any other identity.
    package var derivedAddress: DeviceAddress? {
        guard hasNoNumbers, uuid.high == Self.addressHigh, uuid.low >> 48 == Self.addressLow >> 48 else { return nil }
        return DeviceAddress(rawValue: uuid.low)
    }

    /// The namespace as 20 upper-case hexadecimal digits; nil if major or minor isn't 0, because both are 0 in an
    /// Eddystone-UID.
    public var eddystoneNamespace: String? { hasNoNumbers ? String(digits.prefix(20)) : nil }

    /// The instance as 12 upper-case hexadecimal digits; nil if major or minor isn't 0, because both are 0 in an
    /// Eddystone-UID.
    public var eddystoneInstance: String? { hasNoNumbers ? String(digits.suffix(12)) : nil }

    /// The ID of an AltBeacon with this identity, as 40 upper-case hexadecimal digits.
    public var altBeaconID: String { digits + Self.digits(of: major) + Self.digits(of: minor) }

    private static let addressHigh: UInt64 = 0x4245_4143_4F4E_8000
    private static let addressLow: UInt64 = 0x8000_0000_0000_0000

    private var hasNoNumbers: Bool { major == 0 && minor == 0 }

    private var digits: String { uuid.description.filter { $0 != "-" } }

    private static func digits(of number: UInt16) -> String { HexDigits.text(number, 4, uppercase: true) }
}
