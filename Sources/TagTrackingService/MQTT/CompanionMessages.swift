import IndoorVocabulary
import LocalizationSession
import MQTTSharing
import TagTracking
import TextFormats
import VenueModel

/// The devices and the coordinates of an installation of ESPresense-companion, under whose topics tags are published.
package struct CompanionHouse: Hashable, Sendable {
    /// A floor.
    package struct Floor: Hashable, Sendable {
        package var name: String
        /// The height in metres in the coordinates of the installation; nil if unknown.
        package var height: Double?

        package init(name: String, height: Double?) { (self.name, self.height) = (name, height) }
    }

    /// A device.
    package struct Device: Hashable, Sendable {
        /// The id, which is a level of the topics.
        package var id: String
        package var name: String?

        package init(id: String, name: String?) { (self.id, self.name) = (id, name) }
    }

    /// The devices by the keys of their tags. An id that is no level of a topic has none.
    package private(set) var devices: [TagKey: Device] = [:]
    /// The floors by the numbers of their maps.
    fileprivate let floors: [MapID: Floor]
    /// The place of the plan's top left corner in the coordinates of the installation, and the directions of its axes there.
    private let origin: MapPoint
    private let (xDirection, yDirection): (Double, Double)

    /// Creates an installation.
    ///
    /// - Parameters:
    ///   - origin: the place of the plan's top left corner in the coordinates of the installation.
    ///   - flipsX: whether x of the installation decreases to the right of the plan.
    ///   - flipsY: whether y of the installation decreases to the bottom of the plan.
    package init(
        devices: [(tag: TagKey, device: Device)], floors: [MapID: Floor], origin: MapPoint, flipsX: Bool, flipsY: Bool
    ) {
        for (tag, device) in devices where SharingNameError(of: device.id) == nil && !device.id.contains("/") {
            self.devices[tag.canonical] = device
        }
        self.floors = floors
        self.origin = origin
        (xDirection, yDirection) = (flipsX ? -1 : 1, flipsY ? -1 : 1)
    }

    func point(_ point: MapPoint) -> MapPoint {
        MapPoint(x: origin.x + xDirection * point.x, y: origin.y + yDirection * point.y)
    }
}

/// The messages that ESPresense-companion publishes for a device, so that dashboards and automations for it work with a
/// tag.
///
/// Unlike there, the state and the status are retained, so that Home Assistant has them after its start, and the
/// entity is unavailable while this process is offline. `confidence` is the probability of the room in per cent; `fixes`,
/// the number of nodes, is left out.
///
/// Source: ESPresense-companion, github.com/ESPresense/ESPresense-companion, `src/Services/MultiScenarioLocator.cs` and
/// `src/Models/AutoDiscovery.cs`.
struct CompanionMessages: Sendable {
    private static let root = "espresense/companion"
    /// The prefix of the discovery topics of Home Assistant.
    private static let discoveryPrefix = HomeAssistantDiscovery.standardPrefix

    let house: CompanionHouse
    /// The topic with the availability of this process.
    let availabilityTopic: String

    /// Retained: whether the process is connected. Entities of earlier configurations read it.
    static func status(isOnline: Bool) -> MQTTMessage {
        MQTTMessage(topic: root + "/status", payload: Array((isOnline ? "online" : "offline").utf8), isRetained: true)
    }

    func has(_ key: TagKey) -> Bool { house.devices[key.canonical] != nil }

    /// The topics of a tag; nil if it is no device of the installation.
    func topics(of key: TagKey) -> (state: String, attributes: String, tracker: String)? {
        guard let id = house.devices[key.canonical]?.id else { return nil }
        let name = String(id.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return (
            "\(Self.root)/\(id)", "\(Self.root)/\(id)/attributes",
            "\(Self.discoveryPrefix)/device_tracker/espresense_\(name)/config"
        )
    }

    /// Returns the name of the room, or else of the floor, or `not_home`. A tag that is present, and in none of the trained
    /// rooms of a fleet without a floor plan, is `home`, as for trackers of Home Assistant.
    func state(presence: FleetOutput?, position: FleetOutput?) -> String {
        guard presence?.content != .away else { return "not_home" }
        switch position?.content {
        case .position(let place): return place.label ?? house.floors[place.mapID]?.name ?? "not_home"
        case .room(let room): return room.label ?? "home"
        default: return "not_home"
        }
    }

    /// Returns the attributes of a position or of a trained room, which has no coordinates; nil without one.
    func attributes(position: FleetOutput?) -> [UInt8]? {
        guard let output = position else { return nil }
        let (place, probability): (Position?, Double)
        switch output.content {
        case .position(let position):
            let room = position.rooms.first { $0.name == position.label }
            (place, probability) = (position, room?.probability ?? position.floorCertainty ?? 1)
        case .room(let room):
            (place, probability) = (nil, room.rooms.first { $0.name == room.label }?.probability ?? room.none)
        default: return nil
        }
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.add("source_type", "espresense")
        if let place {
            let point = house.point(place.point)
            if let coordinate = place.coordinate {
                json.add("latitude", coordinate.latitude, decimals: 8)
                json.add("longitude", coordinate.longitude, decimals: 8)
            }
            json.add("x", point.x, decimals: 3)
            json.add("y", point.y, decimals: 3)
            json.add("z", house.floors[place.mapID]?.height, decimals: 3)
        }
        json.add("confidence", Int((min(max(probability, 0), 1) * 100).rounded()))
        if let place { json.add("best_scenario", house.floors[place.mapID]?.name) }
        json.add("last_seen", time: output.instant)
        json.endObject()
        return json.bytes
    }

    /// Returns the configuration of the tracker; nil if the tag is no device of the installation.
    func tracker(of key: TagKey, name: String?) -> [UInt8]? {
        guard let device = house.devices[key.canonical], let topics = topics(of: key) else { return nil }
        let name = device.name ?? name
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.add("name", name)
        json.add("unique_id", "espresense-companion-\(device.id)")
        json.add("state_topic", topics.state)
        json.add("json_attributes_topic", topics.attributes)
        json.add("availability_topic", availabilityTopic)
        json.name("device")
        json.beginObject()
        json.add("name", name ?? device.id)
        json.add("manufacturer", "ESPresense")
        json.add("model", "Companion")
        json.name("identifiers")
        json.beginArray()
        json.value("espresense-\(device.id)")
        json.endArray()
        json.endObject()
        json.name("origin")
        json.beginObject()
        json.add("name", "IndoorLocalization")
        json.endObject()
        json.add("source_type", "bluetooth")
        json.endObject()
        return json.bytes
    }
}
