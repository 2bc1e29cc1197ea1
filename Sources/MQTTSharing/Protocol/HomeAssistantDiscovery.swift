import LocalizationSession
import TextFormats

/// Messages for Home Assistant's MQTT discovery, so that Home Assistant shows a device's position on its map, and its
/// room.
///
/// Each device has a tracker and a sensor, whose configurations are under the topics
/// `homeassistant/device_tracker/ID/config` and `homeassistant/sensor/ID/config`. An empty configuration removes them.
/// Source: Home Assistant, *MQTT* (MQTT Discovery), *MQTT device tracker* and *MQTT Sensor*, home-assistant.io.
package struct HomeAssistantDiscovery: Hashable, Sendable {
    /// The default prefix of Home Assistant's discovery topics.
    package static let standardPrefix = "homeassistant"

    private let prefix: String
    private let device: DeviceID
    private let name: String
    private let locationTopic: String
    private let presenceTopic: String

    /// Creates the discovery of a device.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the discovery topics.
    ///   - name: The device's display name; nil for the ID.
    ///   - locationTopic: The topic with the device's location as retained JSON.
    ///   - presenceTopic: The topic with a retained message while the device is present.
    package init(
        prefix: String = standardPrefix, device: DeviceID, name: String? = nil, locationTopic: String,
        presenceTopic: String
    ) {
        self.prefix = prefix
        self.device = device
        self.name = name ?? device.rawValue
        self.locationTopic = locationTopic
        self.presenceTopic = presenceTopic
    }

    /// The topic under which Home Assistant publishes `online` after its start. Publish the configuration again at that
    /// time.
    package var birthTopic: String { "\(prefix)/status" }

    /// The messages that make Home Assistant show the device.
    package var configuration: [MQTTMessage] {
        let tracker = Tracker(
            availability_topic: presenceTopic, device: registryDevice, json_attributes_topic: locationTopic,
            unique_id: objectID + "_position")
        let sensor = Sensor(
            availability_topic: presenceTopic, device: registryDevice, state_topic: locationTopic,
            unique_id: objectID + "_room")
        return [
            MQTTMessage(topic: trackerTopic, payload: SharingPayload.encoded(tracker), isRetained: true),
            MQTTMessage(topic: sensorTopic, payload: SharingPayload.encoded(sensor), isRetained: true),
        ]
    }

    /// The messages that remove the device from Home Assistant.
    package var removal: [MQTTMessage] {
        [trackerTopic, sensorTopic].map { MQTTMessage(topic: $0, payload: [], isRetained: true) }
    }

    private var trackerTopic: String { "\(prefix)/device_tracker/\(objectID)_position/config" }
    private var sensorTopic: String { "\(prefix)/sensor/\(objectID)_room/config" }
    private var registryDevice: RegistryDevice { RegistryDevice(identifiers: [objectID], name: name) }

    private var objectID: String { "indoorloc_" + Self.escaped(device.rawValue) }

    /// Returns an ID in the characters that Home Assistant allows, [a-zA-Z0-9_-]. Every other byte, and `_`, is
    /// replaced with `_` and two hexadecimal digits, so that different IDs stay different.
    package static func escaped(_ id: String) -> String {
        EscapedText.escaped(id, mark: UInt8(ascii: "_"), plain: "-", uppercase: false)
    }
}

/// The device that both entities belong to.
private struct RegistryDevice: Encodable {
    let identifiers: [String]
    let name: String
    let manufacturer = "IndoorLocalization"
    let model = "Indoor position"
}

private struct Origin: Encodable { let name = "IndoorLocalization" }

/// The template that maps the presence topic to availability: the device is online while the topic has a retained
/// message.
private let availabilityTemplate = "{{ 'online' if value else 'offline' }}"

private struct Tracker: Encodable {
    let availability_template = availabilityTemplate
    let availability_topic: String
    let device: RegistryDevice
    let json_attributes_topic: String
    let name = "Position"
    let origin = Origin()
    /// The source type of positions with coordinates, for which Home Assistant finds zones; `bluetooth_le` would only
    /// distinguish home from away.
    let source_type = "gps"
    let unique_id: String
}

private struct Sensor: Encodable {
    let availability_template = availabilityTemplate
    let availability_topic: String
    let device: RegistryDevice
    let icon = "mdi:map-marker"
    let name = "Room"
    let origin = Origin()
    let state_topic: String
    let unique_id: String
    let value_template = "{{ value_json.label | default('unknown', true) }}"
}
