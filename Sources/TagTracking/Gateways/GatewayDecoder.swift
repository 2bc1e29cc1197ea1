import IndoorVocabulary

/// A decoder of the messages of gateways.
public struct GatewayDecoder: Sendable {
    /// Creates a decoder.
    public init() {}

    /// Returns the readings of a message, in the order of the message.
    ///
    /// The result depends on the arguments alone. A message that states that a tag is gone has no readings, and neither
    /// has a message about the gateway itself. An RSSI that isn't a measurement gives no reading: 0 dBm and above,
    /// which includes 127, and −128 dBm.
    ///
    /// - Parameters:
    ///   - topic: the topic of the message, or the path of an HTTP request; empty if there is none.
    ///   - format: the format; nil detects it from topic and payload.
    /// - Throws: ``GatewayError`` if the message is invalid.
    public func readings(
        topic: String, payload: [UInt8], format: GatewayFormat? = nil
    ) throws(GatewayError) -> [GatewayReading] {
        let name = topic
        let topic = GatewayTopic(topic)
        guard let format = format ?? GatewayFormatDetector.format(topic: topic, payload: payload) else {
            throw GatewayError(
                format: nil, offset: nil,
                message: "the format is unknown: expected a topic or a payload of a supported gateway")
        }
        switch format {
        case .espresense: return try ESPresenseMessage.readings(topic: topic, payload: payload)
        case .openMQTTGateway, .theengs:
            return try OpenMQTTMessage.readings(topic: topic, payload: payload, format: format)
        case .ruuvi: return try RuuviMessage.readings(topic: topic, payload: payload)
        case .ruuviHTTP: return try RuuviBatch.readings(payload: payload)
        case .minewLong: return try MinewLongMessage.readings(payload: payload)
        case .minewRaw: return try MinewRawMessage.readings(payload: payload)
        case .minewBinary: return try MinewBinaryMessage.readings(payload: payload)
        case .shelly: return try ShellyMessage.readings(topic: topic, payload: payload)
        case .tasmota: return try TasmotaMessage.readings(topic: topic, payload: payload)
        case .roomAssistant: return try RoomAssistantMessage.readings(topic: topic, payload: payload)
        case .kontakt: return try KontaktMessage.readings(payload: payload)
        case .raddec: return try RaddecMessage.readings(payload: payload)
        case .indoorloc: return try IndoorlocPayload.readings(topic: name, payload: payload)
        }
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
    package init(format: GatewayFormat?, offset: Int?, message: String) {
        self.format = format
        self.offset = offset
        self.message = message
    }

    public var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        return "\(format.map { "\($0.rawValue) message" } ?? "message")\(place): \(message)"
    }
}
