import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

extension FleetOutput {
    /// The output as one line of JSON, without a line break.
    ///
    /// The members `tag`, `epoch`, `sequence`, `time` (RFC 3339, UTC, milliseconds) and `type` are in each output, and
    /// `name` if the tag has one. The type is `present`, `position`, `enterRoom`, `exitRoom`, `enterFence`,
    /// `exitFence`, `enterGeofence`, `exitGeofence`, `room` or `away`. A position has the members of a position of
    /// `indoorloc locate`; a trained room has `label`, `rooms` and `none`; an event has `venueId` and `room`, `fence` or `geofence` with `id` and `name`.
    package var json: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// The bytes of ``json``.
    package var jsonBytes: [UInt8] {
        var json = JSONWriter(reservingCapacity: 512)
        write(to: &json)
        return json.bytes
    }

    /// Writes the output as an object.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.add("tag", tag.description)
        json.add("name", name)
        json.add("epoch", epoch)
        json.add("sequence", sequence)
        json.add("time", time: instant)
        switch content {
        case .present: json.add("type", "present")
        case .away: json.add("type", "away")
        case .position(let position):
            json.add("type", "position")
            position.writeMembers(to: &json)
        case .room(let room):
            json.add("type", "room")
            room.writeMembers(to: &json)
        case .event(let event): event.writeMembers(to: &json)
        }
        json.endObject()
    }
}

extension Position {
    /// Writes the members of a position into an object.
    package func writeMembers(to json: inout JSONWriter) {
        json.add("venueId", venueID.rawValue)
        json.add("mapId", mapID.rawValue)
        json.add("x", x, decimals: 3)
        json.add("y", y, decimals: 3)
        json.add("radius", radius, decimals: 3)
        if let covariance {
            json.name("covariance")
            json.beginArray()
            for value in [covariance.xx, covariance.xy, covariance.yy] { json.value(value, decimals: 3) }
            json.endArray()
        }
        json.add("label", label)
        if !rooms.isEmpty { rooms.writeArray(to: &json) }
        json.add("latitude", coordinate?.latitude, decimals: 8)
        json.add("longitude", coordinate?.longitude, decimals: 8)
        json.add("course", course, decimals: 1)
        json.add("speed", speed, decimals: 2)
        json.add("floorCertainty", floorCertainty, decimals: 3)
    }
}

extension LocalizationEvent {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        let type: String
        switch kind {
        case .enterRoom: type = "enterRoom"
        case .exitRoom: type = "exitRoom"
        case .enterFence: type = "enterFence"
        case .exitFence: type = "exitFence"
        case .enterGeofence: type = "enterGeofence"
        case .exitGeofence: type = "exitGeofence"
        }
        json.add("type", type)
        json.add("venueId", venueID.rawValue)
        switch kind {
        case .enterRoom(let room), .exitRoom(let room):
            json.add("mapId", room.mapID.rawValue)
            json.name("room")
            json.beginObject()
            json.add("id", room.id)
            json.add("name", room.name)
        case .enterFence(let fence), .exitFence(let fence):
            json.add("mapId", fence.mapID.rawValue)
            json.name("fence")
            json.beginObject()
            json.add("id", fence.id)
            json.add("name", fence.name)
            json.add("payload", content: fence.payload)
        case .enterGeofence(let fence), .exitGeofence(let fence):
            json.name("geofence")
            json.beginObject()
            json.add("id", fence.id)
            json.add("name", fence.name)
            json.add("payload", content: fence.payload)
        }
        json.endObject()
    }
}

extension JSONWriter {
    /// Writes any value, unless it is nil.
    fileprivate mutating func add(_ name: StaticString, content: JSONValue?) {
        guard let content else { return }
        self.name(name)
        value(content)
    }
}

/// The reason why a text isn't an output of a fleet.
package struct FleetOutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset in the text in bytes; nil if the error concerns the whole text.
    package var offset: Int?
    /// The error in words, with the member and the value that is expected.
    package var message: String

    /// Creates an error.
    package init(offset: Int? = nil, message: String) { (self.offset, self.message) = (offset, message) }

    package var description: String { "output\(offset.map { " at byte \($0)" } ?? ""): \(message)" }
}

extension FleetOutput {
    /// Creates an output from its JSON, which ``json`` describes. Unknown members are ignored.
    ///
    /// The JSON contains less than the output of the fleet: it has no shapes of rooms and fences and no pixel, and its
    /// times and numbers have fixed decimals. A fence that is read has a polygon without corners.
    /// - Throws: ``FleetOutputError`` with the first defect.
    package init(json: String) throws(FleetOutputError) { try self.init(json: Array(json.utf8)) }

