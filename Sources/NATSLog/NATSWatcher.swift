import CNATS
import TagTracking

/// A reader of the current values of a bucket, and of the changes after them.
///
/// It reads the bucket's stream with an ordered consumer. libnats has watchers, but in version 3.4 the end of one deletes its
/// consumer, and reads the consumer's name without a lock while the library's own thread may free it to make the consumer
/// anew. The end of this reader leaves the consumer to the server, which deletes it after five seconds without interest.
final class NATSWatcher {
    private let subscription: OpaquePointer
    private let patience: Int64
    /// The part of a subject before the key.
    private let prefix: String
    /// Whether the end of the current values is still to be reported, and whether it is reached.
    private var (awaitsEnd, isAtEnd) = (true, false)

    /// Begins to read.
    ///
    /// - Parameter milliseconds: the time that `next()` waits.
    init(_ context: NATSHandle, bucket: String, until milliseconds: Int64) throws(NATSFailure) {
        let prefix = "$KV.\(bucket)."
        let stream = "KV_\(bucket)"
        let subscription = try OrderedSubscription.make(context, stream: stream, subject: prefix + ">") {
            $0.DeliverPolicy = js_DeliverLastPerSubject
        }
        (self.subscription, self.prefix, patience) = (subscription, prefix, milliseconds)
        // No message reports the end of the current values if there are none.
        var code = jsErrCode(0)
        var info: UnsafeMutablePointer<jsStreamInfo>?
        try NATSFailure.check(js_GetStreamInfo(&info, context.pointer, stream, nil, &code), code: code)
        defer { jsStreamInfo_Destroy(info) }
        isAtEnd = info?.pointee.State.Msgs == 0
    }

    deinit { natsSubscription_Destroy(subscription) }

    /// Returns the next value; nil once after the last current one. Deleted values are left out.
    ///
    /// - Throws: a failure with the status `NATS_TIMEOUT` if no value follows in time.
    func next() throws(NATSFailure) -> NATSBucket.Entry? {
        while true {
            if awaitsEnd, isAtEnd {
                awaitsEnd = false
                return nil
            }
            var message: OpaquePointer?
            try NATSFailure.check(natsSubscription_NextMsg(&message, subscription, patience))
            guard let message else { continue }
            defer { natsMsg_Destroy(message) }
            var data: UnsafeMutablePointer<jsMsgMetaData>?
            try NATSFailure.check(natsMsg_GetMetaData(&data, message))
            guard let data else { continue }
            defer { jsMsgMetaData_Destroy(data) }
            if data.pointee.NumPending == 0 { isAtEnd = true }
            var operation: UnsafePointer<CChar>?
            guard natsMsgHeader_Get(message, "KV-Operation", &operation) != NATS_OK else { continue }
            return NATSBucket.Entry(
                key: String(String(cString: natsMsg_GetSubject(message)).dropFirst(prefix.count)),
                value: OrderedSubscription.bytes(of: message), revision: data.pointee.Sequence.Stream,
                writtenAt: data.pointee.Timestamp)
        }
    }
}
