import IndoorVocabulary

/// A decoder of the messages of gateways.
public struct GatewayDecoder: Sendable {
    /// Creates a decoder.
    public init() {}

    /// Returns the readings of a message, in the order of the message.
    ///
    /// The result depends on the arguments alone. A message that states that a tag is gone has no readings.
    ///
    /// - Parameters:
    ///   - topic: the topic of the message, or the path of an HTTP request; empty if there is none.
    ///   - format: the format; nil detects it from topic and payload.
    /// - Throws: ``GatewayError`` if the message is invalid.
    public func readings(
        topic: String, payload: [UInt8], format: GatewayFormat? = nil
    ) throws(GatewayError) -> [GatewayReading] {
        if format == .indoorloc || format == nil && IndoorlocPayload.begins(payload) {
            return try IndoorlocPayload.readings(topic: topic, payload: payload)
        }
        throw GatewayError(format: format, offset: nil, message: "the format is unknown")
    }
}

/// The reason why a message of a gateway is invalid.
public struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The format that the decoder expected; nil if it detected none.
    public var format: GatewayFormat?
    /// The offset in the payload in bytes; nil if the error concerns the topic or the whole message.
    public var offset: Int?
    /// The error in words, with the field and the value that is expected.
    public var message: String

    /// Creates an error.
    public init(format: GatewayFormat?, offset: Int?, message: String) {
        self.format = format
        self.offset = offset
        self.message = message
    }

    public var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        return "\(format.map { "\($0.rawValue) message" } ?? "message")\(place): \(message)"
    }
}
