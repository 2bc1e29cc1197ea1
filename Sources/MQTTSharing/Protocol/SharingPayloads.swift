import FoundationEssentials
import IndoorVocabulary
import LocalizationSession

/// The JSON payloads of the topics. `Fixtures/sharing` contains the schema of each.
package enum SharingPayload {
    /// The longest payload that is read, in bytes.
    package static let longest = 16_384
    /// The longest packet of MQTT with such a payload: the topic has at most six names in addition to the prefix.
    package static let longestPacket = longest + 4096
    /// The largest number of rooms with a capacity of their own.
    package static let mostLimitedRooms = 1000
    /// The largest number of rooms of a device.
    package static let mostRooms = 64

    /// The payload under `presence`.
    package struct Presence: Codable, Hashable, Sendable {
        package var device: String
        package var name: String?
        /// The ID of the device's connection that published the presence.
        package var session: String
        package var rooms: [String]
        /// Seconds since 1970 (UTC).
        package var sentAt: Double
        /// The number of a signed message, see `SignatureCheck`.
        package var sequence: Int?

        package init(
            device: String, name: String?, session: String, rooms: [String], sentAt: Double, sequence: Int? = nil
        ) {
            (self.device, self.name, self.session) = (device, name, session)
            (self.rooms, self.sentAt, self.sequence) = (rooms, sentAt, sequence)
        }
    }

    /// The payload under `limits`. A missing value means no limit.
    package struct Limits: Codable, Hashable, Sendable {
        package var serverCapacity: Int?
        package var roomCapacity: Int?
        /// The capacities of single rooms, which replace `roomCapacity`.
        package var rooms: [String: Int]?

        package init(serverCapacity: Int? = nil, roomCapacity: Int? = nil, rooms: [String: Int]? = nil) {
            (self.serverCapacity, self.roomCapacity, self.rooms) = (serverCapacity, roomCapacity, rooms)
        }
    }

    /// The payload under `position`.
    fileprivate struct Place: Codable {
        var device: String
        var name: String?
        var room: String
        var venueId: Int
        var mapId: Int
        var level: Int?
        var x: Double
        var y: Double
        var radius: Double
        var label: String?
        var latitude: Double?
        var longitude: Double?
        var course: Double?
        var sentAt: Double
        var sequence: Int?
    }

    /// The payload under `message`.
    fileprivate struct Text: Codable {
        var device: String
        var room: String
        var tag: String
        var text: String
        var sentAt: Double
        var sequence: Int?
    }

    /// The payload under `location`. Keys are those of Home Assistant where it defines one.
    fileprivate struct Location: Codable {
        var latitude: Double?
        var longitude: Double?
        var gps_accuracy: Double?
        var label: String?
        var venueId: Int
        var mapId: Int
        var level: Int?
        var x: Double
        var y: Double
        var radius: Double
        var course: Double?
        var sentAt: Double
    }
}

// MARK: Writing

extension SharingPayload {
    package static func bytes(_ presence: Presence) -> [UInt8] { encoded(presence) }

    package static func bytes(_ limits: Limits) -> [UInt8] { encoded(limits) }

    /// - Parameter position: A valid position.
    package static func bytes(_ position: SharedPosition, sequence: Int? = nil) -> [UInt8] {
        encoded(
            Place(
                device: position.device.rawValue, name: position.name, room: position.room,
                venueId: position.venueID.rawValue, mapId: position.mapID.rawValue, level: position.level,
                x: metres(position.x), y: metres(position.y), radius: metres(position.radius), label: position.label,
                latitude: degrees(position.coordinate?.latitude), longitude: degrees(position.coordinate?.longitude),
                course: course(position.course), sentAt: position.sentAt, sequence: sequence))
    }

    package static func bytes(_ message: SharedMessage, sequence: Int? = nil) -> [UInt8] {
        encoded(
            Text(
                device: message.device.rawValue, room: message.room, tag: message.tag, text: message.text,
                sentAt: message.sentAt, sequence: sequence))
    }

