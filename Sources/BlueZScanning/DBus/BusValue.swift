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
    /// An array of bytes, the one array that is kept without a case per element.
    case bytes([UInt8])
    /// An array of anything else, and the signature of an element, which an empty array has too.
    case array([BusValue], of: String)
    /// An array of entries, and the signatures of key and value in a row, as in "sv".
    case dictionary([BusValue: BusValue], of: String)
    case structure([BusValue])
    case variant(BusValue)
    /// A value of a type that nobody here needs, such as a file descriptor: its type code.
    case unread(UInt8)
}

/// Properties of an object by their names.
package typealias BusProperties = [String: BusValue]

extension BusValue {
    /// The value's type as the bus writes it.
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

    /// The value without the variants around it.
    package var content: BusValue {
        if case .variant(let inner) = self { inner.content } else { self }
    }

    /// A string or an object path; nil if it is neither.
    package var text: String? {
        switch content {
        case .string(let text), .objectPath(let text): text
        default: nil
        }
    }

    /// A truth value; nil if it is none.
    package var flag: Bool? {
        if case .boolean(let flag) = content { flag } else { nil }
    }

    /// A whole number of up to 32 bits; nil if it is none.
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

    /// An array of bytes; nil if it is none.
    package var byteArray: [UInt8]? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// The texts of an array of strings or object paths; empty if it is none.
    package var texts: [String] {
        if case .array(let elements, _) = content { elements.compactMap(\.text) } else { [] }
    }

    /// The entries of a dictionary; empty if it is none.
    package var entries: [BusValue: BusValue] {
        if case .dictionary(let entries, _) = content { entries } else { [:] }
    }

    /// The entries of a dictionary whose keys are texts, variants taken off; empty if it is none.
    package var properties: BusProperties {
        var properties: BusProperties = [:]
        for (key, value) in entries {
            if let name = key.text { properties[name] = value.content }
        }
        return properties
    }

    /// Properties as the bus writes them: names and variants.
    package static func properties(_ properties: BusProperties) -> BusValue {
        var entries: [BusValue: BusValue] = [:]
        for (name, value) in properties { entries[.string(name)] = .variant(value) }
        return .dictionary(entries, of: "sv")
    }
}
