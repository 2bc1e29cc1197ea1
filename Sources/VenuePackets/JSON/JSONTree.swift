import FoundationEssentials
import IndoorVocabulary

/// A JSON document as it was written, including values that cannot be held.
package enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])
    /// A number that no `Double` holds, such as `1e999`, or a text with a broken escape.
    case unreadable

    /// Reads a document in one pass.
    ///
    /// Of a key that an object gives twice, the first value counts.
    /// - Throws: `JSONSyntaxError` for bytes that are not JSON, and for a document above the limits of depth and number
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

    /// What a message calls this value: the value itself where it is short.
    var summary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int(exactly: value).map(String.init) ?? "\(value)"
        case .string(let text): "the text \"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        case .array: "an array"
        case .object: "an object"
        case .unreadable: "a number too large to hold, or a broken text"
        }
    }
}

/// Why a document cannot be read as a whole.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    /// What is wrong, with its line and column.
    let problem: String
    /// What is wrong and what to do.
    package var message: String { problem + "; correct it there" }

    /// An error at an offset of the bytes.
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
    /// The document of a value that the package carries without reading it.
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
