import IndoorVocabulary

/// Finds the line of each value in a JSON document, which `JSONTree` doesn't store.
///
/// The bytes must be valid JSON within the limits; in other bytes, some or all lines are not found.
struct JSONKeyLines {
    /// A value other than an object, and its location.
    struct Leaf: Hashable {
        /// The keys on the path to the value.
        var keys: [String]
        /// The line of its key, starting at 1.
        var line: Int
    }

    /// The values in the order of the document, including duplicates. An array is one value.
    private(set) var leaves: [Leaf] = []

    private let bytes: [UInt8]
    private let limit: Int
    private var index = 0
    private var line = 1

    /// - Parameter limit: the largest number of values to find.
    init(_ bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
        index = ByteOrderMark.length(in: bytes)
        skipBlanks()
        if consume("{") { readObject([]) }
    }

    private mutating func readObject(_ keys: [String]) {
        while leaves.count < limit {
            skipBlanks()
            let start = line
            guard let key = readString() else { break }
            skipBlanks()
            guard consume(":") else { return }
            skipBlanks()
            if consume("{") {
                readObject(keys + [key])
            } else {
                leaves.append(Leaf(keys: keys + [key], line: start))
                passValue()
            }
            skipBlanks()
            guard consume(",") else { break }
        }
        skipBlanks()
        _ = consume("}")
    }

    /// Skips a value up to the comma or bracket after it.
    private mutating func passValue() {
        var depth = 0
        while index < bytes.count {
            switch UnicodeScalar(bytes[index]) {
            case "\"":
                _ = readString()
                continue
            case "[", "{": depth += 1
            case "]", "}":
                guard depth > 0 else { return }
                depth -= 1
            case ",": if depth == 0 { return }
            default: break
            }
            step()
        }
    }

    private mutating func readString() -> String? {
        let start = index
        guard consume("\"") else { return nil }
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\") { step() }
            if index < bytes.count { step() }
        }
        guard consume("\""), case .string(let text)? = try? JSONTree(Array(bytes[start..<index])) else { return nil }
        return text
    }

    private mutating func skipBlanks() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { step() }
    }

    private mutating func consume(_ scalar: UnicodeScalar) -> Bool {
        guard index < bytes.count, UnicodeScalar(bytes[index]) == scalar else { return false }
        step()
        return true
    }

    private mutating func step() {
        if bytes[index] == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }
}
