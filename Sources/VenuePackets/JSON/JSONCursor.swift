import IndoorVocabulary

/// Reads JSON (RFC 8259) in one pass, value by value, within limits.
///
///     try cursor.enter("[")
///     while try cursor.nextElement() { numbers.append(try cursor.readNumber()) }
///
/// The reader is strict: comments, trailing commas and leading zeros are errors. The encoding is UTF-8, with or without
/// a byte order mark.
struct JSONCursor {
    /// The kind of the next value, determined by its first byte.
    enum Kind { case null, bool, number, string, array, object }

    private let bytes: [UInt8]
    private let limits: InputLimits
    private(set) var index = 0
    /// The closing brackets of the open arrays and objects.
    private var open: [UInt8] = []
    /// Whether the innermost array or object has just been opened.
    private var isFresh = false
    private var values = 1

    /// Creates a cursor before the first value.
    init(_ bytes: [UInt8], limits: InputLimits = .standard) {
        self.bytes = bytes
        self.limits = limits
        index = ByteOrderMark.length(in: bytes)
        skipBlanks()
    }

    /// Returns the kind of the next value.
    func kind() throws(JSONSyntaxError) -> Kind {
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case let first? where first == UInt8(ascii: "-") || Self.isDigit(first): return .number
        default: throw wrong()
        }
    }

    /// Throws if anything but white space is left.
    mutating func finish() throws(JSONSyntaxError) {
        skipBlanks()
        guard index == bytes.count else { throw wrong() }
    }

    // MARK: Arrays and objects

    /// Enters an array or an object, given by its opening bracket.
    mutating func enter(_ bracket: Unicode.Scalar) throws(JSONSyntaxError) {
        let opening = UInt8(ascii: bracket)
        guard byte == opening else { throw wrong() }
        guard open.count < limits.jsonDepth else {
            throw JSONSyntaxError("is nested deeper than \(limits.jsonDepth) levels", at: index, of: bytes)
        }
        index += 1
        // In ASCII, the code of the closing bracket is the code of the opening bracket plus 2.
        open.append(opening + 2)
        isFresh = true
    }

    /// Advances to the next element of the array; returns false at the end and leaves the array.
    mutating func nextElement() throws(JSONSyntaxError) -> Bool { try next(counting: 1) }

    /// Advances to the next value of the object and returns its key; returns nil at the end and leaves the object.
    mutating func nextKey() throws(JSONSyntaxError) -> String? {
        guard try next(counting: 2) else { return nil }
        let start = index
        guard let key = try readString() else {
            index = start
            throw wrong()
        }
        skipBlanks()
        guard consume(UInt8(ascii: ":")) else { throw wrong() }
        skipBlanks()
        return key
    }

    private mutating func next(counting count: Int) throws(JSONSyntaxError) -> Bool {
        skipBlanks()
        guard let closing = open.last else { return false }
        let wasFresh = isFresh
        isFresh = false
        if consume(closing) {
            open.removeLast()
            return false
        }
        if !wasFresh {
            guard consume(UInt8(ascii: ",")) else { throw wrong() }
            skipBlanks()
        }
        values += count
        guard values <= limits.jsonValues else {
            throw JSONSyntaxError("has more than \(limits.jsonValues) values and keys, the next", at: index, of: bytes)
        }
        return true
    }

    /// Skips a value of any kind.
    mutating func skipValue() throws(JSONSyntaxError) {
        switch try kind() {
        case .null: try readNull()
        case .bool: _ = try readBool()
        case .number: _ = try scanNumber()
        case .string: _ = try scanString()
        case .array:
            try enter("[")
            while try nextElement() { try skipValue() }
        case .object:
            try enter("{")
            while try nextKey() != nil { try skipValue() }
        }
    }

    // MARK: Single values

    mutating func readNull() throws(JSONSyntaxError) { try readWord("null") }

    mutating func readBool() throws(JSONSyntaxError) -> Bool {
        let isTrue = byte == UInt8(ascii: "t")
        try readWord(isTrue ? "true" : "false")
        return isTrue
    }

    private mutating func readWord(_ word: String) throws(JSONSyntaxError) {
        for letter in word.utf8 { guard consume(letter) else { throw wrong() } }
    }

    /// Reads a number as the nearest `Double`; infinity if it is out of range.
    mutating func readNumber() throws(JSONSyntaxError) -> Double {
        let start = index
        let parts = try scanNumber()
        // Both are exact, so the quotient is the nearest number: W. D. Clinger, *How to Read Floating Point Numbers
        // Accurately*, PLDI 1990.
        if let digits = parts.digits, parts.fraction < Self.powersOfTen.count {
            let magnitude = Double(digits) / Self.powersOfTen[parts.fraction]
            return bytes[start] == UInt8(ascii: "-") ? -magnitude : magnitude
        }
        return Double(String(decoding: bytes[start..<index], as: UTF8.self)) ?? .infinity
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    ]

    /// Skips a number; returns its digits as an integer, or nil if it has more than 15 digits or an exponent.
    private mutating func scanNumber() throws(JSONSyntaxError) -> (digits: Int?, fraction: Int) {
        _ = consume(UInt8(ascii: "-"))
        var value = 0
        let start = index
        if !consume(UInt8(ascii: "0")) { try scanDigits(&value) }
        var (count, fraction) = (index - start, 0)
        if consume(UInt8(ascii: ".")) {
            let point = index
            try scanDigits(&value)
            fraction = index - point
            count += fraction
        }
        guard consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) else {
            return (count <= 15 ? value : nil, fraction)
        }
        if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
        try scanDigits(&value)
        return (nil, 0)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func scanDigits(_ value: inout Int) throws(JSONSyntaxError) {
        let start = index
        while let digit = byte, Self.isDigit(digit) {
            value = value &* 10 &+ Int(digit - UInt8(ascii: "0"))
            index += 1
        }
        guard index > start else { throw wrong() }
    }

    // MARK: Texts

    /// Reads a string; returns nil if it contains an unpaired surrogate.
    mutating func readString() throws(JSONSyntaxError) -> String? {
        let (range, hasEscapes) = try scanString()
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw JSONSyntaxError("is not UTF-8", at: range.lowerBound, of: bytes)
        }
        return hasEscapes ? JSONEscapes.text(of: bytes[range]) : text
    }

    /// Skips a string; returns the range between its quotes.
    private mutating func scanString() throws(JSONSyntaxError) -> (range: Range<Int>, hasEscapes: Bool) {
        guard consume(UInt8(ascii: "\"")) else { throw wrong() }
        let start = index
        var hasEscapes = false
        while let next = byte, next >= 0x20 {
            index += 1
            if next == UInt8(ascii: "\"") { return (start..<(index - 1), hasEscapes) }
            guard next == UInt8(ascii: "\\") else { continue }
            hasEscapes = true
            guard let letter = byte, JSONEscapes.letters.contains(letter) else { throw wrong() }
            index += 1
            guard letter == UInt8(ascii: "u") else { continue }
            for _ in 0..<4 {
                guard let digit = byte, JSONEscapes.value(ofDigit: digit) != nil else { throw wrong() }
                index += 1
            }
        }
        throw wrong()
    }

    // MARK: Bytes

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let next = byte, next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { index += 1 }
    }

    private mutating func consume(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        index += 1
        return true
    }

    private func wrong() -> JSONSyntaxError { JSONSyntaxError("is not JSON", at: index, of: bytes) }
}

