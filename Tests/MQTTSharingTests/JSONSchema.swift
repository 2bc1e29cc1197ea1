import Foundation

/// The part of JSON Schema (draft 2020-12) that the schemas of `Fixtures/sharing` use. Any other keyword is an error.
struct JSONSchema {
    struct Unknown: Error, CustomStringConvertible { let description: String }

    private let root: [String: Any]

    init(path: String) throws {
        let value = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(filePath: path)))
        guard let root = value as? [String: Any] else { throw Unknown(description: "\(path) is not an object") }
        self.root = root
    }

    /// Returns the violations of the schema in a document.
    func defects(of bytes: [UInt8]) throws -> [String] {
        try Self.defects(of: try JSONSerialization.jsonObject(with: Data(bytes)), by: root, at: "$")
    }

    private static func defects(of value: Any, by schema: [String: Any], at path: String) throws -> [String] {
        var defects: [String] = []
        func require(_ isRight: Bool?, _ keyword: String) {
            if isRight == false { defects.append("\(path): \(keyword)") }
        }
        let (object, list, text) = (value as? [String: Any], value as? [Any], value as? String)
        let number = (value as? NSNumber)?.doubleValue
        for (keyword, rule) in schema {
            let bound = (rule as? NSNumber)?.doubleValue ?? 0
            switch keyword {
            case "$schema", "title", "description": break
            case "type":
                switch rule as? String {
                case "object": require(object != nil, keyword)
                case "array": require(list != nil, keyword)
                case "string": require(text != nil, keyword)
                case "number": require(number != nil, keyword)
                case "integer": require(number.map { $0 == $0.rounded() } ?? false, keyword)
                default: throw Unknown(description: "\(path): type \(rule)")
                }
            case "required":
                for name in rule as? [String] ?? [] { require(object.map { $0[name] != nil }, "required \(name)") }
            case "dependentRequired":
                for (name, others) in rule as? [String: [String]] ?? [:] where object?[name] != nil {
                    for other in others { require(object?[other] != nil, "\(name) without \(other)") }
                }
            case "properties":
                for (name, member) in rule as? [String: [String: Any]] ?? [:] {
                    guard let value = object?[name] else { continue }
                    defects += try Self.defects(of: value, by: member, at: "\(path).\(name)")
                }
            case "additionalProperties":
                for (name, value) in object ?? [:] {
                    defects += try Self.defects(of: value, by: rule as? [String: Any] ?? [:], at: "\(path).\(name)")
                }
            case "items":
                for value in list ?? [] {
                    defects += try Self.defects(of: value, by: rule as? [String: Any] ?? [:], at: "\(path)[]")
                }
            case "maxItems": require(list.map { Double($0.count) <= bound }, keyword)
            case "uniqueItems": require(list.map { Set($0.map { "\($0)" }).count == $0.count }, keyword)
            case "minLength": require(text.map { Double($0.unicodeScalars.count) >= bound }, keyword)
            case "maxLength": require(text.map { Double($0.unicodeScalars.count) <= bound }, keyword)
            case "pattern":
                let pattern = try Regex(rule as? String ?? "")
                require(text.map { $0.contains(pattern) }, keyword)
            case "minimum": require(number.map { $0 >= bound }, keyword)
            case "maximum": require(number.map { $0 <= bound }, keyword)
            case "exclusiveMaximum": require(number.map { $0 < bound }, keyword)
            default: throw Unknown(description: "\(path): keyword \(keyword)")
            }
        }
        return defects
    }
}
