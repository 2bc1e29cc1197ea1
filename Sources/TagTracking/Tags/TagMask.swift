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
    /// The numbers are hexadecimal behind `0x`, and decimal otherwise. Any other text gives nil.
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

/// The names of the tags in a register.
struct RegisteredNames: Sendable {
    /// The key of each name that stands in the register.
    private var keys: [TagKey: TagKey] = [:]
    /// The keys by masked beacon, those with the most bits first.
    private var masked: [(mask: TagMask, keys: [BeaconIdentity: TagKey])] = []

    /// Creates the names. A key has priority over an alias, and the smaller of two keys with the same alias has priority,
    /// so that the order of a dictionary makes no difference.
    init(_ register: TagRegister) {
        let entries = register.entries.values.sorted { $0.key < $1.key }
        for entry in entries { keys[entry.key] = entry.key }
        var masks: [TagMask: [BeaconIdentity: TagKey]] = [:]
        for entry in entries {
            for alias in entry.aliases where keys[alias] == nil { keys[alias] = entry.key }
            guard let mask = entry.mask else { continue }
            for case .beacon(let beacon) in [entry.key] + entry.aliases {
                let identity = mask.applied(to: beacon)
                if masks[mask]?[identity] == nil { masks[mask, default: [:]][identity] = entry.key }
            }
        }
        masked = masks.map { (mask: $0, keys: $1) }.sorted {
            ($1.mask.bitCount, $0.mask.major, $0.mask.minor) < ($0.mask.bitCount, $1.mask.major, $1.mask.minor)
        }
    }

    /// Returns the key of the tag with a name; nil if the register has none. A name that stands in the register has
    /// priority over a mask.
    func key(of name: TagKey) -> TagKey? {
        if let key = keys[name] { return key }
        guard !masked.isEmpty, case .beacon(let beacon) = name else { return nil }
        for (mask, keys) in masked {
            if let key = keys[mask.applied(to: beacon)] { return key }
        }
        return nil
    }
}

/// The beacons of a register file with their masks, no two of which may be the same tag.
struct MaskedBeacons {
    /// The line and the index of an entry.
    typealias Owner = (line: Int, entry: Int)

    private struct Pair: Hashable {
        /// The mask of the beacons.
        var mask: TagMask
        /// The bits by which they are found.
        var common: TagMask
    }

    /// The most masks of a register, as each costs a search for each reading.
    static let limit = 16

    private var beacons: [TagMask: [(BeaconIdentity, Owner)]] = [:]
    private var index: [Pair: [BeaconIdentity: Owner]] = [:]

    /// Whether a mask would be one too many.
    func exceedsLimit(with mask: TagMask) -> Bool {
        beacons[mask] == nil && beacons.keys.count { $0 != .all } >= Self.limit
    }

    /// Adds a beacon. Returns the owner of another entry that has an identity in common with it, and adds nothing then.
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