/// The escapes in a JSON string.
enum JSONEscapes {
    /// The characters that may follow a backslash.
    static let letters = Array("\"\\/bfnrtu".utf8)

    /// Returns the value of a hexadecimal digit; nil for any other byte.
    static func value(ofDigit digit: UInt8) -> UInt16? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Returns the text of a string with well-formed escapes; nil if it contains an unpaired surrogate.
    static func text(of bytes: ArraySlice<UInt8>) -> String? {
        var units: [UInt16] = []
        var plain: [UInt8] = []
        var text = ""
        func flush() -> Bool {
            guard let part = String(validating: units, as: UTF16.self) else { return false }
            text += part
            units = []
            return true
        }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index] == UInt8(ascii: "\\") else {
                if !units.isEmpty, !flush() { return nil }
                plain.append(bytes[index])
                index += 1
                continue
            }
            text += String(decoding: plain, as: UTF8.self)
            plain = []
            let letter = bytes[index + 1]
            index += 2
            guard letter == UInt8(ascii: "u") else {
                units.append(unit(of: letter))
                continue
            }
            units.append(bytes[index..<(index + 4)].reduce(0) { $0 << 4 | (value(ofDigit: $1) ?? 0) })
            index += 4
        }
        guard flush() else { return nil }
        return text + String(decoding: plain, as: UTF8.self)
    }

    private static func unit(of letter: UInt8) -> UInt16 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: UInt16(letter)
        }
    }
}
