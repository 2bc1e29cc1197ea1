import IndoorVocabulary
import TextFormats

/// A decoder of the messages of gateways.
package struct GatewayDecoder: Sendable {
    /// Whether readings contain the advertising data of messages that have them.
    private let keepsAdvertisingData: Bool

    /// Creates a decoder.
    ///
    /// - Parameter keepsAdvertisingData: whether readings contain the advertising data of messages that have them.
    package init(keepsAdvertisingData: Bool = false) { self.keepsAdvertisingData = keepsAdvertisingData }

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
    package func readings(
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
        case .ruuvi: return try RuuviMessage.readings(topic: topic, payload: payload, keepsData: keepsAdvertisingData)
        case .ruuviHTTP: return try RuuviBatch.readings(payload: payload, keepsData: keepsAdvertisingData)
        case .minewLong: return try MinewLongMessage.readings(payload: payload)
        case .minewRaw: return try MinewRawMessage.readings(payload: payload)
        case .minewBinary: return try MinewBinaryMessage.readings(payload: payload)
        case .shelly: return try ShellyMessage.readings(topic: topic, payload: payload, keepsData: keepsAdvertisingData)
        case .tasmota: return try TasmotaMessage.readings(topic: topic, payload: payload)
        case .roomAssistant: return try RoomAssistantMessage.readings(topic: topic, payload: payload)
        case .kontakt: return try KontaktMessage.readings(payload: payload)
        case .raddec: return try RaddecMessage.readings(payload: payload, keepsData: keepsAdvertisingData)
        case .indoorloc: return try IndoorlocPayload.readings(topic: name, payload: payload)
        }
    }
}

/// The reason why a message of a gateway is invalid.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The format that the decoder expected; nil if it detected none.
    package var format: GatewayFormat?
    /// The offset in the payload in bytes; nil if the error concerns the topic or the whole message.
    package var offset: Int?
    /// The error in words, with the field and the value that is expected.
    package var message: String

    /// Creates an error.
    package init(format: GatewayFormat?, offset: Int?, message: String) {
        self.format = format
        self.offset = offset
        self.message = message
    }

    package var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        return "\(format.map { "\($0.rawValue) message" } ?? "message")\(place): \(message)"
    }
}

/// The format of a gateway's messages.
package enum GatewayFormat: String, Hashable, Sendable, CaseIterable {
    /// ESPresense: `espresense/devices/ID/ROOM`.
    case espresense
    /// OpenMQTTGateway: `home/GATEWAY/BTtoMQTT/ADDRESS`.
    case openMQTTGateway
    /// Theengs Gateway: `home/TheengsGateway/BTtoMQTT/ADDRESS`.
    case theengs
    /// Ruuvi Gateway over MQTT: `ruuvi/GATEWAY/TAG`.
    case ruuvi
    /// Ruuvi Gateway over HTTP.
    case ruuviHTTP
    /// Minew gateways, format JSON-LONG.
    case minewLong
    /// Minew gateways, format JSON-RAW.
    case minewRaw
    /// Minew gateways, format BINARY-LONG.
    case minewBinary
    /// Scan events of Shelly devices.
    case shelly
    /// Tasmota on ESP32: `tele/TOPIC/BLE` and `tele/TOPIC/SENSOR`.
    case tasmota
    /// room-assistant: `room-assistant/entity/…`.
    case roomAssistant
    /// Streams of Kontakt.io.
    case kontakt
    /// raddec of reelyActive.
    case raddec
    /// `indoorloc scan --publish`.
    case indoorloc
}

/// The detection of a format by the topic of a message, or else by the shape of its payload.
enum GatewayFormatDetector {
    /// Returns the format; nil if neither the topic nor the payload is known.
    static func format(topic: GatewayTopic, payload: [UInt8]) -> GatewayFormat? {
        format(of: topic) ?? format(of: payload)
    }

    // MARK: - Topic

