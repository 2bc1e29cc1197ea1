import IndoorVocabulary

extension TagKey {
    /// The number of partitions of a fleet by default.
    public static let defaultPartitionCount = 64

    /// The key without the kind of its address, which not every gateway reports.
    public var canonical: TagKey {
        if case .address(let address) = self { .address(DeviceAddress(rawValue: address.rawValue)) } else { self }
    }

    /// Returns the partition of the tag: the same for the same text and count on every machine.
    ///
    /// The partition is the FNV-1a hash of 64 bits of the key's text, modulo the count. Source: G. Fowler, L. C. Noll,
    /// K.-P. Vo, D. Eastlake, *The FNV Non-Cryptographic Hash Algorithm*, IETF draft-eastlake-fnv, section 2.
    ///
    /// - Parameter count: the number of partitions.
    /// - Returns: a number from 0 up to `count`, without `count`.
    /// - Precondition: `count` is positive.
    public func partition(of count: Int = defaultPartitionCount) -> Int {
        precondition(count > 0, "the number of partitions must be positive, not \(count)")
        let hash: UInt64 = description.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int(hash % UInt64(count))
    }

    /// The key as one level of a topic, a subject or a path: letters, digits, `-`, and `_` with two hexadecimal digits
    /// for each other byte.
    ///
    /// Different keys have different tokens, and ``init(subjectToken:)`` returns the key.
    public var subjectToken: String {
        var token: [UInt8] = []
        for byte in description.utf8 {
            if Self.isPlain(byte) {
                token.append(byte)
            } else {
                token.append(UInt8(ascii: "_"))
                for digit in [byte >> 4, byte & 15] {
                    token.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
                }
            }
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// Creates a key from its token; nil for a text that ``subjectToken`` never returns.
    public init?(subjectToken token: String) {
        var bytes: [UInt8] = []
        var rest = Array(token.utf8)[...]
        while let byte = rest.popFirst() {
            if Self.isPlain(byte) {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard byte == UInt8(ascii: "_"), digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self), let key = TagKey(text), key.subjectToken == token
        else { return nil }
        self = key
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