    /// Creates an output from the bytes of its JSON in UTF-8.
    ///
    /// - Throws: ``FleetOutputError`` with the first defect.
    package init(json bytes: [UInt8]) throws(FleetOutputError) {
        var reader = JSONReader(bytes, limits: .gateway)
        var members = Members()
        do throws(JSONReader.Failure) {
            try reader.enterObject()
            while let name = try reader.nextKey() { try members.read(try reader.text(of: name), from: &reader) }
            try reader.finish()
        } catch {
            throw FleetOutputError(offset: error.offset, message: "expected \(error.expected)")
        }
        self = try members.output()
    }
}

/// The members of an output that a reader has found.
private struct Members {
    /// A room, a fence or a geofence.
    struct Area {
        var id: JSONValue?
        var name: String?
        var payload: JSONValue?
    }

    var tag, name, type, label: String?
    var epoch, sequence: UInt64?
    var instant: Instant?
    var venue, map: Int?
    var x, y, radius, latitude, longitude, course, speed, floorCertainty, none: Double?
    var covariance: [Double] = []
    var rooms: [RoomProbability] = []
    var room, fence, geofence: Area?

    mutating func read(_ member: String, from reader: inout JSONReader) throws(JSONReader.Failure) {
        if try reader.kind() == .null { return try reader.null() }
        switch member {
        case "tag": tag = try reader.text()
        case "name": name = try reader.text()
        case "type": type = try reader.text()
        case "label": label = try reader.text()
        case "epoch": epoch = try reader.unsigned()
        case "sequence": sequence = try reader.unsigned()
        case "time":
            let start = reader.offset
            guard let time = TimeText.time(Array(try reader.text().utf8).span) else {
                throw JSONReader.Failure(offset: start, expected: "a time such as 2026-11-22T09:00:00.123Z")
            }
            instant = Instant(nanoseconds: time.nanoseconds)
        case "venueId": venue = Int(try reader.integer())
        case "mapId": map = Int(try reader.integer())
        case "x": x = try reader.number()
        case "y": y = try reader.number()
        case "radius": radius = try reader.number()
        case "latitude": latitude = try reader.number()
        case "longitude": longitude = try reader.number()
        case "course": course = try reader.number()
        case "speed": speed = try reader.number()
        case "floorCertainty": floorCertainty = try reader.number()
        case "none": none = try reader.number()
        case "covariance":
            var values: [Double] = []
            try reader.enterArray()
            while try reader.nextElement() { values.append(try reader.number()) }
            covariance = values
        case "rooms":
            var list: [RoomProbability] = []
            try reader.enterArray()
            while try reader.nextElement() { list.append(try Self.probability(&reader)) }
            rooms = list
        case "room": room = try Self.area(&reader)
        case "fence": fence = try Self.area(&reader)
        case "geofence": geofence = try Self.area(&reader)
        default: try reader.skipValue()
        }
    }

    private static func probability(_ reader: inout JSONReader) throws(JSONReader.Failure) -> RoomProbability {
        var room = RoomProbability(id: 0, name: "", probability: 0)
        try reader.enterObject()
        while let member = try reader.nextKey() {
            switch try reader.text(of: member) {
            case "id": room.id = Int(try reader.integer())
            case "name": room.name = try reader.text()
            case "probability": room.probability = try reader.number()
            default: try reader.skipValue()
            }
        }
        return room
    }

    private static func area(_ reader: inout JSONReader) throws(JSONReader.Failure) -> Area {
        var area = Area()
        try reader.enterObject()
        while let member = try reader.nextKey() {
            switch try reader.text(of: member) {
            case "id": area.id = try reader.value()
            case "name": area.name = try reader.text()
            case "payload": area.payload = try reader.value()
            default: try reader.skipValue()
            }
        }
        return area
    }

    // MARK: The output

    func output() throws(FleetOutputError) -> FleetOutput {
        let key = try required(tag, "tag")
        guard let tag = TagKey(key) else { throw FleetOutputError(message: "'tag' is empty") }
        let instant = try required(instant, "time")
        let (epoch, sequence) = (try required(epoch, "epoch"), try required(sequence, "sequence"))
        return FleetOutput(
            tag: tag, name: name, epoch: epoch, sequence: sequence, instant: instant,
            content: try content(at: instant))
    }

    private func required<Value>(_ value: Value?, _ name: String) throws(FleetOutputError) -> Value {
        guard let value else { throw FleetOutputError(message: "'\(name)' is missing") }
        return value
    }

