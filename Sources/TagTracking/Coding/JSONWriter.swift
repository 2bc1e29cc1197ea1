import IndoorVocabulary

/// A writer of JSON into bytes, in the order of the calls and without white space.
///
/// Numbers have fixed decimals, so that equal values give equal bytes.
package struct JSONWriter: Sendable {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []
    /// Whether the next value of an object or array follows another one.
    private var needsComma = false

    /// Creates a writer without bytes.
    package init(reservingCapacity capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// The bytes as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Structure

    package mutating func beginObject() { begin(UInt8(ascii: "{")) }
    package mutating func endObject() { end(UInt8(ascii: "}")) }
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }
    package mutating func endArray() { end(UInt8(ascii: "]")) }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Writes the name of a member; its value follows.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes the name of a member that may have any characters; its value follows.
    package mutating func name(escaping name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Members

    package mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.name(name)
        self.value(value)
    }

    package mutating func add(_ name: StaticString, _ value: some FixedWidthInteger) {
        self.name(name)
        self.value(value)
    }

    package mutating func add(_ name: StaticString, _ value: Bool) {
        self.name(name)
        self.value(value)
    }

    /// Writes a number with fixed decimals, unless it is nil or not finite.
    package mutating func add(_ name: StaticString, _ value: Double?, decimals: Int) {
        guard let value, value.isFinite else { return }
        self.name(name)
        self.value(value, decimals: decimals)
    }

    /// Writes a time as in RFC 3339, in UTC with milliseconds.
    package mutating func add(_ name: StaticString, time: Instant) {
        self.name(name)
        self.value(time: time)
    }

    // MARK: Values

    package mutating func value(_ value: some FixedWidthInteger) {
        separate()
        append(value)
    }

    package mutating func value(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a number with fixed decimals, at most 9; null if it isn't finite or beyond ±2^63 / 10^decimals.
    package mutating func value(_ value: Double, decimals: Int) {
        var scale: Int64 = 1
        for _ in 0..<decimals { scale *= 10 }
        guard let scaled = Int64(exactly: (value * Double(scale)).rounded()) else { return null() }
        separate()
        let magnitude = scaled.magnitude
        if scaled < 0 { bytes.append(UInt8(ascii: "-")) }
        append(magnitude / scale.magnitude)
        guard decimals > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        append(magnitude % scale.magnitude, digits: decimals)
    }

    package mutating func value(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
            case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
            case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
            case ..<0x20:
                bytes.append(contentsOf: (byte < 16 ? #"\u000"# : #"\u001"#).utf8)
                bytes.append(contentsOf: String(byte & 15, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes any value, with the members of objects in order of their names.
    package mutating func value(_ content: JSONValue) {
        switch content {
        case .null: null()
        case .bool(let value): self.value(value)
        case .number(let value):
            guard value.isFinite else { return null() }
            separate()
            if let integer = Int64(exactly: value) {
                append(integer)
            } else {
                bytes.append(contentsOf: value.description.utf8)
            }
        case .string(let text): value(text)
        case .array(let values):
            beginArray()
            for value in values { self.value(value) }
            endArray()
        case .object(let members):
            beginObject()
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                name(escaping: key)
                self.value(value)
            }
            endObject()
        }
    }

    /// Writes a time as in RFC 3339, in UTC with milliseconds.
    package mutating func value(time: Instant) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        let date = CivilTime(time)
        append(UInt64(max(0, date.year)), digits: 4)
        for (separator, number, digits) in [
            ("-", date.month, 2), ("-", date.day, 2), ("T", date.hour, 2), (":", date.minute, 2), (":", date.second, 2),
            (".", date.millisecond, 3),
        ] as [(Unicode.Scalar, Int, Int)] {
            bytes.append(UInt8(ascii: separator))
            append(UInt64(number), digits: digits)
        }
        bytes.append(UInt8(ascii: "Z"))
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes JSON that another writer made.
    package mutating func value(json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = UInt64(value.magnitude)
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    private mutating func append(_ value: UInt64, digits: Int) {
        let start = bytes.count
        var rest = value
        for _ in 0..<digits {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        bytes[start...].reverse()
    }
}
