import IndoorVocabulary

/// The known tags of a fleet.
public struct TagRegister: Hashable, Sendable {
    /// A known tag.
    public struct Entry: Hashable, Sendable {
        /// The key of the tag.
        public var key: TagKey
        /// The other names by which gateways report the tag.
        public var aliases: [TagKey]
        /// The display name; nil for the key.
        public var name: String?
        /// The signal strength of the tag at 1 m in dBm; nil if unknown.
        public var power: Double?
        /// The class of the tag, a key of ``FleetSettings/classes``; nil for the default.
        public var tagClass: String?

        /// Creates an entry.
        public init(
            key: TagKey, aliases: [TagKey] = [], name: String? = nil, power: Double? = nil, tagClass: String? = nil
        ) {
            self.key = key
            self.aliases = aliases
            self.name = name
            self.power = power
            self.tagClass = tagClass
        }
    }

    /// The entries by key. No key and no alias has the kind of an address, see ``TagKey/canonical``.
    public private(set) var entries: [TagKey: Entry] = [:]

    /// Creates a register. Of several entries with the same key, the last one remains.
    public init(_ entries: [Entry] = []) {
        for var entry in entries {
            entry.key = entry.key.canonical
            entry.aliases = entry.aliases.map(\.canonical)
            self.entries[entry.key] = entry
        }
    }

    /// The key of each key and alias. A key has priority over an alias, and the smaller of two keys with the same alias
    /// has priority, so that the order of a dictionary makes no difference.
    var keysByName: [TagKey: TagKey] {
        var keys = Dictionary(uniqueKeysWithValues: entries.keys.map { ($0, $0) })
        for entry in entries.values.sorted(by: { $0.key < $1.key }) {
            for alias in entry.aliases where keys[alias] == nil { keys[alias] = entry.key }
        }
        return keys
    }
}
