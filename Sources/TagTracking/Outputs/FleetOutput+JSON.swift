import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

extension FleetOutput {
    /// The output as one line of JSON, without a line break.
    ///
    /// The members `tag`, `epoch`, `sequence`, `time` (RFC 3339, UTC, milliseconds) and `type` are in each output, and
    /// `name` if the tag has one. The type is `present`, `position`, `enterRoom`, `exitRoom`, `enterFence`,
    /// `exitFence`, `enterGeofence`, `exitGeofence` or `away`. A position has the members of a position of
    /// `indoorloc locate`; an event has `venueId` and `room`, `fence` or `geofence` with `id` and `name`.
    public var json: String { String(decoding: jsonBytes, as: UTF8.self) }

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
        if !rooms.isEmpty {
            json.name("rooms")
            json.beginArray()
            for room in rooms {
                json.beginObject()
                json.add("id", room.id)
                json.add("name", room.name)
                json.add("probability", room.probability, decimals: 3)
                json.endObject()
            }
            json.endArray()
        }
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
