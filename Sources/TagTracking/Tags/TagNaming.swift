import IndoorVocabulary

/// The rules that give each tag one key, even if gateways use different names for it.
///
/// The rules, in order:
/// 1. a key or an alias in the register, for a beacon with its mask (``TagMask``);
/// 2. the beacon that the tag advertises;
/// 3. the key that is linked to the tag's address by the register or a beacon, see below;
/// 4. the gateway's identifier, if the message contains no address or one that may change;
/// 5. the key that is linked to the tag's address by an identifier;
/// 6. the address;
/// 7. the gateway's identifier, and then any other name.
///
/// A reading that contains an address together with a beacon, with an identifier of the gateway that outranks it, or
/// with another name in the register links the address to the key of the tag. Later readings that contain the address
/// alone then have that key. The link of a public address remains. Any other link expires after `linkLifetime`
/// without a reading of the address, because the device may change its address. If the table is full, the least
/// recently used link is removed.
///
/// A gateway gives a tag an identifier (``GatewayReading/identifier``) after it has resolved an address that changes,
/// or because its user has named the tag. Such an address would be a new tag after each change. An address that is
/// certainly public or static outranks the identifier, because gateways without the identifier report the same address.
///
/// The same calls give the same keys.
package struct TagNaming: Sendable {
    private struct Link: Sendable {
        var key: TagKey
        var lastUse: Instant
        var isPermanent: Bool
        /// Whether the key is an identifier of a gateway, to which a beacon and the register have priority.
        var isIdentifier = false
    }

    /// The time without a reading after which the link of an address that isn't public expires.
    package static let linkLifetime = Duration.seconds(30 * 60)
    /// The length of the longest name in bytes of UTF-8. A longer text isn't the name of a tag.
    package static let longestName = NameText.longest

    private let registered: RegisteredNames
    private var links: RecencyTable<UInt64, Link>
    private var senders = BeaconSenders()

    /// Creates the rules without links.
    ///
    /// - Parameter linkLimit: the maximum number of links, at least 1.
    package init(register: TagRegister = TagRegister(), linkLimit: Int = 65_536) {
        registered = RegisteredNames(register)
        links = RecencyTable(limit: linkLimit)
    }

    /// The beacons that several addresses send, which therefore have one key, each with its addresses.
    package var sharedBeacons: [BeaconIdentity: [DeviceAddress]] { senders.shared }

    /// Notes the address that sends the beacon of a located tag, unless the register has a tag with that address.
    mutating func noteSender(of reading: GatewayReading) {
        guard let beacon = reading.beacon, let address = reading.address, address.rawValue != 0, !address.mayChange,
            registered.key(of: TagKey.address(address).canonical) == nil
        else { return }
        senders.note(address, sending: beacon)
    }

    /// The number of links.
    package var linkCount: Int { links.count }

    /// Moves the times of all links, after the clock was set forward.
    mutating func move(by step: Duration) { links.changeAll { $0.lastUse = $0.lastUse.advanced(by: step) } }

    /// Returns the key of the tag of a reading; nil if the reading contains no name of the tag.
    ///
    /// - Parameter now: the time of arrival.
    package mutating func key(of reading: GatewayReading, at now: Instant) -> TagKey? {
        let given = reading.identifier.flatMap(Self.key(of:))
        let named = reading.name.flatMap(Self.key(of:))
        // Gateways write an unknown address as zeros.
        let address =
            reading.address.flatMap { $0.rawValue == 0 ? nil : $0 } ?? given?.addressValue
            ?? (given == nil ? named?.addressValue : nil)
        let key = address.map { TagKey.address($0).canonical }
        let beacon = reading.beacon.map(TagKey.beacon) ?? given?.ifBeacon ?? named?.ifBeacon
        if let registered = key.flatMap(registered.key(of:)) { return registered }
        let other =
            beacon.flatMap(registered.key(of:)) ?? given.flatMap(registered.key(of:))
            ?? named.flatMap(registered.key(of:)) ?? beacon
        if let other {
            if let address { link(address, to: other, at: now) }
            return other
        }
        let linked = address.flatMap { linkedKey(of: $0, at: now) }
        if let linked, !linked.isIdentifier { return linked.key }
        if let given, address?.mayChange ?? true {
            if let address, key != given { link(address, to: given, isIdentifier: true, at: now) }
            return given
        }
        return linked?.key ?? key ?? given ?? named
    }

    private mutating func link(
        _ address: DeviceAddress, to key: TagKey, isIdentifier: Bool = false, at now: Instant
    ) {
        let isPublic = address.kind == .public
        links.use(address.rawValue, else: Link(key: key, lastUse: now, isPermanent: isPublic)) { link in
            link = Link(
                key: key, lastUse: max(link.lastUse, now),
                isPermanent: isPublic || (link.isPermanent && address.kind == nil), isIdentifier: isIdentifier)
        }
    }

    /// Uses the link of an address; returns nil if there is none, or if it has expired.
    private mutating func linkedKey(of address: DeviceAddress, at now: Instant) -> (key: TagKey, isIdentifier: Bool)? {
        guard let link = links.peek(address.rawValue),
            link.isPermanent || link.lastUse.duration(to: now) <= Self.linkLifetime
        else { return nil }
        return links.use(address.rawValue, else: link) { link in
            link.lastUse = max(link.lastUse, now)
            return (link.key, link.isIdentifier)
        }
    }
}

