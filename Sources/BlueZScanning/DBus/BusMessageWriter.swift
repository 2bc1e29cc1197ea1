import CDBus

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
