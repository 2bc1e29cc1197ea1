import Foundation
import IndoorLocalization
import TextFormats

/// A JSON object written with fixed decimals, so that equal results give identical bytes.
struct JSONText {
    /// The object's members so far, without braces.
    private var members: [String] = []

    /// The object as one line of text.
    var text: String { "{" + members.joined(separator: ",") + "}" }

    /// Adds a number with `decimals` decimals; a number that is not finite is written as null.
    mutating func add(_ name: String, _ value: Double, decimals: Int) {
        members.append("\"\(name)\":" + Self.number(value, decimals: decimals))
    }

    /// Adds a number with `decimals` decimals, unless it is nil.
    mutating func add(_ name: String, _ value: Double?, decimals: Int) {
        if let value { add(name, value, decimals: decimals) }
    }

    /// Adds an array of numbers with `decimals` decimals.
    mutating func add(_ name: String, _ values: [Double], decimals: Int) {
        let texts = values.map { Self.number($0, decimals: decimals) }
        members.append("\"\(name)\":[" + texts.joined(separator: ",") + "]")
    }

    /// Adds an integer.
    mutating func add(_ name: String, _ value: Int) { members.append("\"\(name)\":\(value)") }

    /// Adds a string, unless it is nil.
    mutating func add(_ name: String, _ value: String?) {
        if let value { members.append("\"\(name)\":" + Self.quoted(value)) }
    }

    /// Adds a Boolean.
    mutating func add(_ name: String, _ value: Bool) { members.append("\"\(name)\":\(value)") }

    /// Adds an array of objects.
    mutating func add(_ name: String, _ objects: [JSONText]) {
        members.append("\"\(name)\":[" + objects.map(\.text).joined(separator: ",") + "]")
    }

    /// Adds an array of strings.
    mutating func add(_ name: String, _ strings: [String]) {
        members.append("\"\(name)\":[" + strings.map(Self.quoted).joined(separator: ",") + "]")
    }

    /// Adds any JSON value, unless it is nil.
    mutating func add(_ name: String, content: JSONValue?) {
        if let content { members.append("\"\(name)\":" + Self.text(of: content)) }
    }

    /// Adds an object.
    mutating func add(_ name: String, _ object: JSONText) { members.append("\"\(name)\":" + object.text) }

    /// The value as JSON, with the members of objects sorted by name.
    private static func text(of content: JSONValue) -> String {
        switch content {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let value):
            guard value.isFinite else { return "null" }
            return Int(exactly: value).map(String.init) ?? "\(value)"
        case .string(let value): return quoted(value)
        case .array(let values): return "[" + values.map(text).joined(separator: ",") + "]"
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            return "{" + sorted.map { quoted($0.key) + ":" + text(of: $0.value) }.joined(separator: ",") + "}"
        }
    }

    /// The number with `decimals` decimals; `null` if it is not finite.
    static func number(_ value: Double, decimals: Int) -> String {
        guard value.isFinite else { return "null" }
        let text = String(format: "%.\(decimals)f", value)
        // A negative zero is written without its sign.
        return text.hasPrefix("-") && !text.contains(where: { ("1"..."9").contains($0) })
            ? String(text.dropFirst()) : text
    }

    /// The text as a JSON string.
    static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = []
        JSONEscapes.append(text, to: &quoted)
        return String(decoding: quoted, as: UTF8.self)
    }
}

extension Int {
    /// The number with a noun, such as "1 room" or "2 rooms".
    func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
