import TextFormats

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
            if json.matches(key, "DetailsBLE") { return .tasmota }
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
