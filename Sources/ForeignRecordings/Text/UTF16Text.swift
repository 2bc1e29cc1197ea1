/// A converter of a file in UTF-16 to UTF-8. A file without the byte order mark of UTF-16 stays as it is.
///
/// Source: The Unicode Consortium, *The Unicode Standard*, 3.9 and 23.8.
struct UTF16Text: Sendable {
    private enum Encoding { case unknown, plain, utf16(isBigEndian: Bool) }

    private var encoding = Encoding.unknown
    /// The bytes of a character that is incomplete so far.
    private var rest: [UInt8] = []

    /// Returns the text of the next bytes of a file in UTF-8.
    ///
    /// - Parameter bytes: the next bytes; none at the end of the file.
    mutating func text(of bytes: [UInt8]) -> [UInt8] {
        if case .unknown = encoding {
            rest += bytes
            guard rest.count >= 2 || bytes.isEmpty else { return [] }
            let isMarked = rest.count >= 2 && (rest[0] == 0xFF && rest[1] == 0xFE || rest[0] == 0xFE && rest[1] == 0xFF)
            encoding = isMarked ? .utf16(isBigEndian: rest[0] == 0xFE) : .plain
            let first = Array(rest.dropFirst(isMarked ? 2 : 0))
            rest = []
            return first.isEmpty ? [] : text(of: first)
        }
        guard case .utf16(let isBigEndian) = encoding else { return bytes }
        let all = rest + bytes
        var units: [UInt16] = []
        units.reserveCapacity(all.count / 2)
        for index in stride(from: 0, to: all.count - 1, by: 2) {
            let (first, second) = (UInt16(all[index]), UInt16(all[index + 1]))
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
        }
        rest = all.count.isMultiple(of: 2) ? [] : [all[all.count - 1]]
        // The second half of a pair may follow.
        if let last = units.last, last & 0xFC00 == 0xD800, !bytes.isEmpty {
            units.removeLast()
            rest = Array(all.suffix(2 + rest.count))
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
