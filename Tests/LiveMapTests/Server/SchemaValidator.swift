import Foundation

/// A validator of JSON values against the schemas of an OpenAPI document, for the keywords that the document uses.
struct SchemaValidator {
    /// A JSON value.
    enum JSON: Decodable, Equatable {
        case null, bool(Bool), number(Double), string(String), array([JSON]), object([String: JSON])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let bool = try? container.decode(Bool.self) {
                self = .bool(bool)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let string = try? container.decode(String.self) {
                self = .string(string)
            } else if let array = try? container.decode([JSON].self) {
                self = .array(array)
            } else {
                self = .object(try container.decode([String: JSON].self))
            }
        }

        var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
        var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
        var string: String? { if case .string(let text) = self { text } else { nil } }
        var number: Double? { if case .number(let number) = self { number } else { nil } }

        /// The member of an object.
        subscript(_ names: String...) -> JSON? {
            names.reduce(self) { value, name in value?.object?[name] }
        }

        /// The type's name in a schema.
        var type: String {
            switch self {
            case .null: "null"
            case .bool: "boolean"
            case .number: "number"
            case .string: "string"
            case .array: "array"
            case .object: "object"
            }
        }
    }

    let document: JSON
    /// The problems so far.
    private(set) var problems: [String] = []
    /// The schemas' properties and values of enumerations that have occurred, such as `Frame.id`.
    private(set) var seen: Set<String> = []

    init(_ document: JSON) { self.document = document }

    /// The value that a reference such as `#/components/schemas/Frame` names.
    func resolved(_ reference: String) -> JSON? {
        reference.split(separator: "/").dropFirst().reduce(document) { value, name in value?.object?[String(name)] }
    }

    /// The properties of all named schemas.
    var allProperties: Set<String> {
        var all: Set<String> = []
        for (name, schema) in document["components", "schemas"]?.object ?? [:] {
            for property in schema["properties"]?.object?.keys ?? [:].keys { all.insert("\(name).\(property)") }
        }
        return all
    }

    /// Validates a value.
    ///
    /// - Parameter name: the name of the schema; empty if it has none.
    mutating func validate(_ value: JSON, _ schema: JSON, name: String = "", at path: String) {
        let known = [
            "$ref", "type", "description", "properties", "required", "items", "enum", "additionalProperties", "format",
        ]
        for keyword in schema.object?.keys ?? [:].keys where !known.contains(keyword) {
            problems.append("\(path): the validator doesn't know \(keyword)")
        }
        if let reference = schema["$ref"]?.string {
            guard let target = resolved(reference) else { return problems.append("\(path): \(reference) is missing") }
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return validate(value, target, name: name, at: path)
        }
        let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string].compactMap { $0 }
        let isInteger = value.number.map { $0 == $0.rounded() } ?? false
        guard types.contains(value.type) || isInteger && types.contains("integer") else {
            return problems.append("\(path): \(value.type) is not \(types)")
        }
        if let values = schema["enum"]?.array, !values.contains(value) {
            problems.append("\(path): \(value) is not one of \(values)")
        }
        for (index, element) in (value.array ?? []).enumerated() {
            guard let items = schema["items"] else { return problems.append("\(path): no schema for elements") }
            validate(element, items, at: "\(path)[\(index)]")
        }
        guard let members = value.object else { return }
        for required in schema["required"]?.array?.compactMap(\.string) ?? [] where members[required] == nil {
            problems.append("\(path): \(required) is missing")
        }
        for (key, member) in members {
            if let property = schema["properties", key] {
                seen.insert("\(name).\(key)")
                validate(member, property, at: "\(path).\(key)")
            } else if schema["additionalProperties"] == .bool(false) {
                problems.append("\(path): \(key) is not documented")
            }
        }
    }
}
