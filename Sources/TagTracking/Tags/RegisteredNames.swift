import IndoorVocabulary

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
