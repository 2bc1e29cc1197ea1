import CNATS

/// The parts of reading a stream in order that the log and the buckets share.
enum OrderedSubscription {
    /// Makes an ordered consumer, which libnats makes anew if its order is interrupted.
    ///
    /// - Parameter configure: chooses the first message.
    static func make(
        _ context: NATSHandle, stream: String, subject: String, configure: (inout jsConsumerConfig) -> Void
    ) throws(NATSFailure) -> OpaquePointer {
        var options = jsSubOptions()
        try NATSFailure.check(jsSubOptions_Init(&options))
        options.Ordered = true
        configure(&options.Config)
        var code = jsErrCode(0)
        var subscription: OpaquePointer?
        let status = stream.withCString { stream in
            options.Stream = stream
            return js_SubscribeSync(&subscription, context.pointer, subject, nil, &options, &code)
        }
        guard status == NATS_OK, let subscription else { throw NATSFailure(status, code: code) }
        // The flow control of the consumer limits the number of messages that wait.
        natsSubscription_SetPendingLimits(subscription, -1, -1)
        return subscription
    }

    /// Copies the data of a message.
    static func bytes(of message: OpaquePointer) -> [UInt8] {
        let count = Int(natsMsg_GetDataLength(message))
        return [UInt8](UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count))
    }
}
