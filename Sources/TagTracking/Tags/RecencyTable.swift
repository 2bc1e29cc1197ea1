/// A table of limited size that removes the least recently used value for a new one.
///
/// The order of removal depends on the calls alone. A call needs constant time.
struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A value in the list of all values by use; -1 is the end of the list.
    private struct Node: Sendable {
        var key: Key
        var value: Value
        var newer = -1
        var older = -1
    }

    /// The maximum number of values, at least 1.
    let limit: Int
    private var places: [Key: Int] = [:]
    private var nodes: [Node] = []
    private var newest = -1
    private var oldest = -1

    /// Creates an empty table.
    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of values.
    var count: Int { nodes.count }

    /// The keys, the least recently used one first.
    var keys: [Key] {
        var keys: [Key] = []
        var place = oldest
        while place >= 0 {
            keys.append(nodes[place].key)
            place = nodes[place].newer
        }
        return keys
    }

    /// The least recently used key; nil if the table is empty.
    var first: Key? { oldest >= 0 ? nodes[oldest].key : nil }

    /// Returns a value without marking it as used.
    func peek(_ key: Key) -> Value? { places[key].map { nodes[$0].value } }

    /// Uses a value: creates it if there is none, and changes it in place.
    mutating func use<Result>(
        _ key: Key, else initial: @autoclosure () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        let place = places[key] ?? insert(key, initial())
        if place != newest {
            detach(place)
            attach(place)
        }
        return body(&nodes[place].value)
    }

    /// Changes a value without marking it as used.
    mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        if let place = places[key] { body(&nodes[place].value) }
    }

    /// Changes all values without marking them as used.
    mutating func changeAll(_ body: (inout Value) -> Void) {
        for place in nodes.indices { body(&nodes[place].value) }
    }

    /// Stores a value.
    mutating func set(_ value: Value, for key: Key) { use(key, else: value) { $0 = value } }

    /// Removes a value.
    @discardableResult mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        detach(place)
        let value = nodes[place].value
        let last = nodes.count - 1
        if place != last {
            // The last node takes the free place.
            let moved = nodes[last]
            nodes[place] = moved
            places[moved.key] = place
            if moved.newer >= 0 { nodes[moved.newer].older = place } else { newest = place }
            if moved.older >= 0 { nodes[moved.older].newer = place } else { oldest = place }
        }
        nodes.removeLast()
        return value
    }

    private mutating func insert(_ key: Key, _ value: Value) -> Int {
        let place: Int
        if nodes.count < limit {
            place = nodes.count
            nodes.append(Node(key: key, value: value))
        } else {
            place = oldest
            places[nodes[place].key] = nil
            detach(place)
            nodes[place] = Node(key: key, value: value)
        }
        places[key] = place
        attach(place)
        return place
    }

    private mutating func detach(_ place: Int) {
        let (newer, older) = (nodes[place].newer, nodes[place].older)
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
        if older >= 0 { nodes[older].newer = newer } else { oldest = newer }
    }

    private mutating func attach(_ place: Int) {
        nodes[place].newer = -1
        nodes[place].older = newest
        if newest >= 0 { nodes[newest].newer = place } else { oldest = place }
        newest = place
    }
}
