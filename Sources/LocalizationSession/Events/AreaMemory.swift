import IndoorVocabulary

/// The areas of one kind that the device is in, and its recent exits.
package struct AreaMemory: Hashable, Sendable {
    /// An area that the device is in.
    package struct Inside: Hashable, Sendable {
        /// The area's number.
        package var id: Int
        /// Whether its entry was announced.
        package var isAnnounced: Bool

        package init(id: Int, isAnnounced: Bool) {
            self.id = id
            self.isAnnounced = isAnnounced
        }
    }

    /// The areas that the device is in, each once.
    package var inside: [Inside]
    /// The latest exits from areas with a hold-off, by number.
    package var exits: [Int: Instant]

    package init(inside: [Inside] = [], exits: [Int: Instant] = [:]) {
        self.inside = inside
        self.exits = exits
    }

    /// Returns this memory combined with one of areas with other numbers.
    func merging(_ other: AreaMemory) -> AreaMemory {
        AreaMemory(inside: inside + other.inside, exits: exits.merging(other.exits) { first, _ in first })
    }
}
