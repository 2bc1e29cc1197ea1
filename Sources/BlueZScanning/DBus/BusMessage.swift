import CDBus

/// A message on a D-Bus message bus.
///
/// Source: D-Bus Specification 0.42, Message Protocol.
package struct BusMessage: Hashable, Sendable {
    /// The type of a message.
    package enum Kind: Hashable, Sendable {
        case methodCall
        case methodReturn
        case error
        case signal
    }

    package var kind: Kind
    /// The sender's serial number of the message; 0 lets the bus library choose one.
    package var serial: UInt32 = 0
    /// The serial number of the call that this message answers; 0 if it answers none.
    package var replySerial: UInt32 = 0
    /// The bus name of the sender.
    package var sender: String?
    package var destination: String?
    package var path: String?
    package var interface: String?
    package var member: String?
    package var errorName: String?
    /// Whether the caller expects an answer.
    package var expectsReply = false
    package var body: [BusValue] = []

    package init(kind: Kind) { self.kind = kind }

    /// Returns a call of an object's method that expects an answer.
    package static func call(
        _ member: String, of interface: String, on path: String, at destination: String, serial: UInt32,
        _ body: [BusValue] = []
    ) -> BusMessage {
        var message = BusMessage(kind: .methodCall)
        message.serial = serial
        message.destination = destination
        message.path = path
        message.interface = interface
        message.member = member
        message.expectsReply = true
        message.body = body
        return message
    }

    /// Returns the answer to this call.
    package func reply(_ body: [BusValue] = []) -> BusMessage {
        var message = BusMessage(kind: .methodReturn)
        message.destination = sender
        message.replySerial = serial
        message.body = body
        return message
    }

    /// Returns an error answer to this call.
    package func refusal(_ errorName: String, _ text: String) -> BusMessage {
        var message = reply([.string(text)])
        message.kind = .error
        message.errorName = errorName
        return message
    }

    /// The error's text, if it has one, and its name.
    package var errorText: String {
        let name = errorName ?? "an error without a name"
        guard let text = body.first?.text, !text.isEmpty else { return name }
        return "\(text) (\(name))"
    }
}

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

/// A converter from values to libdbus messages.
enum BusMessageWriter {
    /// Returns a new libdbus message, which the caller must release with `dbus_message_unref`; nil if memory is
    /// exhausted.
    ///
    /// Names and paths must be well-formed, as libdbus requires.
    static func write(_ message: BusMessage) -> OpaquePointer? {
        guard let result = dbus_message_new(type(of: message.kind)) else { return nil }
        if message.serial != 0 { dbus_message_set_serial(result, message.serial) }
        dbus_message_set_no_reply(result, message.kind == .methodCall && message.expectsReply ? 0 : 1)
        var isWhole = message.replySerial == 0 || dbus_message_set_reply_serial(result, message.replySerial) != 0
        isWhole = dbus_message_set_destination(result, message.destination) != 0 && isWhole
        isWhole = dbus_message_set_path(result, message.path) != 0 && isWhole
        isWhole = dbus_message_set_interface(result, message.interface) != 0 && isWhole
        isWhole = dbus_message_set_member(result, message.member) != 0 && isWhole
        isWhole = dbus_message_set_error_name(result, message.errorName) != 0 && isWhole
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(result, &iterator)
        for value in message.body where isWhole { isWhole = append(value, to: &iterator) }
        guard isWhole else {
            dbus_message_unref(result)
            return nil
        }
        return result
    }

    private static func type(of kind: BusMessage.Kind) -> Int32 {
        switch kind {
        case .methodCall: DBUS_MESSAGE_TYPE_METHOD_CALL
        case .methodReturn: DBUS_MESSAGE_TYPE_METHOD_RETURN
        case .error: DBUS_MESSAGE_TYPE_ERROR
        case .signal: DBUS_MESSAGE_TYPE_SIGNAL
        }
    }

    /// Appends a value; returns false if memory is exhausted.
    private static func append(_ value: BusValue, to iterator: inout DBusMessageIter) -> Bool {
        switch value {
        case .boolean(let flag): basic(UInt32(flag ? 1 : 0), BusType.boolean, &iterator)
        case .byte(let number): basic(number, BusType.byte, &iterator)
        case .int16(let number): basic(number, BusType.int16, &iterator)
        case .uint16(let number): basic(number, BusType.uint16, &iterator)
        case .int32(let number): basic(number, BusType.int32, &iterator)
        case .uint32(let number): basic(number, BusType.uint32, &iterator)
        case .int64(let number): basic(number, BusType.int64, &iterator)
        case .uint64(let number): basic(number, BusType.uint64, &iterator)
        case .double(let number): basic(number, BusType.double, &iterator)
        case .string(let text): text.withCString { basic($0, BusType.string, &iterator) }
        case .objectPath(let text): text.withCString { basic($0, BusType.objectPath, &iterator) }
        case .signature(let text): text.withCString { basic($0, BusType.signature, &iterator) }
        case .bytes(let bytes): container(BusType.array, "y", &iterator, bytes.map(BusValue.byte))
        case .array(let elements, let element): container(BusType.array, element, &iterator, elements)
        case .dictionary(let entries, let entry): dictionary(entries, entry, &iterator)
        case .structure(let fields): container(BusType.structure, nil, &iterator, fields)
        case .variant(let inner): container(BusType.variant, inner.typeSignature, &iterator, [inner])
        // The package sends no values of such types.
        case .unread: false
        }
    }

    private static func basic<Value: BitwiseCopyable>(
        _ value: Value, _ type: Int32, _ iterator: inout DBusMessageIter
    ) -> Bool {
        withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type, $0) != 0 }
    }

    private static func container(
        _ type: Int32, _ signature: String?, _ iterator: inout DBusMessageIter, _ values: [BusValue]
    ) -> Bool {
        inContainer(type, signature, &iterator) { inner in
            values.allSatisfy { append($0, to: &inner) }
        }
    }

    private static func dictionary(
        _ entries: [BusValue: BusValue], _ signature: String, _ iterator: inout DBusMessageIter
    ) -> Bool {
        inContainer(BusType.array, "{\(signature)}", &iterator) { inner in
            entries.allSatisfy { container(BusType.entry, nil, &inner, [$0.key, $0.value]) }
        }
    }

    private static func inContainer(
        _ type: Int32, _ signature: String?, _ iterator: inout DBusMessageIter,
        _ fill: (inout DBusMessageIter) -> Bool
    ) -> Bool {
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, type, signature, &inner) != 0 else { return false }
        guard fill(&inner) else {
            dbus_message_iter_abandon_container(&iterator, &inner)
            return false
        }
        return dbus_message_iter_close_container(&iterator, &inner) != 0
    }
}
