/// Gives numbers to features, which IMDF names by UUIDs.
///
/// The number is a hash of the id, so the next edition of an archive gets the same numbers whatever was added to it:
/// recordings, fixes and links that name a room stay right.
struct IMDFNumbers {
    private var taken: [String: Set<Int>] = [:]

    /// A number from 1 to 2³¹ - 1 that no other thing of this kind has.
    ///
    /// Two ids with one hash are so rare (1 in 40 for 10,000 things of a kind) that the second simply gets the next
    /// free number; then the numbers depend on the order of the features.
    ///
    /// - Parameters:
    ///   - kind: of the thing in the packet; kinds are numbered apart.
    ///   - part: counts the things of one kind that one feature becomes, from 0.
    mutating func number(of kind: String, for id: String, part: Int = 0) -> Int {
        let range = 0x7FFF_FFFF
        var number = Int(Self.hash(part == 0 ? id : "\(id)#\(part)") % UInt64(range)) + 1
        while !taken[kind, default: []].insert(number).inserted { number = number % range + 1 }
        return number
    }

    /// FNV-1a with 64 bits. Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, *The FNV Non-Cryptographic Hash
    /// Algorithm*, IETF draft-eastlake-fnv, section 2.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
