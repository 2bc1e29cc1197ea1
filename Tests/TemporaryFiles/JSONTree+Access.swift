import TextFormats

/// Ways into a document for tests; what is not there is null, an empty text or no values.
extension JSONTree {
    package subscript(key: String) -> JSONTree {
        if case .object(let fields) = self { fields[key] ?? .null } else { .null }
    }
    package subscript(index: Int) -> JSONTree { values.indices.contains(index) ? values[index] : .null }
    package var values: [JSONTree] { if case .array(let values) = self { values } else { [] } }
    package var text: String { if case .string(let text) = self { text } else { "" } }
    package var number: Double? { if case .number(let number) = self { number } else { nil } }
}
