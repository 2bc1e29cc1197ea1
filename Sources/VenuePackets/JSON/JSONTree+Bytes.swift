import FoundationEssentials
import IndoorVocabulary

extension JSONTree {
    /// The document as bytes: UTF-8, indented, keys in alphabetical order, with a line's end behind it.
    ///
    /// All its numbers must be finite; one that is not is written as a text.
    func lines() -> [UInt8] { encoded([.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + [10] }

    /// The same in one line, without its end.
    func line() -> [UInt8] { encoded([.sortedKeys, .withoutEscapingSlashes]) }

    private func encoded(_ formatting: JSONEncoder.OutputFormatting) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        // With that strategy there is no tree that the encoder refuses.
        let data = (try? encoder.encode(self)) ?? Data("null".utf8)
        return [UInt8](data)
    }
}

extension JSONValue {
    /// The content of a tree; a value that cannot be held becomes null.
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
}
