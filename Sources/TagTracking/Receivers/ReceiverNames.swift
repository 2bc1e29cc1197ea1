/// The receivers of the names that gateways sent so far, as the normal form of a name takes time.
struct ReceiverNames: Sendable {
    /// The limit on the number of names, as unknown gateways can send any.
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
