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

    /// Returns an object that a closure writes.
    package static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        members(&json)
        json.endObject()
        return json.bytes
    }

    // MARK: Members

    /// Writes a member with an array of objects.
    ///
    /// - Parameter members: writes the members of an element's object.
    package mutating func add<Element>(
        _ name: StaticString, objects elements: some Sequence<Element>,
        _ members: (Element, inout JSONWriter) -> Void
    ) {
        self.name(name)
        beginArray()
        for element in elements {
            beginObject()
            members(element, &self)
            endObject()
        }
        endArray()
    }

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

    // MARK: Values

    package mutating func value(_ value: some FixedWidthInteger) {
        separate()
        FixedDecimals.append(value, to: &bytes)
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
        separate()
        if !FixedDecimals.append(value, decimals, to: &bytes) { bytes.append(contentsOf: "null".utf8) }
    }

    package mutating func value(_ text: String) {
        separate()
        JSONEscapes.append(text, to: &bytes)
    }

    /// Writes a number as short as an exact round trip allows; null if it isn't finite.
    package mutating func value(shortest value: Double) {
        guard value.isFinite else { return null() }
        separate()
        if let integer = Int64(exactly: value) {
            FixedDecimals.append(integer, to: &bytes)
        } else {
            bytes.append(contentsOf: value.description.utf8)
        }
    }

    /// Writes a string that a closure appends, and that needs no escapes.
    package mutating func value(unescaped write: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        write(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes JSON that another writer made.
    package mutating func value(json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }
}
