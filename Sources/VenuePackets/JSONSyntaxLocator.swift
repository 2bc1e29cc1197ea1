/// Finds where bytes stop being JSON (RFC 8259): FoundationEssentials' decoder says only that they aren't.
///
/// Used after the decoder has refused a document, so it need not be fast. It is a little stricter than the decoder,
/// which takes a comma before a closing bracket.
struct JSONSyntaxLocator {
    private let bytes: [UInt8]
    private var index = 0
    /// The closing bytes of the arrays and objects that are open.
    private var open: [UInt8] = []

    /// Where the bytes stop being JSON, as "line 3, column 7"; nil if they are JSON.
    static func firstError(in bytes: [UInt8]) -> String? {
        var locator = JSONSyntaxLocator(bytes: bytes)
        guard !locator.scan() else { return nil }
        let before = bytes.prefix(locator.index)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return "line \(line), column \(locator.index - start + 1)"
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }  // a byte order mark
    }

    /// Whether all is JSON; if not, `index` is where it stops being so.
    private mutating func scan() -> Bool {
        repeat {
            guard scanValue() else { return false }
            // After a value: closing brackets, then a comma and the next value, or the end.
            while let closing = open.last {
                skipBlanks()
                guard take(closing) else { break }
                open.removeLast()
            }
            guard !open.isEmpty else { break }
            guard take(UInt8(ascii: ",")), scanKey() else { return false }
        } while true
        skipBlanks()
        return index == bytes.count
    }

    /// Passes a scalar or an empty container, or opens containers up to their first value.
    private mutating func scanValue() -> Bool {
        while true {
            skipBlanks()
            guard index < bytes.count else { return false }
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // The closing bracket comes two after the opening one in ASCII.
                let closing = bytes[index] + 2
                index += 1
                skipBlanks()
                if take(closing) { return true }
                open.append(closing)
                guard scanKey() else { return false }
            case UInt8(ascii: "\""): return scanString()
            case UInt8(ascii: "t"): return scanWord("true")
            case UInt8(ascii: "f"): return scanWord("false")
            case UInt8(ascii: "n"): return scanWord("null")
            default: return scanNumber()
            }
        }
    }

    /// Within an object: passes a key and its colon.
    private mutating func scanKey() -> Bool {
        guard open.last == UInt8(ascii: "}") else { return true }
        skipBlanks()
        guard scanString() else { return false }
        skipBlanks()
        return take(UInt8(ascii: ":"))
    }

    private mutating func scanString() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while index < bytes.count, bytes[index] >= 0x20 {
            if take(UInt8(ascii: "\"")) { return true }
            if take(UInt8(ascii: "\\")) {
                guard index < bytes.count, "\"\\/bfnrtu".utf8.contains(bytes[index]) else { return false }
            }
            index += 1
        }
        return false
    }

    private mutating func scanNumber() -> Bool {
        _ = take(UInt8(ascii: "-"))
        guard scanDigits() else { return false }
        if take(UInt8(ascii: ".")), !scanDigits() { return false }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return scanDigits()
        }
        return true
    }

    private mutating func scanDigits() -> Bool {
        let start = index
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
        return index > start
    }

    private mutating func scanWord(_ word: String) -> Bool { word.utf8.allSatisfy { take($0) } }

    private mutating func skipBlanks() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }
}
