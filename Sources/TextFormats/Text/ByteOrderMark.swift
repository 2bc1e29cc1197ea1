/// The byte order mark in UTF-8, which some editors write at the beginning of a text. Readers of texts skip it.
package enum ByteOrderMark {
    private static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the offset at which a text begins: after the mark, or at 0 without one.
    package static func length(in text: some Collection<UInt8>) -> Int {
        text.starts(with: bytes) ? bytes.count : 0
    }
}