    private static func format(of topic: GatewayTopic) -> GatewayFormat? {
        if topic.matches(-3, "gateways"), topic.matches(-1, "advertisements") || topic.matches(-1, "presence") {
            return .indoorloc
        }
        if topic.matches(0, "espresense") || topic.matches(-4, "espresense") { return .espresense }
        if topic.matches(0, "ruuvi"), topic.count >= 3 { return .ruuvi }
        if let index = topic.firstIndex(of: "BTtoMQTT") {
            return index > 0 && topic.matches(index - 1, "TheengsGateway") ? .theengs : .openMQTTGateway
        }
        if topic.matches(-2, "home_presence") || topic.matches(-1, "SYStoMQTT") { return .openMQTTGateway }
        if topic.matches(-1, "presence"), topic.matches(-2, "TheengsGateway") { return .theengs }
        if topic.matches(0, "room-assistant") || topic.matches(0, "room_presence") { return .roomAssistant }
        if topic.matches(-1, "rpc"), topic.matches(-2, "events") { return .shelly }
        if topic.matches(0, "tele") || topic.matches(-2, "tele") { return .tasmota }
        return nil
    }

    // MARK: - Payload

    private static func format(of payload: [UInt8]) -> GatewayFormat? {
        if payload.starts(with: [0xBB, 0x01]) { return .minewBinary }
        if IndoorlocPayload.begins(payload) { return .indoorloc }
        var json = JSONReader(payload, limits: .gateway)
        return try? format(of: &json)
    }

    private static func format(of json: inout JSONReader) throws(JSONReader.Failure) -> GatewayFormat? {
        guard try json.kind() == .array else { return try formatOfObject(&json) }
        try json.enterArray()
        guard try json.nextElement() else { return nil }
        switch try json.kind() {
        case .number: return .shelly
        case .object: return try formatOfElement(&json)
        default: return nil
        }
    }

    /// Returns the format of an array by its first object.
    private static func formatOfElement(_ json: inout JSONReader) throws(JSONReader.Failure) -> GatewayFormat? {
        try json.enterObject()
        while let key = try json.nextKey() {
            if json.matches(key, "gateway") { return .minewRaw }
            if json.matches(key, "trackingId") { return .kontakt }
            if json.matches(key, "transmitterId") { return .raddec }
            if json.matches(key, "type"), try json.kind() == .string {
                let type = try json.string()
                if json.matches(type, "Gateway") { return .minewLong }
            } else {
                try json.skipValue()
            }
        }
        return nil
    }

    /// Returns the format of an object by the first key that only one format has.
    private static func formatOfObject(_ json: inout JSONReader) throws(JSONReader.Failure) -> GatewayFormat? {
        var hasID = false
        var hasRSSI = false
        try json.enterObject()
        while let key = try json.nextKey() {
            if json.matches(key, "gw_mac") { return .ruuvi }
            if json.matches(key, "entity") { return .roomAssistant }
            if json.matches(key, "trackingId") { return .kontakt }
            if json.matches(key, "transmitterId") { return .raddec }
            if json.matches(key, "DetailsBLE") || json.matches(key, "BLEDevices") { return .tasmota }
            if json.withBytes(of: key, { $0.starts(with: "IBEACON") }) { return .tasmota }
            if json.matches(key, "rssi@1m") || json.matches(key, "rxAdj") { return .espresense }
            if json.matches(key, "params") || json.matches(key, "event") { return .shelly }
            if json.matches(key, "data"), try json.kind() == .object { return .ruuviHTTP }
            if json.matches(key, "id") { hasID = true }
            if json.matches(key, "rssi") { hasRSSI = true }
            try json.skipValue()
        }
        return hasID && hasRSSI ? .openMQTTGateway : nil
    }
}

/// The levels of a topic, or of the path of an HTTP request, between slashes.
struct GatewayTopic {
    private let text: String
    /// The place of each level in the UTF-8 of the text.
    private let levels: [Range<Int>]

    /// Creates a topic. A slash at the start doesn't begin a level, so that a path counts as a topic.
    init(_ topic: String) {
        text = topic
        levels = Self.levels(topic.utf8.span)
    }

    /// The number of levels.
    var count: Int { levels.count }

    /// Returns the text of a level; nil if the level doesn't exist or is empty.
    ///
    /// - Parameter number: the number of the level, from 0; a negative one counts from the end, with -1 for the last.
    func text(_ number: Int) -> String? {
        guard let range = range(number), !range.isEmpty else { return nil }
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return String(text[start..<utf8.index(start, offsetBy: range.count)])
    }

