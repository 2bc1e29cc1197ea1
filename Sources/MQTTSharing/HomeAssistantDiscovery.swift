import LocalizationSession

/// Has Home Assistant show a device by itself: where it is on the map, and in which room.
///
/// For each device a tracker and a sensor, which Home Assistant finds by their configuration under the topics
/// `homeassistant/device_tracker/ID/config` and `homeassistant/sensor/ID/config`; an empty configuration removes them.
/// Source: Home Assistant, *MQTT* (MQTT Discovery), *MQTT device tracker* and *MQTT Sensor*, home-assistant.io.
public struct HomeAssistantDiscovery: Hashable, Sendable {
    /// The prefix that Home Assistant uses unless told otherwise.
    public static let standardPrefix = "homeassistant"

    private let prefix: String
    private let device: DeviceID
    private let name: String
    private let locationTopic: String
    private let presenceTopic: String

    /// Describes a device.
    ///
    /// - Parameters:
    ///   - prefix: what the discovery topics begin with.
    ///   - name: for people; nil for the ID.
    ///   - locationTopic: where JSON with the device's place is retained.
    ///   - presenceTopic: where something is retained while the device is there.
    public init(
        prefix: String = standardPrefix, device: DeviceID, name: String? = nil, locationTopic: String,
        presenceTopic: String
    ) {
        self.prefix = prefix
        self.device = device
        self.name = name ?? device.rawValue
        self.locationTopic = locationTopic
        self.presenceTopic = presenceTopic
    }

    /// Where Home Assistant says `online` after its start: then everything is to be published again.
    public var birthTopic: String { "\(prefix)/status" }

    /// What makes Home Assistant show the device.
    public var configuration: [MQTTMessage] {
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

    /// What makes Home Assistant forget the device.
    public var removal: [MQTTMessage] {
        [trackerTopic, sensorTopic].map { MQTTMessage(topic: $0, payload: [], isRetained: true) }
    }

    private var trackerTopic: String { "\(prefix)/device_tracker/\(objectID)_position/config" }
    private var sensorTopic: String { "\(prefix)/sensor/\(objectID)_room/config" }
    private var registryDevice: RegistryDevice { RegistryDevice(identifiers: [objectID], name: name) }

    /// The device's ID in the letters that Home Assistant allows, [a-zA-Z0-9_-]: each other byte, and `_`, becomes `_` and
    /// two hexadecimal digits, so that different IDs stay different.
    private var objectID: String {
        "indoorloc_"
            + device.rawValue.utf8.map { byte in
                switch UnicodeScalar(byte) {
                case "a"..."z", "A"..."Z", "0"..."9", "-": String(UnicodeScalar(byte))
                default: (byte < 16 ? "_0" : "_") + String(byte, radix: 16)
                }
            }.joined()
    }
}

/// The device that both entities are of.
private struct RegistryDevice: Encodable {
    let identifiers: [String]
    let name: String
    let manufacturer = "IndoorLocalization"
    let model = "Indoor position"
}

private struct Origin: Encodable { let name = "IndoorLocalization" }

/// While something is retained under the presence topic, the device is there.
private let availabilityTemplate = "{{ 'online' if value else 'offline' }}"

private struct Tracker: Encodable {
    let availability_template = availabilityTemplate
    let availability_topic: String
    let device: RegistryDevice
    let json_attributes_topic: String
    let name = "Position"
    let origin = Origin()
    /// That of a position with coordinates, by which zones are found; `bluetooth_le` would mean "home or not" alone.
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