    /// Returns the payload for Home Assistant.
    package static func locationBytes(_ position: SharedPosition) -> [UInt8] {
        encoded(
            Location(
                latitude: degrees(position.coordinate?.latitude), longitude: degrees(position.coordinate?.longitude),
                gps_accuracy: position.coordinate == nil ? nil : metres(position.radius), label: position.label,
                venueId: position.venueID.rawValue, mapId: position.mapID.rawValue, level: position.level,
                x: metres(position.x), y: metres(position.y), radius: metres(position.radius),
                course: course(position.course), sentAt: position.sentAt))
    }

    /// Rounds to the millimetre.
    private static func metres(_ value: Double) -> Double { rounded(value, 1e3) }

    /// Rounds to 1e-8°, a millimetre on the ground.
    private static func degrees(_ value: Double?) -> Double? { value.map { rounded($0, 1e8) } }

    /// Rounds to a tenth of a degree below 360°.
    private static func course(_ value: Double?) -> Double? {
        value.map { rounded($0, 10) }.map { $0 >= 360 ? 0 : $0 }
    }

    /// Rounds a value, or returns it unchanged if scaling would overflow.
    private static func rounded(_ value: Double, _ scale: Double) -> Double {
        let rounded = (value * scale).rounded() / scale
        return rounded.isFinite ? rounded : value
    }

    /// Encodes a value with sorted keys, so that equal values give equal bytes.
    package static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only non-finite numbers could fail, and the callers exclude them.
        return (try? encoder.encode(value)).map { [UInt8]($0) } ?? []
    }
}

// MARK: Reading

extension SharingPayload {
    /// The reason that a payload is malformed.
    package struct Defect: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package static func presence(_ bytes: [UInt8], of device: DeviceID) throws(Defect) -> Presence {
        let presence = try decoded(Presence.self, bytes)
        try check(presence.device == device.rawValue, "'device' is not that of the topic")
        try check(presence.rooms.count <= mostRooms, "'rooms' has more than \(mostRooms) rooms")
        for room in presence.rooms {
            try check(SharingNameError(of: room) == nil, "'rooms' contains an invalid room name")
        }
        return presence
    }

    package static func limits(_ bytes: [UInt8]) throws(Defect) -> Limits {
        let limits = try decoded(Limits.self, bytes)
        let all = [limits.serverCapacity, limits.roomCapacity].compactMap(\.self) + (limits.rooms ?? [:]).values
        // Zero would keep every device out.
        try check(all.allSatisfy { $0 >= 1 }, "a capacity is below 1")
        try check((limits.rooms ?? [:]).count <= mostLimitedRooms, "'rooms' has more than \(mostLimitedRooms) rooms")
        return limits
    }

    package static func position(_ bytes: [UInt8], of device: DeviceID, in room: String) throws(Defect)
        -> SharedPosition
    {
        let place = try decoded(Place.self, bytes)
        try check(place.device == device.rawValue, "'device' is not that of the topic")
        try check(place.room == room, "'room' is not that of the topic")
        try check((place.latitude == nil) == (place.longitude == nil), "either latitude or longitude is missing")
        var coordinate: Coordinate?
        if let latitude = place.latitude, let longitude = place.longitude {
            coordinate = Coordinate(latitude: latitude, longitude: longitude)
        }
        let position = SharedPosition(
            device: device, name: place.name, room: room, venueID: VenueID(rawValue: place.venueId),
            mapID: MapID(rawValue: place.mapId), level: place.level, x: place.x, y: place.y, radius: place.radius,
            label: place.label, coordinate: coordinate, course: place.course, sentAt: place.sentAt)
        if let problem = position.problem { throw Defect(description: "\(problem)") }
        return position
    }

    package static func message(_ bytes: [UInt8], of device: DeviceID, in room: String) throws(Defect) -> SharedMessage
    {
        let text = try decoded(Text.self, bytes)
        try check(text.device == device.rawValue, "'device' is not that of the topic")
        try check(text.room == room, "'room' is not that of the topic")
        try check(text.text.utf8.count <= MQTTSharingSettings.longestText, "'text' is too long")
        try check(text.tag.utf8.count <= MQTTSharingSettings.longestTag, "'tag' is too long")
        return SharedMessage(device: device, room: room, tag: text.tag, text: text.text, sentAt: text.sentAt)
    }

