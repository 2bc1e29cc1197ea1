import IndoorVocabulary

/// Deterministic changes of an input.
struct Mutation {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Returns an input with one to three changes.
    ///
    /// - Parameter other: an input from which a part may come.
    mutating func change(_ input: [UInt8], other: [UInt8]) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...3, using: &generator) { change(&bytes, other) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ other: [UInt8]) {
        switch Int.random(in: 0..<7, using: &generator) {
        case 0:
            // A flipped bit.
            guard let index = bytes.indices.randomElement(using: &generator) else { return }
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1:
            // A byte at a limit of its range, or a character with a meaning in a text.
            guard let index = bytes.indices.randomElement(using: &generator) else { return }
            bytes[index] = Self.values.randomElement(using: &generator) ?? 0
        case 2:
            // Only the beginning.
            bytes.removeLast(bytes.count - part(of: bytes).lowerBound)
        case 3:
            // A part is missing.
            bytes.removeSubrange(part(of: bytes))
        case 4:
            // A part is there twice.
            let part = part(of: bytes)
            bytes.insert(contentsOf: bytes[part], at: part.upperBound)
        case 5:
            // Everything is there twice.
            bytes += bytes
        default:
            // A part comes from another input.
            bytes.replaceSubrange(part(of: bytes), with: other[part(of: other)])
        }
    }

    private static let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF] + Array("09-.eE\"\\/[]{}:,<>&;".utf8)

    /// Returns a range of bytes, short ones more often.
    private mutating func part(of bytes: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...bytes.count, using: &generator)
        let rest = bytes.count - start
        let length = Int(Double(rest) * generator.uniform() * generator.uniform() * generator.uniform())
        return start..<start + length
    }
}
