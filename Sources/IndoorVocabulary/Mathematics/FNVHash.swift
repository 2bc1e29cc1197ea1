/// The 64-bit hash function FNV-1a, which returns the same number on every machine. It isn't cryptographic.
///
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, *The FNV Non-Cryptographic Hash Algorithm*, 2024.
package enum FNVHash: Sendable {
    /// The hash of an empty sequence.
    package static let empty: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Returns the hash of bytes.
    ///
    /// - Parameter start: the hash of the preceding bytes.
    package static func hash(of bytes: some Sequence<UInt8>, after start: UInt64 = empty) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
