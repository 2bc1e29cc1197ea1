import Foundation
import IndoorLocalization

/// Writes JSON with fixed decimals, so that equal results are equal bytes.
struct JSONText {
    /// The object's members so far, without braces.
    private var members: [String] = []

    /// The object as text, in one line.
    var text: String { "{" + members.joined(separator: ",") + "}" }

    /// Adds a number with that many decimals; one that is not finite is written as null.
    mutating func add(_ name: String, _ value: Double, decimals: Int) {
        members.append("\"\(name)\":" + Self.number(value, decimals: decimals))
    }

    /// Adds a number with that many decimals; nothing if it is nil.
    mutating func add(_ name: String, _ value: Double?, decimals: Int) {
        if let value { add(name, value, decimals: decimals) }
    }

    /// Adds a list of numbers with that many decimals.
    mutating func add(_ name: String, _ values: [Double], decimals: Int) {
        let texts = values.map { Self.number($0, decimals: decimals) }
        members.append("\"\(name)\":[" + texts.joined(separator: ",") + "]")
    }

    /// Adds a whole number.
    mutating func add(_ name: String, _ value: Int) { members.append("\"\(name)\":\(value)") }

    /// Adds a text; nothing if it is nil.
    mutating func add(_ name: String, _ value: String?) {
        if let value { members.append("\"\(name)\":" + Self.quoted(value)) }
    }

    /// Adds a truth value.
    mutating func add(_ name: String, _ value: Bool) { members.append("\"\(name)\":\(value)") }

    /// Adds a list of objects.
    mutating func add(_ name: String, _ objects: [JSONText]) {
        members.append("\"\(name)\":[" + objects.map(\.text).joined(separator: ",") + "]")
    }

    /// Adds any content; nothing if it is nil.
    mutating func add(_ name: String, content: JSONValue?) {
        if let content { members.append("\"\(name)\":" + Self.text(of: content)) }
    }

    /// Adds an object.
    mutating func add(_ name: String, _ object: JSONText) { members.append("\"\(name)\":" + object.text) }

    /// Members of objects in the order of their names.
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

    static func number(_ value: Double, decimals: Int) -> String {
        guard value.isFinite else { return "null" }
        let text = String(format: "%.\(decimals)f", value)
        // -0.000 and 0.000 are the same number.
        return text.hasPrefix("-") && !text.contains(where: { ("1"..."9").contains($0) })
            ? String(text.dropFirst()) : text
    }

    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20: quoted += String(format: "\\u%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