    private static func check(_ isRight: Bool, _ reason: String) throws(Defect) {
        guard isRight else { throw Defect(description: reason) }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(Defect) -> Value {
        try check(bytes.count <= longest, "the payload has \(bytes.count) bytes, more than \(longest)")
        do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch {
            throw Defect(description: reason(error))
        }
    }

    /// Returns a one-line description of an error of the JSON decoder.
    private static func reason(_ error: any Error) -> String {
        func key(_ context: DecodingError.Context) -> String { context.codingPath.last?.stringValue ?? "the payload" }
        switch error as? DecodingError {
        case .keyNotFound(let key, _): return "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context): return "'\(key(context))' has the wrong type"
        case .valueNotFound(_, let context): return "'\(key(context))' is null"
        // The decoder doesn't distinguish these two cases.
        default: return "the payload is not JSON, or a number is out of range"
        }
    }
}

/// The meaning of a topic.
package enum SharingTopic: Hashable, Sendable {
    /// Retained: the capacities, set by the operator of the broker.
    case limits
    /// Retained: the presence of a device and its rooms. The device's last will removes it.
    case presence(DeviceID)
    /// Retained: the location of a device, for Home Assistant.
    case location(DeviceID)
    /// The position of a device, published to a room.
    case position(room: String, DeviceID)
    /// A text from a device to a room.
    case message(room: String, DeviceID)
}

/// The topic names under a prefix.
package struct SharingTopics: Hashable, Sendable {
    package let prefix: String

    package init(prefix: String) { self.prefix = prefix }

    /// The filter for the presence of every device.
    package var presenceFilter: String { "\(prefix)/devices/+/presence" }

    /// Returns the filter for all messages of a room.
    package func filter(ofRoom room: String) -> String { "\(prefix)/rooms/\(room)/devices/+/+" }

    package func name(_ topic: SharingTopic) -> String {
        switch topic {
        case .limits: "\(prefix)/limits"
        case .presence(let device): "\(prefix)/devices/\(device)/presence"
        case .location(let device): "\(prefix)/devices/\(device)/location"
        case .position(let room, let device): "\(prefix)/rooms/\(room)/devices/\(device)/position"
        case .message(let room, let device): "\(prefix)/rooms/\(room)/devices/\(device)/message"
        }
    }

    /// Returns the meaning of a topic name; nil if the name is unknown.
    package func topic(_ name: String) -> SharingTopic? {
        guard name.utf8.starts(with: (prefix + "/").utf8) else { return nil }
        let levels = name.unicodeScalars.dropFirst(prefix.unicodeScalars.count + 1).split(
            separator: "/", omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        func device(_ index: Int) -> DeviceID? { DeviceID(rawValue: levels[index]) }
        switch (levels.count, levels.first, levels.last) {
        case (1, "limits", _): return .limits
        case (3, "devices", "presence"): return device(1).map { .presence($0) }
        case (3, "devices", "location"): return device(1).map { .location($0) }
        case (5, "rooms", let last) where levels[2] == "devices" && SharingNameError(of: levels[1]) == nil:
            guard let device = device(3) else { return nil }
            if last == "position" { return .position(room: levels[1], device) }
            return last == "message" ? .message(room: levels[1], device) : nil
        default: return nil
        }
    }
}

/// A message under a topic.
package struct MQTTMessage: Hashable, Sendable {
    /// The quality of service of a message.
    package enum Quality: Int32, Hashable, Sendable {
        /// The message arrives once or, if a connection breaks, not at all (QoS 0).
        case atMostOnce = 0
        /// The message arrives once or several times (QoS 1).
        case atLeastOnce = 1
    }

    /// The topic's name.
    package var topic: String
    /// The content. A retained message with empty content removes the topic's retained message.
    package var payload: [UInt8]
    /// The quality of service.
    package var quality: Quality
    /// Whether the broker retains the message for later subscribers. For a received message: whether it was retained.
    package var isRetained: Bool

    /// Creates a message.
    package init(topic: String, payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.quality = quality
        self.isRetained = isRetained
    }
}
