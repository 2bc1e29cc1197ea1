/// A cache of the receivers by the names that gateways have sent, because computing the normal form of a name takes
/// time.
struct ReceiverNames: Sendable {
    /// The limit on the number of names, because unknown gateways can send any name.
    private static let limit = 4096

    private var indexes: [String: Int?] = [:]

    /// Returns the index of the receiver with a name; nil if the venue doesn't have it.
    mutating func index(of name: String, in directory: ReceiverDirectory) -> Int? {
        if let known = indexes[name] { return known }
        let index = directory.index(of: name)
        if indexes.count < Self.limit { indexes[name] = .some(index) }
        return index
    }
}
