import IndoorVocabulary
import TextFormats

extension InputLimits {
    /// What a document of JSON may contain. A string with half of a surrogate pair is a value that cannot be
    /// represented, and not a defect of the document.
    package var json: JSONLimits { JSONLimits(depth: jsonDepth, values: jsonValues, permitsLoneSurrogates: true) }
}

extension JSONTree {
    /// Parses a document in one pass.
    ///
    /// If an object contains a key twice, the first value is used.
    /// - Throws: `JSONDocumentError` if the bytes aren't JSON, or if the document exceeds the limits.
    package init(_ bytes: [UInt8]) throws(JSONDocumentError) {
        try self.init(bytes, limits: InputLimits.standard.json)
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

extension JSONValue {
    /// Creates the content of a tree; a value that cannot be represented becomes null.
    package init(_ tree: JSONTree) {
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
package struct JSONObject {
    package let fields: [String: JSONTree]
    /// The path, such as `$.beacons[3]`.
    package let path: String

    package init(fields: [String: JSONTree], path: String) {
        self.fields = fields
        self.path = path
    }

    /// Returns the path of a field; a key other than a plain word is quoted.
    package func path(of key: String) -> String {
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
    package subscript(key: String) -> JSONTree? {
        guard let value = fields[key], value != .null else { return nil }
        return value
    }
}
