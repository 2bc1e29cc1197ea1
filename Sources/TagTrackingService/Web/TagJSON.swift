import IndoorVocabulary
import TagTracking
import TextFormats
import VenueModel

/// The JSON of the HTTP interface for tags and receivers.
enum TagJSON {
    /// Writes the state of a tag as an object.
    static func write(_ state: LatestOutput, to json: inout JSONWriter) {
        json.beginObject()
        json.add("tag", state.tag.description)
        json.add("name", state.name)
        json.add("present", state.isPresent)
        json.add("since", time: state.presenceInstant)
        json.add("time", time: state.instant)
        json.add("epoch", state.epoch)
        json.add("sequence", state.sequence)
        if let position = state.position {
            json.name("position")
            json.beginObject()
            json.add("time", time: position.instant)
            position.writeMembers(to: &json)
            json.endObject()
        }
        json.endObject()
    }

    /// Writes states as the member `tags`.
    static func write(_ states: some Sequence<LatestOutput>, to json: inout JSONWriter) {
        json.name("tags")
        json.beginArray()
        for state in states { write(state, to: &json) }
        json.endArray()
    }

    /// Writes a receiver as an object.
    static func write(_ receiver: ReceiverStatus, to json: inout JSONWriter) {
        json.beginObject()
        json.add("id", receiver.id)
        json.add("mapId", receiver.mapID.rawValue)
        json.add("x", receiver.point.x, decimals: 3)
        json.add("y", receiver.point.y, decimals: 3)
        json.add("health", receiver.health?.rawValue)
        json.add("text", receiver.text)
        if let instant = receiver.instant { json.add("since", time: instant) }
        if let instant = receiver.lastMessage { json.add("lastMessage", time: instant) }
        json.endObject()
    }

    /// Writes a gateway without a receiver as an object.
    static func write(_ gateway: GatewayActivity.UnknownGateway, to json: inout JSONWriter) {
        json.beginObject()
        json.add("name", gateway.name)
        json.add("nearest", gateway.nearest)
        json.add("text", gateway.text)
        json.add("lastMessage", time: gateway.latest)
        json.endObject()
    }

    /// Returns the trail of a tag.
    static func trail(_ points: [TagTrails.Point], of tag: TagKey) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 96 * points.count)
        json.beginObject()
        json.add("tag", tag.description)
        json.name("points")
        json.beginArray()
        for point in points {
            json.beginObject()
            json.add("time", time: point.instant)
            json.add("mapId", point.mapID.rawValue)
            json.add("x", Double(point.x), decimals: 3)
            json.add("y", Double(point.y), decimals: 3)
            json.add("radius", Double(point.radius), decimals: 3)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    /// Returns an object that a closure writes.
    static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        members(&json)
        json.endObject()
        return json.bytes
    }
}