    /// Returns whether a level is equal to a word of ASCII.
    @inline(__always)
    func matches(_ number: Int, _ word: StaticString) -> Bool {
        guard let range = range(number), range.count == word.utf8CodeUnitCount else { return false }
        return text.utf8.span.extracting(range).equals(word)
    }

    /// Returns the number of the first level that is equal to a word; nil without one.
    @inline(__always)
    func firstIndex(of word: StaticString) -> Int? { levels.indices.first { matches($0, word) } }

    /// Passes the bytes of a level to a closure; returns nil if the level doesn't exist.
    func withBytes<Result>(of number: Int, _ body: (Span<UInt8>) -> Result?) -> Result? {
        guard let range = range(number) else { return nil }
        return body(text.utf8.span.extracting(range))
    }

    @inline(__always)
    private func range(_ number: Int) -> Range<Int>? {
        let index = number < 0 ? levels.count + number : number
        return levels.indices.contains(index) ? levels[index] : nil
    }

    private static func levels(_ text: Span<UInt8>) -> [Range<Int>] {
        var start = !text.isEmpty && text[0] == UInt8(ascii: "/") ? 1 : 0
        guard start < text.count else { return [] }
        var levels: [Range<Int>] = []
        levels.reserveCapacity(8)
        for index in start..<text.count where text[index] == UInt8(ascii: "/") {
            levels.append(start..<index)
            start = index + 1
        }
        levels.append(start..<text.count)
        return levels
    }
}

/// A reading of a tag as a gateway reports it. ``TagIntake`` determines the key of the tag and the instant of the
/// reading.
package struct GatewayReading: Hashable, Sendable {
    /// The receiver's name in the message or its topic.
    package var receiver: String
    /// The address of the tag; nil if the message doesn't contain it.
    package var address: DeviceAddress?
    /// The beacon that the tag advertises; nil if it advertises none, or if the message doesn't contain it.
    package var beacon: BeaconIdentity?
    /// The name by which the gateway identifies the tag, because the gateway has resolved its address or the gateway's
    /// user has named it; nil without one.
    package var identifier: String?
    /// The name that the tag advertises, or another one that several tags may have; nil without one.
    package var name: String?
    /// The RSSI in dBm; see ``Sighting/isMeasurement(rssi:)``.
    package var rssi: Double
    /// The time over which the gateway has filtered the RSSI; zero for the RSSI of one advertisement.
    package var window: Duration
    /// The time by the gateway's clock; nil without one.
    package var time: GatewayTime?
    /// The advertising channel, from 37 to 39; nil if unknown.
    package var channel: UInt8?
    /// The signal strength at 1 m that the tag advertises, in dBm; nil if unknown.
    package var measuredPower: Double?
    /// The AD structures of the advertisement; empty unless the decoder keeps them and the message contains them.
    package var advertisingData: [UInt8] = []
    /// The battery of the tag; nil if the message doesn't have it.
    package var battery: TagBattery?

    /// Creates a reading from its parts without checking them.
    package init(
        receiver: String, address: DeviceAddress? = nil, beacon: BeaconIdentity? = nil,
        identifier: String? = nil, name: String? = nil, rssi: Double, window: Duration = .zero,
        time: GatewayTime? = nil, channel: UInt8? = nil, measuredPower: Double? = nil
    ) {
        self.receiver = receiver
        self.address = address
        self.beacon = beacon
        self.identifier = identifier
        self.name = name
        self.rssi = rssi
        self.window = window
        self.time = time
        self.channel = channel
        self.measuredPower = measuredPower
    }
}

/// A time by the clock of a gateway, which may be wrong by any amount.
package struct GatewayTime: Hashable, Sendable {
    /// Nanoseconds since the zero point of the gateway's clock, usually the Unix epoch.
    package var nanoseconds: Int64
    /// The resolution of the clock, such as one second.
    package var resolution: Duration
    /// Whether the message states no zone, so that the time counts as UTC but may be that of the gateway's place.
    package var isLocal: Bool
    /// Whether the gateway gives this one time to several advertisements that it sends together.
    package var isShared = false

    /// Creates a time.
    package init(nanoseconds: Int64, resolution: Duration, isLocal: Bool = false) {
        self.nanoseconds = nanoseconds
        self.resolution = resolution
        self.isLocal = isLocal
    }
}
