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

    /// The entries by key.
    public private(set) var entries: [TagKey: Entry] = [:]

    /// Creates a register.
    public init(_ entries: [Entry] = []) {
        for entry in entries { self.entries[entry.key] = entry }
    }
}
