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
        /// The bits that identify the tag in the beacons among the key and the aliases; nil for all.
        public var mask: TagMask?

        /// Creates an entry.
        public init(
            key: TagKey, aliases: [TagKey] = [], name: String? = nil, power: Double? = nil,
            tagClass: String? = nil, mask: TagMask? = nil
        ) {
            self.key = key
            self.aliases = aliases
            self.name = name
            self.power = power
            self.tagClass = tagClass
            self.mask = mask
        }
    }

    /// The entries by key. Keys and aliases don't contain the kind of an address, see ``TagKey/canonical``.
    public private(set) var entries: [TagKey: Entry] = [:]

    /// Creates a register. Of several entries with the same key, the last one is kept.
    public init(_ entries: [Entry] = []) {
        for var entry in entries {
            entry.key = entry.key.canonical
            entry.aliases = entry.aliases.map(\.canonical)
            self.entries[entry.key] = entry
        }
    }
}
