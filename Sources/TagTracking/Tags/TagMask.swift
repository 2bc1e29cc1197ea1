import IndoorVocabulary

/// The bits of a beacon's major and minor that identify a tag.
///
/// Some tags write the level of their battery, a button or a counter into the other bits, which change.
public struct TagMask: Hashable, Sendable {
    /// The bits of the major that identify the tag.
    public var major: UInt16
    /// The bits of the minor that identify the tag.
    public var minor: UInt16

    /// The mask of a beacon all of whose bits identify the tag.
    static let all = TagMask(major: .max, minor: .max)

    /// Creates a mask.
    public init(major: UInt16 = .max, minor: UInt16 = .max) {
        self.major = major
        self.minor = minor
    }

    /// Creates a mask from the bits of the minor, such as `0xFF00`, or from the bits of both, such as `0xFFF0/0xFF00`.
    ///
    /// The numbers are hexadecimal after `0x`, and decimal otherwise. Any other text gives nil.
    public init?(_ text: String) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map(Self.number)
        switch (numbers.count, numbers.first ?? nil, numbers.last ?? nil) {
        case (1, let minor?, _): self.init(minor: minor)
        case (2, let major?, let minor?): self.init(major: major, minor: minor)
        default: return nil
        }
    }

    private static func number(_ text: Substring) -> UInt16? {
        let isHex = text.lowercased().hasPrefix("0x")
        let digits = isHex ? text.dropFirst(2) : text
        guard digits.utf8.first != UInt8(ascii: "+") else { return nil }
        return UInt16(digits, radix: isHex ? 16 : 10)
    }

    /// Returns a beacon with zeros in place of the bits that don't identify the tag.
    func applied(to beacon: BeaconIdentity) -> BeaconIdentity {
        BeaconIdentity(uuid: beacon.uuid, major: beacon.major & major, minor: beacon.minor & minor)
    }

    /// The bits that identify the tags of both masks.
    func intersection(_ other: TagMask) -> TagMask { TagMask(major: major & other.major, minor: minor & other.minor) }

    /// The number of bits that identify the tag.
    var bitCount: Int { major.nonzeroBitCount + minor.nonzeroBitCount }
}

/// The beacons of a register file with their masks, no two of which may be the same tag.
struct MaskedBeacons {
    /// The line and the index of an entry.
    typealias Owner = (line: Int, entry: Int)

    private struct Pair: Hashable {
        /// The mask of the beacons.
        var mask: TagMask
        /// The bits by which the beacons are found.
        var common: TagMask
    }

    /// The maximum number of masks in a register, because each mask requires one more search for each reading.
    static let limit = 16

    private var beacons: [TagMask: [(BeaconIdentity, Owner)]] = [:]
    private var index: [Pair: [BeaconIdentity: Owner]] = [:]

    /// Returns whether the number of masks would exceed the limit with one more mask.
    func exceedsLimit(with mask: TagMask) -> Bool {
        beacons[mask] == nil && beacons.keys.count { $0 != .all } >= Self.limit
    }

    /// Adds a beacon. If another entry has an identity in common with it, returns the owner of that entry and adds
    /// nothing.
    mutating func add(_ beacon: BeaconIdentity, _ mask: TagMask, _ owner: Owner) -> Owner? {
        if beacons[mask] == nil {
            beacons[mask] = []
            for (other, known) in beacons {
                let common = mask.intersection(other)
                var found: [BeaconIdentity: Owner] = [:]
                for (beacon, owner) in known where found[common.applied(to: beacon)] == nil {
                    found[common.applied(to: beacon)] = owner
                }
                index[Pair(mask: other, common: common)] = found
            }
        }
        for other in beacons.keys {
            let common = mask.intersection(other)
            if let found = index[Pair(mask: other, common: common)]?[common.applied(to: beacon)],
                found.entry != owner.entry
            {
                return found
            }
        }
        beacons[mask]?.append((beacon, owner))
        for other in beacons.keys {
            let common = mask.intersection(other)
            index[Pair(mask: mask, common: common), default: [:]][common.applied(to: beacon)] = owner
        }
        return nil
    }
}
