import IndoorVocabulary
import MQTTSharing
import TagTracking
import TextFormats
import VenueModel

/// The messages for Home Assistant's MQTT discovery of a tag: a device with a tracker and an area sensor.
///
/// Both entities read one topic, ``OutputTopics/homeAssistant(of:)``. Its members `x`, `y`, `latitude`, `longitude` and
/// `last_seen` have the names and the meaning of those of ESPresense-companion, so that cards and automations for it
/// work with a tag.
/// Source: Home Assistant, *MQTT* (MQTT Discovery), *MQTT device tracker* and *MQTT Sensor*, home-assistant.io;
/// ESPresense-companion, topic `espresense/companion/ID/attributes`.
struct TagDiscovery: Sendable {
    let prefix: String
    let topics: OutputTopics

    /// The topic under which Home Assistant publishes `online` after its start.
    var birthTopic: String { "\(prefix)/status" }

    private func objectID(_ tag: TagKey) -> String {
        "indoorloc_tag_" + HomeAssistantDiscovery.escaped(tag.description)
    }

    func trackerTopic(of tag: TagKey) -> String { "\(prefix)/device_tracker/\(objectID(tag))_position/config" }
    func areaTopic(of tag: TagKey) -> String { "\(prefix)/sensor/\(objectID(tag))_area/config" }

    /// Returns the configuration of the tracker.
    ///
    /// - Parameter isGeoreferenced: whether the positions have coordinates. Home Assistant then derives the zone from
    ///   them while the tag is present; otherwise the tracker only distinguishes home from away.
    func tracker(of tag: TagKey, name: String?, isGeoreferenced: Bool) -> [UInt8] {
        configuration(of: tag, name: name, entity: "Position", suffix: "_position") { json in
            json.add("source_type", isGeoreferenced ? "gps" : "bluetooth_le")
            json.add("payload_home", "home")
            json.add("payload_not_home", "not_home")
            json.add("payload_reset", "None")
            json.add(
                "value_template",
                isGeoreferenced
                    ? "{{ 'None' if value_json.presence == 'home' else 'not_home' }}" : "{{ value_json.presence }}")
        }
    }

    /// Returns the configuration of the sensor whose state is the name of the room.
    func area(of tag: TagKey, name: String?) -> [UInt8] {
        configuration(of: tag, name: name, entity: "Area", suffix: "_area") { json in
            json.add("icon", "mdi:map-marker")
            json.add("value_template", "{{ value_json.room }}")
        }
    }

    private func configuration(
        of tag: TagKey, name: String?, entity: String, suffix: String, _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        let id = objectID(tag)
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.add("name", entity)
        json.add("unique_id", id + suffix)
        json.name("device")
        json.beginObject()
        json.name("identifiers")
        json.beginArray()
        json.value(id)
        json.endArray()
        json.add("name", name ?? tag.description)
        json.add("manufacturer", "IndoorLocalization")
        json.add("model", "Tag")
        json.endObject()
        json.name("origin")
        json.beginObject()
        json.add("name", "IndoorLocalization")
        json.endObject()
        json.add("availability_topic", topics.status)
        json.add("state_topic", topics.homeAssistant(of: tag))
        json.add("json_attributes_topic", topics.homeAssistant(of: tag))
        members(&json)
        json.endObject()
        return json.bytes
    }

    /// Returns the state that both entities read.
    static func state(presence: FleetOutput?, position: FleetOutput?) -> [UInt8] {
        let isAway = presence?.content == .away
        var json = JSONWriter(reservingCapacity: 384)
        json.beginObject()
        json.add("presence", isAway ? "not_home" : "home")
        var place: Position?
        if case .position(let position) = position?.content { place = position }
        json.add("room", isAway ? "not_home" : place?.label ?? "unknown")
        if let output = position ?? presence {
            json.add("tag", output.tag.description)
            json.add("last_seen", time: output.instant)
        }
        if let place {
            json.add("venue_id", place.venueID.rawValue)
            json.add("map_id", place.mapID.rawValue)
            json.add("x", place.x, decimals: 3)
            json.add("y", place.y, decimals: 3)
            json.add("radius", place.radius, decimals: 3)
            if let coordinate = place.coordinate {
                json.add("latitude", coordinate.latitude, decimals: 8)
                json.add("longitude", coordinate.longitude, decimals: 8)
                json.add("gps_accuracy", place.radius, decimals: 3)
            }
            json.add("speed", place.speed, decimals: 2)
        }
        json.endObject()
        return json.bytes
    }
}
