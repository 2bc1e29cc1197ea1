import CNATS

/// A message of an ``OrderedSubscription``.
struct OrderedMessage: ~Copyable {
    private let pointer: OpaquePointer
    /// The number of this message among those of its consumer, from 1; nil for a message that isn't from a stream.
    let order: UInt64?
    /// The number in the stream.
    let sequence: UInt64
    /// The time at which the stream stored it, by the server's clock, in nanoseconds since 1970.
    let storedAt: Int64
    /// The number of messages that followed this one in the consumer when the server sent it.
    let pending: UInt64

    /// Takes ownership of a message of libnats, which is destroyed with this value.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        var data: UnsafeMutablePointer<jsMsgMetaData>?
        defer { jsMsgMetaData_Destroy(data) }
        guard natsMsg_GetMetaData(&data, pointer) == NATS_OK, let data = data?.pointee else {
            (order, sequence, storedAt, pending) = (nil, 0, 0, 0)
            return
        }
        order = data.Sequence.Consumer
        sequence = data.Sequence.Stream
        storedAt = data.Timestamp
        pending = data.NumPending
    }

    deinit { natsMsg_Destroy(pointer) }

    var subject: String { String(cString: natsMsg_GetSubject(pointer)) }

    /// The subject for an answer; nil for none.
    var reply: String? { natsMsg_GetReply(pointer).map { String(cString: $0) } }

    var bytes: [UInt8] {
        let count = Int(natsMsg_GetDataLength(pointer))
        return [UInt8](UnsafeRawBufferPointer(start: natsMsg_GetData(pointer), count: count))
    }

    /// Returns the value of a header; nil if the message doesn't have it.
    func header(_ name: String) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(pointer, name, &value) == NATS_OK else { return nil }
        return value.map { String(cString: $0) }
    }
}
