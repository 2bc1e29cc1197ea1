import FoundationEssentials
import IndoorVocabulary

/// A JSON document as written, including values that cannot be represented.
package enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])
    /// A number that doesn't fit a `Double`, such as `1e999`, or a string with an invalid escape.
    case unreadable

    /// Parses a document in one pass.
    ///
    /// If an object contains a key twice, the first value is used.
    /// - Throws: `JSONSyntaxError` if the bytes aren't JSON, or if the document exceeds the limits of depth and number
    ///   of values.
    package init(_ bytes: [UInt8], limits: InputLimits = .standard) throws(JSONSyntaxError) {
        var cursor = JSONCursor(bytes, limits: limits)
        self = try JSONTree(next: &cursor)
        try cursor.finish()
    }

    private init(next cursor: inout JSONCursor) throws(JSONSyntaxError) {
        switch try cursor.kind() {
        case .null:
            try cursor.readNull()
            self = .null
        case .bool: self = .bool(try cursor.readBool())
        case .number:
            let number = try cursor.readNumber()
            self = number.isFinite ? .number(number) : .unreadable
        case .string: self = try cursor.readString().map(JSONTree.string) ?? .unreadable
        case .array:
            var values: [JSONTree] = []
            try cursor.enter("[")
            while try cursor.nextElement() { values.append(try JSONTree(next: &cursor)) }
            self = .array(values)
        case .object:
            var fields: [String: JSONTree] = [:]
            try cursor.enter("{")
            while let key = try cursor.nextKey() {
                let value = try JSONTree(next: &cursor)
                if fields[key] == nil { fields[key] = value }
            }
            self = .object(fields)
        }
    }

    /// The value as a message quotes it; arrays, objects and long texts are abbreviated.
    var summary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int(exactly: value).map(String.init) ?? "\(value)"
        case .string(let text): "the text \"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        case .array: "an array"
        case .object: "an object"
        case .unreadable: "a number that is out of range, or an invalid string"
        }
    }
}

/// A JSON document that cannot be parsed.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    /// The problem with its line and column.
    package let problem: String
    /// The problem and its remedy.
    package var message: String { problem + "; correct it there" }

    /// Creates an error at an offset of the bytes.
    init(_ reason: String, at offset: Int, of bytes: [UInt8]) {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        problem = "\(reason) at line \(line), column \(offset - start + 1)"
    }

    /// Checks a document for a decoder that has no limits of its own.
    static func check(_ bytes: [UInt8], limits: InputLimits = .standard) throws(JSONSyntaxError) {
        var cursor = JSONCursor(bytes, limits: limits)
        try cursor.skipValue()
        try cursor.finish()
    }
}

extension JSONTree: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .unreadable: try container.encode(Double.infinity)
        }
    }
}

extension JSONTree {
    /// Creates the document of a value that the package carries without interpreting it.
    package init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map(JSONTree.init))
        case .object(let values): self = .object(values.mapValues(JSONTree.init))
        }
    }
}

extension JSONTree {
    /// Returns the document as UTF-8: indented, with keys in alphabetical order and a final line break.
    ///
    /// All numbers must be finite; other numbers are written as strings.
    package func lines() -> [UInt8] { encoded([.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + [10] }

    /// Returns the document in one line, without a line break.
    func line() -> [UInt8] { encoded([.sortedKeys, .withoutEscapingSlashes]) }

    private func encoded(_ formatting: JSONEncoder.OutputFormatting) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        // With this strategy, the encoder accepts every tree.
        let data = (try? encoder.encode(self)) ?? Data("null".utf8)
        return [UInt8](data)
    }
}

extension JSONValue {
    /// Creates the content of a tree; a value that cannot be represented becomes null.
    init(_ tree: JSONTree) {
        switch tree {
        case .null, .unreadable: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map(JSONValue.init))
        case .object(let fields): self = .object(fields.mapValues(JSONValue.init))
        }
    }

    /// Creates the content of a tree; nil if it contains a value that cannot be represented.
    package init?(readable tree: JSONTree) {
        switch tree {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .unreadable: return nil
        case .array(let trees):
            let values = trees.compactMap { JSONValue(readable: $0) }
            guard values.count == trees.count else { return nil }
            self = .array(values)
        case .object(let fields):
            let values = fields.compactMapValues { JSONValue(readable: $0) }
            guard values.count == fields.count else { return nil }
            self = .object(values)
        }
    }
}

/// An object in a document, with its path.
struct JSONObject {
    let fields: [String: JSONTree]
    /// The path, such as `$.beacons[3]`.
    let path: String

    /// Returns the path of a field; a key other than a plain word is quoted.
    func path(of key: String) -> String {
        let isWord =
            !key.isEmpty
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
                default: false
                }
            }
        return isWord ? "\(path).\(key)" : "\(path)[\"\(key)\"]"
    }

    /// The value of a field; nil if it is absent or null.
    subscript(key: String) -> JSONTree? {
        guard let value = fields[key], value != .null else { return nil }
        return value
    }
}
