import TagTracking

/// The order of the last changes of all tags, from which a reader gets the changes since its last request.
///
/// Each change has a number. The log holds the last change of each tag. It has at most slightly more than twice as many
/// entries as there are tags.
struct ChangeLog: Sendable {
    private struct Entry {
        let number: UInt64
        let tag: TagKey
    }

    /// The number of the last change; 0 for none.
    private(set) var last: UInt64 = 0
    private var entries: [Entry] = []
    private var latest: [TagKey: UInt64] = [:]

    /// Adds a change of a tag. Returns its number.
    @discardableResult mutating func add(_ tag: TagKey) -> UInt64 {
        last += 1
        latest[tag] = last
        entries.append(Entry(number: last, tag: tag))
        if entries.count > 2 * latest.count + 1024 {
            entries.removeAll { latest[$0.tag] != $0.number }
        }
        return last
    }

    /// Adds a change that concerns no state of a tag. Returns its number.
    mutating func addOther() -> UInt64 {
        last += 1
        return last
    }

    /// The number of tags with a change.
    var tagCount: Int { latest.count }

    mutating func remove(_ tag: TagKey) { latest[tag] = nil }

    /// Removes all tags but those that the closure keeps.
    mutating func keep(_ isKept: (TagKey) -> Bool) {
        latest = latest.filter { isKept($0.key) }
        entries.removeAll { latest[$0.tag] != $0.number }
    }

    /// Returns the tags that have changed after one number and up to another, in order of their last change.
    ///
    /// - Returns: the tags; and the number up to which the list is complete, which is less than `end` if more than
    ///   `limit` tags have changed.
    func tags(
        after start: UInt64, upTo end: UInt64, limit: Int, where isSelected: (TagKey) -> Bool
    ) -> (tags: [TagKey], last: UInt64) {
        let low = entries.indices.bisection { entries[$0].number > start }
        var tags: [TagKey] = []
        var last = end
        for entry in entries[low...] where entry.number <= end && latest[entry.tag] == entry.number {
            guard isSelected(entry.tag) else { continue }
            if tags.count == limit { break }
            tags.append(entry.tag)
            last = entry.number
        }
        return (tags, tags.count == limit ? last : end)
    }
}
