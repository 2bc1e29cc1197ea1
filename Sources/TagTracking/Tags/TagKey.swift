import IndoorVocabulary

/// The name that identifies a tag in a fleet.
///
/// Gateways name the same tag in several ways. ``TagRegister`` and fixed rules select one of them.
public enum TagKey: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The beacon that the tag advertises, written as `UUID/major/minor`.
    case beacon(BeaconIdentity)
    /// The address of the tag, written as six pairs of hexadecimal digits with colons.
    case address(DeviceAddress)
    /// Any other name, of a register or a gateway; not empty.
    case name(String)

    /// Creates a key from its text. A text that is neither a beacon nor an address is a name; an empty text gives nil.
    public init?(_ description: String) {
        if let beacon = Self.beacon(of: description) {
            self = .beacon(beacon)
        } else if let address = DeviceAddress(description) {
            self = .address(address)
        } else if !description.isEmpty {
            self = .name(description)
        } else {
            return nil
        }
    }

    /// The key without the kind of its address, which not every gateway reports.
    public var canonical: TagKey {
        if case .address(let address) = self { .address(DeviceAddress(rawValue: address.rawValue)) } else { self }
    }

    private static func beacon(of text: String) -> BeaconIdentity? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let uuid = BeaconUUID(String(parts[0])), let major = UInt16(parts[1]),
            let minor = UInt16(parts[2])
        else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    public var description: String {
        switch self {
        case .beacon(let identity): identity.description
        case .address(let address): address.description
        case .name(let name): name
        }
    }

    public static func < (left: TagKey, right: TagKey) -> Bool { left.description < right.description }
}

extension TagKey {
    /// A number that depends on the key alone: ``FNVHash`` of its text, mixed.
    var mixedHash: UInt64 {
        // In FNV-1a, the last bytes change few of the upper bits.
        var generator = SeededGenerator(seed: FNVHash.hash(of: description.utf8))
        return generator.next()
    }
}
