import FoundationEssentials
import IndoorLocalization

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

    /// Reads a document; the decoder refuses one nested deeper than 512 levels.
    ///
    /// - Throws: `JSONSyntaxError` for bytes that are not JSON.
    package init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        do {
            self = try JSONDecoder().decode(JSONTree.self, from: Data(bytes))
        } catch {
            throw JSONSyntaxError(in: bytes)
        }
        // The decoder looks at numbers and texts one by one, so some that are not JSON get through to here.
        if holdsUnreadable, JSONSyntaxLocator.firstError(in: bytes) != nil { throw JSONSyntaxError(in: bytes) }
    }

    private var holdsUnreadable: Bool {
        switch self {
        case .unreadable: true
        case .array(let values): values.contains { $0.holdsUnreadable }
        case .object(let fields): fields.values.contains { $0.holdsUnreadable }
        case .null, .bool, .number, .string: false
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

/// Why the decoder refuses a document as a whole.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    /// What is wrong, with its line and column.
    let problem: String
    /// What is wrong and what to do.
    package let message: String

    init(in bytes: [UInt8]) {
        let place = JSONSyntaxLocator.firstError(in: bytes)
        problem =
            place.map { "is not JSON at \($0)" }
            ?? "is nested too deep, or not in UTF-8, or has a number that is too large"
        message = problem + (place == nil ? "; correct it" : "; correct it there")
    }
}

extension JSONTree: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // In order of frequency: each miss costs an error object.
        if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode([String: JSONTree].self) {
            self = .object(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .unreadable
        }
    }

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
