import TextFormats

/// The identity of a beacon: proximity UUID, major and minor.
public struct BeaconIdentity: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The proximity UUID, shared by the beacons of one operator.
    public var uuid: BeaconUUID
    /// The group within the UUID, often a building or a floor.
    public var major: UInt16
    /// The beacon within its group.
    public var minor: UInt16

    /// Creates an identity from its three parts.
    public init(uuid: BeaconUUID, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// `UUID/major/minor`.
    public var description: String { "\(uuid)/\(major)/\(minor)" }

    public static func < (left: BeaconIdentity, right: BeaconIdentity) -> Bool {
        guard left.uuid == right.uuid else { return left.uuid < right.uuid }
        return left.major != right.major ? left.major < right.major : left.minor < right.minor
    }
}

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
        var (digits, next) = (0, 0)
        for byte in text {
            let offset = next
            next += 1
            if dashed, offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexDigits.value(of: byte) else { return nil }
            if digits < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
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

/// A set of beacons: all with one UUID, all with one UUID and major, or a single beacon.
public struct BeaconRegion: Hashable, Sendable {
    /// The proximity UUID.
    public var uuid: BeaconUUID
    /// The major; nil matches every major.
    public var major: UInt16?
    /// The minor; nil matches every minor.
    public var minor: UInt16?

    /// Creates the region of all beacons with a UUID and, if given, a major and a minor.
    public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// Creates the region of a single beacon.
    public init(_ identity: BeaconIdentity) {
        self.init(uuid: identity.uuid, major: identity.major, minor: identity.minor)
    }

    /// Returns whether the beacon belongs to the region.
    public func contains(_ identity: BeaconIdentity) -> Bool {
        uuid == identity.uuid && (major ?? identity.major) == identity.major
            && (minor ?? identity.minor) == identity.minor
    }
}
