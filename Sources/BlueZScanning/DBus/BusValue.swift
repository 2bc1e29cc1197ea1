/// A value of a D-Bus message.
///
/// Source: D-Bus Specification 0.42, Type System.
package indirect enum BusValue: Hashable, Sendable {
    case boolean(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// An array of bytes, stored without a case for each element.
    case bytes([UInt8])
    /// Any other array, with the signature of an element, which an empty array needs too.
    case array([BusValue], of: String)
    /// An array of entries, with the signatures of key and value, such as "sv".
    case dictionary([BusValue: BusValue], of: String)
    case structure([BusValue])
    case variant(BusValue)
    /// The type code of a value that the package doesn't read, such as a file descriptor.
    case unread(UInt8)
}

/// The properties of an object, by name.
package typealias BusProperties = [String: BusValue]

extension BusValue {
    /// The D-Bus signature of the value's type.
    package var typeSignature: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(_, let element): "a\(element)"
        case .dictionary(_, let entry): "a{\(entry)}"
        case .structure(let fields): "(\(fields.map(\.typeSignature).joined()))"
        case .variant: "v"
        case .unread(let code): String(UnicodeScalar(code))
        }
    }

    /// The value without its enclosing variants.
    package var content: BusValue {
        if case .variant(let inner) = self { inner.content } else { self }
    }

    /// The text of a string or an object path; nil for any other value.
    package var text: String? {
        switch content {
        case .string(let text), .objectPath(let text): text
        default: nil
        }
    }

    /// The value of a Boolean; nil for any other value.
    package var flag: Bool? {
        if case .boolean(let flag) = content { flag } else { nil }
    }

    /// The value of an integer of up to 32 bits; nil for any other value.
    package var number: Int? {
        switch content {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        default: nil
        }
    }

    /// The bytes of a byte array; nil for any other value.
    package var byteArray: [UInt8]? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// The texts of an array of strings or object paths; empty for any other value.
    package var texts: [String] {
        if case .array(let elements, _) = content { elements.compactMap(\.text) } else { [] }
    }

    /// The entries of a dictionary; empty for any other value.
    package var entries: [BusValue: BusValue] {
        if case .dictionary(let entries, _) = content { entries } else { [:] }
    }

    /// The entries of a dictionary with text keys, without enclosing variants; empty for any other value.
    package var properties: BusProperties {
        var properties: BusProperties = [:]
        for (key, value) in entries {
            if let name = key.text { properties[name] = value.content }
        }
        return properties
    }

    /// Returns properties as a D-Bus dictionary of names and variants.
    package static func properties(_ properties: BusProperties) -> BusValue {
        var entries: [BusValue: BusValue] = [:]
        for (name, value) in properties { entries[.string(name)] = .variant(value) }
        return .dictionary(entries, of: "sv")
    }
}
