import Foundation

/// The comparison of responses with the document.
struct ResponseCheck {
    typealias JSON = SchemaValidator.JSON

    var validator: SchemaValidator
    var problems: [String] = []
    /// The paths with a status that have occurred.
    var seen: Set<String> = []

    /// The schemas of the data of server-sent events by the events' names.
    private let events: [String: String]

    init(_ document: JSON, events: [String: String]) {
        validator = SchemaValidator(document)
        self.events = events
    }

    /// The paths with each documented status.
    var documented: Set<String> {
        var all: Set<String> = []
        for (path, item) in validator.document["paths"]?.object ?? [:] {
            for operation in item.object?.values ?? [:].values {
                for status in operation["responses"]?.object?.keys ?? [:].keys { all.insert("\(path) \(status)") }
            }
        }
        return all
    }

    mutating func check(_ reply: RawClient.Reply, _ path: String, _ item: JSON) {
        let name = "\(path) \(reply.status)"
        seen.insert(name)
        guard let operation = item.object?.values.first,
            var response = operation["responses", "\(reply.status)"]
        else { return problems.append("\(name): \(reply.text.prefix(200)) is not documented") }
        if let reference = response["$ref"]?.string { response = validator.resolved(reference) ?? .null }
        guard let content = response["content"]?.object?.first else {
            if !reply.body.isEmpty { problems.append("\(name): has a body") }
            return
        }
        let type = reply.headers["content-type"] ?? "none"
        let isMatch =
            content.key == type || content.key == "*/*" || content.key == "image/*" && type.hasPrefix("image/")
        if !isMatch { problems.append("\(name): \(type) is not \(content.key)") }
        guard type == "application/json", let schema = content.value["schema"] else {
            if type == "text/event-stream" { checkEvents(reply.text) }
            return
        }
        validate(Data(reply.body), schema, name)
    }

    private mutating func validate(_ data: Data, _ schema: JSON, _ name: String) {
        do { validator.validate(try JSONDecoder().decode(JSON.self, from: data), schema, at: name) } catch {
            problems.append("\(name): \(error)")
        }
    }

    /// Checks the data of server-sent events, which has the schema of its kind.
    private mutating func checkEvents(_ text: String) {
        for event in text.components(separatedBy: "\n\n") {
            var fields: [String: Substring] = [:]
            for line in event.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { fields[String(parts[0])] = parts[1].drop { $0 == " " } }
            }
            guard let name = fields["event"], let data = fields["data"] else { continue }
            guard let schema = events[String(name)] else { return problems.append("the event \(name) is unknown") }
            seen.insert("event \(name)")
            validate(
                Data(data.utf8), .object(["$ref": .string("#/components/schemas/\(schema)")]), "\(name) \(fields)")
        }
    }
}

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