    private func content(at instant: Instant) throws(FleetOutputError) -> FleetOutput.Content {
        switch try required(type, "type") {
        case "present": return .present
        case "away": return .away
        case "position": return .position(try position(at: instant))
        case "room":
            return .room(TagRoom(instant: instant, label: label, rooms: rooms, none: try required(none, "none")))
        case "enterRoom": return try event(.enterRoom(try knownRoom()), at: instant)
        case "exitRoom": return try event(.exitRoom(try knownRoom()), at: instant)
        case "enterFence": return try event(.enterFence(try knownFence()), at: instant)
        case "exitFence": return try event(.exitFence(try knownFence()), at: instant)
        case "enterGeofence": return try event(.enterGeofence(try knownGeofence()), at: instant)
        case "exitGeofence": return try event(.exitGeofence(try knownGeofence()), at: instant)
        case let other: throw FleetOutputError(message: "'type' is '\(other)', which is unknown")
        }
    }

    private func position(at instant: Instant) throws(FleetOutputError) -> Position {
        var position = Position(
            instant: instant, venueID: VenueID(rawValue: try required(venue, "venueId")),
            mapID: MapID(rawValue: try required(map, "mapId")),
            point: MapPoint(x: try required(x, "x"), y: try required(y, "y")),
            radius: try required(radius, "radius"), label: label, rooms: rooms, course: course, speed: speed,
            floorCertainty: floorCertainty)
        if covariance.count == 3 {
            position.covariance = PositionCovariance(xx: covariance[0], xy: covariance[1], yy: covariance[2])
        }
        if let latitude, let longitude { position.coordinate = Coordinate(latitude: latitude, longitude: longitude) }
        return position
    }

    private func event(
        _ kind: LocalizationEvent.Kind, at instant: Instant
    ) throws(FleetOutputError) -> FleetOutput.Content {
        .event(
            LocalizationEvent(instant: instant, venueID: VenueID(rawValue: try required(venue, "venueId")), kind: kind))
    }

    private func knownRoom() throws(FleetOutputError) -> Room {
        let area = try required(room, "room")
        return Room(
            id: try number(area, "room"), name: area.name ?? "", mapID: MapID(rawValue: try required(map, "mapId")))
    }

    private func knownFence() throws(FleetOutputError) -> Fence {
        let area = try required(fence, "fence")
        return Fence(
            id: try number(area, "fence"), name: area.name ?? "", mapID: MapID(rawValue: try required(map, "mapId")),
            area: .polygon([]), payload: area.payload)
    }

    private func knownGeofence() throws(FleetOutputError) -> Geofence {
        let area = try required(geofence, "geofence")
        guard case .string(let id) = area.id else { throw FleetOutputError(message: "'geofence' has no 'id'") }
        return Geofence(id: id, name: area.name, shape: .area(.polygon([])), payload: area.payload)
    }

    private func number(_ area: Area, _ name: String) throws(FleetOutputError) -> Int {
        guard case .number(let value) = area.id, let id = Int(exactly: value) else {
            throw FleetOutputError(message: "'\(name)' has no 'id'")
        }
        return id
    }
}

extension JSONReader {
    /// Reads a string as text.
    fileprivate mutating func text() throws(Failure) -> String { try text(of: try string()) }

    /// Reads an integer from 0 to 2^63 − 1.
    fileprivate mutating func unsigned() throws(Failure) -> UInt64 {
        let start = offset
        guard let value = UInt64(exactly: try integer()) else {
            throw Failure(offset: start, expected: "an integer of at least 0")
        }
        return value
    }

    /// Reads any value.
    fileprivate mutating func value() throws(Failure) -> JSONValue {
        switch try kind() {
        case .null:
            try null()
            return .null
        case .bool: return .bool(try bool())
        case .number: return .number(try number())
        case .string: return .string(try text())
        case .array:
            var values: [JSONValue] = []
            try enterArray()
            while try nextElement() { values.append(try value()) }
            return .array(values)
        case .object:
            var members: [String: JSONValue] = [:]
            try enterObject()
            while let name = try nextKey() { members[try text(of: name)] = try value() }
            return .object(members)
        }
    }
}

extension TagKey {
    /// The key for a topic of MQTT or a path of a URL: letters, digits and `-._~:` of ASCII, and every other byte as
    /// `%` and two hexadecimal digits (RFC 3986, section 2.1).
    ///
    /// Different keys have different texts, none of which has a character with a meaning in topics (`/`, `+`, `#`, `$`).
    package var escaped: String {
        EscapedText.escaped(description, mark: UInt8(ascii: "%"), plain: "-._~:")
    }

    /// Creates a key from the text of ``escaped``; nil if the text is empty or has another form.
    package init?(escaped: some StringProtocol) {
        guard let bytes = EscapedText.unescaped(Substring(escaped).utf8, mark: UInt8(ascii: "%")),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.init(text)
    }
}