/// The addresses that send each beacon, to detect tags that have the same beacon from the factory.
///
/// Only addresses that don't change count. A tag whose address has changed all the same doesn't return to the earlier one:
/// a beacon is shared once an address sends it again after another one.
struct BeaconSenders: Sendable {
    private struct Senders: Sendable {
        var latest: UInt64
        var addresses: [UInt64]
    }

    /// The numbers of beacons, of addresses of each, and of shared beacons.
    static let (mostBeacons, mostAddresses, mostShared) = (4_096, 8, 20)

    private var senders = RecencyTable<BeaconIdentity, Senders>(limit: mostBeacons)
    /// The shared beacons with their addresses, in order.
    private(set) var shared: [BeaconIdentity: [DeviceAddress]] = [:]

    /// Records that an address sends a beacon.
    mutating func note(_ address: DeviceAddress, sending beacon: BeaconIdentity) {
        let raw = address.rawValue
        let addresses = senders.use(beacon, else: Senders(latest: raw, addresses: [raw])) { senders -> [UInt64] in
            guard senders.latest != raw else { return [] }
            senders.latest = raw
            if senders.addresses.contains(raw) { return senders.addresses }
            if senders.addresses.count < Self.mostAddresses { senders.addresses.append(raw) }
            return []
        }
        guard !addresses.isEmpty, shared[beacon] != nil || shared.count < Self.mostShared else { return }
        shared[beacon] = addresses.sorted().map { DeviceAddress(rawValue: $0) }
    }
}

// MARK: Spellings

extension TagNaming {
    /// Returns the key for a name in any of the spellings of gateways.
    ///
    /// - an address with colons, with dashes or without both, in either case, also after `known:`;
    /// - a beacon as `UUID-MAJOR-MINOR`, `UUID_MAJOR_MINOR` or `UUID/MAJOR/MINOR`, also after `iBeacon:` or
    ///   `altBeacon:`, with a UUID with or without dashes in either case;
    /// - an Eddystone-UID as `eddy:NAMESPACE-INSTANCE`;
    /// - a UUID alone: the name of the UUID with dashes in upper case;
    /// - any other name as it is, without spaces at its ends.
    ///
    /// - Returns: nil for an empty name, for one longer than `longestName`, and for one with control characters of Unicode.
    package static func key(of name: String) -> TagKey? {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") }
        let bytes = Array(name.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
        let text = String(decoding: bytes, as: UTF8.self)
        guard NameText.isName(text) else { return nil }
        if let beacon = beacon(of: body(of: text, behind: "ibeacon:") ?? body(of: text, behind: "altbeacon:") ?? text) {
            return .beacon(beacon)
        }
        if let beacon = body(of: text, behind: "eddy:").flatMap({ BeaconText.eddystone($0.utf8.span) }) {
            return .beacon(beacon)
        }
        if let address = address(of: body(of: text, behind: "known:") ?? text) { return .address(address) }
        if let uuid = BeaconUUID(text) { return .name(uuid.description) }
        return TagKey(text)
    }

    /// Returns the text after a prefix in either case; nil without the prefix.
    private static func body(of text: String, behind prefix: String) -> String? {
        guard text.utf8.count > prefix.utf8.count, text.prefix(prefix.count).lowercased() == prefix else { return nil }
        return String(text.dropFirst(prefix.count))
    }

    private static func beacon(of text: String) -> BeaconIdentity? {
        let bytes = Array(text.utf8)
        for length in [36, 32] where bytes.count > length {
            let separator = bytes[length]
            guard [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/")].contains(separator),
                let uuid = BeaconUUID(String(decoding: bytes[..<length], as: UTF8.self))
            else { continue }
            let numbers = bytes[(length + 1)...].split(separator: separator, omittingEmptySubsequences: false)
            guard numbers.count == 2, let major = number(numbers[0]), let minor = number(numbers[1]) else { continue }
            return BeaconIdentity(uuid: uuid, major: major, minor: minor)
        }
        return nil
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }

    private static func address(of text: String) -> DeviceAddress? {
        if let address = DeviceAddress(text) { return address }
        let digits: String
        switch text.utf8.count {
        case 12: digits = text
        case 17:
            let pairs = text.split(separator: "-", omittingEmptySubsequences: false)
            guard pairs.count == 6, pairs.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
            digits = pairs.joined()
        default: return nil
        }
        guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.count == 12, let value = UInt64(digits, radix: 16)
        else {
            return nil
        }
        return DeviceAddress(rawValue: value)
    }
}

extension TagKey {
    /// The key if it is a beacon.
    fileprivate var ifBeacon: TagKey? {
        if case .beacon = self { self } else { nil }
    }

    /// The address if the key is one.
    fileprivate var addressValue: DeviceAddress? {
        if case .address(let address) = self { address } else { nil }
    }
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

/// The bits of a beacon's major and minor that identify a tag.
///
/// Some tags write the level of their battery, a button or a counter into the other bits, which change.
package struct TagMask: Hashable, Sendable {
    /// The bits of the major that identify the tag.
    package var major: UInt16
    /// The bits of the minor that identify the tag.
    package var minor: UInt16

    /// The mask of a beacon all of whose bits identify the tag.
    static let all = TagMask(major: .max, minor: .max)

    /// Creates a mask.
    package init(major: UInt16 = .max, minor: UInt16 = .max) {
        self.major = major
        self.minor = minor
    }

    /// Creates a mask from the bits of the minor, such as `0xFF00`, or from the bits of both, such as `0xFFF0/0xFF00`.
    ///
    /// The numbers are hexadecimal after `0x`, and decimal otherwise. Any other text gives nil.
    package init?(_ text: String) {
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
