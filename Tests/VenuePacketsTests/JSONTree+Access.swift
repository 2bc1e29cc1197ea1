import TextFormats
import VenuePackets

/// Ways into a document for tests; what is not there is null, an empty text or no values.
extension JSONTree {
    subscript(key: String) -> JSONTree { if case .object(let fields) = self { fields[key] ?? .null } else { .null } }
    subscript(index: Int) -> JSONTree { values.indices.contains(index) ? values[index] : .null }
    var values: [JSONTree] { if case .array(let values) = self { values } else { [] } }
    var text: String { if case .string(let text) = self { text } else { "" } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
}
