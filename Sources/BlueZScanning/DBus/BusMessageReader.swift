import CDBus

/// A converter from libdbus messages to values.
///
/// libdbus validates every incoming message against the specification (types, lengths, UTF-8, nesting up to 64 levels),
/// so the reader can rely on well-formed messages.
enum BusMessageReader {
    /// Returns a copy of a message; nil if its type is unknown. The caller keeps ownership of the message.
    static func read(_ message: OpaquePointer) -> BusMessage? {
        guard let kind = kind(of: dbus_message_get_type(message)) else { return nil }
        var result = BusMessage(kind: kind)
        result.serial = dbus_message_get_serial(message)
        result.replySerial = dbus_message_get_reply_serial(message)
        result.sender = dbus_message_get_sender(message).map { String(cString: $0) }
        result.destination = dbus_message_get_destination(message).map { String(cString: $0) }
        result.path = dbus_message_get_path(message).map { String(cString: $0) }
        result.interface = dbus_message_get_interface(message).map { String(cString: $0) }
        result.member = dbus_message_get_member(message).map { String(cString: $0) }
        result.errorName = dbus_message_get_error_name(message).map { String(cString: $0) }
        result.expectsReply = kind == .methodCall && dbus_message_get_no_reply(message) == 0
        var iterator = DBusMessageIter()
        if dbus_message_iter_init(message, &iterator) != 0 { result.body = values(&iterator) }
        return result
    }

    private static func kind(of type: Int32) -> BusMessage.Kind? {
        switch type {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: nil
        }
    }

    /// Returns all values from the iterator's position on.
    private static func values(_ iterator: inout DBusMessageIter) -> [BusValue] {
        var values: [BusValue] = []
        while dbus_message_iter_get_arg_type(&iterator) != BusType.end {
            values.append(value(&iterator))
            dbus_message_iter_next(&iterator)
        }
        return values
    }

    private static func value(_ iterator: inout DBusMessageIter) -> BusValue {
        let type = dbus_message_iter_get_arg_type(&iterator)
        switch type {
        case BusType.boolean: return .boolean(basic(&iterator, UInt32(0)) != 0)
        case BusType.byte: return .byte(basic(&iterator, 0))
        case BusType.int16: return .int16(basic(&iterator, 0))
        case BusType.uint16: return .uint16(basic(&iterator, 0))
        case BusType.int32: return .int32(basic(&iterator, 0))
        case BusType.uint32: return .uint32(basic(&iterator, 0))
        case BusType.int64: return .int64(basic(&iterator, 0))
        case BusType.uint64: return .uint64(basic(&iterator, 0))
        case BusType.double: return .double(basic(&iterator, 0))
        case BusType.string: return .string(text(&iterator))
        case BusType.objectPath: return .objectPath(text(&iterator))
        case BusType.signature: return .signature(text(&iterator))
        case BusType.array: return array(&iterator)
        case BusType.structure:
            var inner = inside(&iterator)
            return .structure(values(&inner))
        case BusType.variant:
            var inner = inside(&iterator)
            return .variant(value(&inner))
        default: return .unread(UInt8(truncatingIfNeeded: type))
        }
    }

    private static func array(_ iterator: inout DBusMessageIter) -> BusValue {
        let elementType = dbus_message_iter_get_element_type(&iterator)
        var inner = inside(&iterator)
        if elementType == BusType.byte {
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            dbus_message_iter_get_fixed_array(&inner, &start, &count)
            return .bytes(Array(UnsafeBufferPointer(start: start, count: Int(count))))
        }
        let signature = signature(&inner)
        guard elementType == BusType.entry else { return .array(values(&inner), of: signature) }
        var entries: [BusValue: BusValue] = [:]
        while dbus_message_iter_get_arg_type(&inner) == BusType.entry {
            var entry = inside(&inner)
            let pair = values(&entry)
            if pair.count == 2 { entries[pair[0]] = pair[1] }
            dbus_message_iter_next(&inner)
        }
        // Remove the braces of an entry.
        return .dictionary(entries, of: String(signature.dropFirst().dropLast()))
    }

    private static func inside(_ iterator: inout DBusMessageIter) -> DBusMessageIter {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return inner
    }

    private static func signature(_ iterator: inout DBusMessageIter) -> String {
        guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
        defer { dbus_free(text) }
        return String(cString: text)
    }

    private static func basic<Value: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ start: Value) -> Value {
        var value = start
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }

    private static func text(_ iterator: inout DBusMessageIter) -> String {
        var text: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &text)
        return text.map { String(cString: $0) } ?? ""
    }
}

/// Type codes. The header defines them as casts of characters, which Swift can't import.
enum BusType {
    static let end: Int32 = 0
    static let boolean = Int32(UInt8(ascii: "b"))
    static let byte = Int32(UInt8(ascii: "y"))
    static let int16 = Int32(UInt8(ascii: "n"))
    static let uint16 = Int32(UInt8(ascii: "q"))
    static let int32 = Int32(UInt8(ascii: "i"))
    static let uint32 = Int32(UInt8(ascii: "u"))
    static let int64 = Int32(UInt8(ascii: "x"))
    static let uint64 = Int32(UInt8(ascii: "t"))
    static let double = Int32(UInt8(ascii: "d"))
    static let string = Int32(UInt8(ascii: "s"))
    static let objectPath = Int32(UInt8(ascii: "o"))
    static let signature = Int32(UInt8(ascii: "g"))
    static let array = Int32(UInt8(ascii: "a"))
    static let structure = Int32(UInt8(ascii: "r"))
    static let variant = Int32(UInt8(ascii: "v"))
    static let entry = Int32(UInt8(ascii: "e"))
}
