import IndoorVocabulary
import TextFormats

/// Reads fields of one type each. A missing required field, a wrong type or a number out of range is a problem.
extension VenueParser {
    mutating func number(_ key: String, of object: JSONObject, _ rule: NumberRule) -> Double? {
        required(key, of: object, wanted: rule.wanted) ? optionalNumber(key, of: object, rule) : nil
    }

    mutating func optionalNumber(_ key: String, of object: JSONObject, _ rule: NumberRule) -> Double? {
        object[key].flatMap { number($0, at: object.path(of: key), rule) }
    }

    mutating func number(_ value: JSONTree, at path: String, _ rule: NumberRule) -> Double? {
        guard case .number(let number) = value, rule.accepts(number) else {
            return wrong(value, at: path, wanted: rule.wanted)
        }
        return number
    }

    mutating func integer(_ key: String, of object: JSONObject, _ rule: IntegerRule) -> Int? {
        required(key, of: object, wanted: rule.wanted) ? optionalInteger(key, of: object, rule) : nil
    }

    mutating func optionalInteger(_ key: String, of object: JSONObject, _ rule: IntegerRule) -> Int? {
        guard let value = object[key] else { return nil }
        guard case .number(let number) = value, let integer = Int(exactly: number), rule.range.contains(integer) else {
            return wrong(value, at: object.path(of: key), wanted: rule.wanted)
        }
        return integer
    }

    mutating func string(_ key: String, of object: JSONObject, wanted: String) -> String? {
        required(key, of: object, wanted: wanted) ? optionalString(key, of: object, wanted: wanted) : nil
    }

    mutating func optionalString(_ key: String, of object: JSONObject, wanted: String) -> String? {
        guard let value = object[key] else { return nil }
        guard case .string(let text) = value else {
            return wrong(value, at: object.path(of: key), wanted: wanted + " as a text")
        }
        return text
    }

    mutating func bool(_ key: String, of object: JSONObject, default standard: Bool) -> Bool {
        guard let value = object[key] else { return standard }
        guard case .bool(let flag) = value else {
            return wrong(value, at: object.path(of: key), wanted: "true or false") ?? standard
        }
        return flag
    }

    mutating func optionalObject(_ key: String, of object: JSONObject) -> JSONObject? {
        guard let value = object[key] else { return nil }
        let path = object.path(of: key)
        guard case .object(let fields) = value else { return wrong(value, at: path, wanted: "an object") }
        return JSONObject(fields: fields, path: path)
    }

    /// Returns the values of an array with their paths; nil if the field is absent or isn't an array.
    mutating func optionalArray(
        _ key: String, of object: JSONObject, limit: Int? = nil
    ) -> [(value: JSONTree, path: String)]? {
        object[key].flatMap { array($0, at: object.path(of: key), limit: limit) }
    }

    mutating func array(
        _ value: JSONTree, at path: String, limit: Int? = nil
    ) -> [(value: JSONTree, path: String)]? {
        guard case .array(let values) = value else { return wrong(value, at: path, wanted: "an array") }
        guard values.count <= limit ?? limits.entries else {
            let limit = limit ?? limits.entries
            report(.error, path, "has \(values.count) entries, more than the limit of \(limit); divide it")
            return nil
        }
        return values.enumerated().map { ($0.element, "\(path)[\($0.offset)]") }
    }

    /// Returns the objects of an array; empty if the field is absent, which is a problem if it is required.
    mutating func objects(
        _ key: String, of object: JSONObject, isRequired: Bool = false, limit: Int? = nil
    ) -> [JSONObject] {
        if isRequired, !required(key, of: object, wanted: "an array") { return [] }
        var objects: [JSONObject] = []
        for (value, path) in optionalArray(key, of: object, limit: limit) ?? [] {
            if case .object(let fields) = value {
                objects.append(JSONObject(fields: fields, path: path))
            } else {
                report(.error, path, "is \(value.summary); give an object")
            }
        }
        return objects
    }

    /// Returns the path of a file in the packet; nil if it is absent or would leave the packet.
    mutating func file(_ key: String, of object: JSONObject) -> String? {
        guard let file = optionalString(key, of: object, wanted: "a path within the packet") else { return nil }
        let path = object.path(of: key)
        guard PacketPath.isInside(file) else {
            report(
                .error, path,
                "\"\(file)\" is not a path within the packet; give one without \\, leading /, . and .."
            )
            return nil
        }
        fileReferences.append(FileReference(path: path, file: file))
        return file
    }

    /// Returns the payload, which may be any JSON value; nil if the field is absent.
    mutating func payload(of object: JSONObject) -> JSONValue? {
        object.fields["payload"].flatMap { value($0, at: object.path(of: "payload")) }
    }

    /// Returns any JSON value; nil if a number in it is out of range.
    mutating func value(_ tree: JSONTree, at path: String) -> JSONValue? {
        switch tree {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let value): return .number(value)
        case .string(let value): return .string(value)
        case .unreadable:
            return wrong(tree, at: path, wanted: "a smaller number")
        case .array(let values):
            return .array(values.enumerated().compactMap { value($0.element, at: "\(path)[\($0.offset)]") })
        case .object(let fields):
            let object = JSONObject(fields: fields, path: path)
            var values: [String: JSONValue] = [:]
            for key in fields.keys.sorted() {
                values[key] = fields[key].flatMap { value($0, at: object.path(of: key)) }
            }
            return .object(values)
        }
    }

    /// Returns whether the field exists; reports a problem if not.
    mutating func required(_ key: String, of object: JSONObject, wanted: String) -> Bool {
        guard object[key] == nil else { return true }
        report(.error, object.path(of: key), "is missing; give \(wanted)")
        return false
    }

    /// Reports an invalid value; returns nil, so that the caller can return the result.
    mutating func wrong<Value>(_ value: JSONTree, at path: String, wanted: String) -> Value? {
        report(.error, path, "is \(value.summary); give \(wanted)")
        return nil
    }
}
