import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import TagTrackingService

/// A simulated building for `track --demo`: gateways that receive 50 tags on their walks.
///
/// The messages have the form of OpenMQTTGateway, and take the same way through the decoder and the fleet as those of a
/// broker.
struct DemoFleet: Sendable {
    /// The number of simulated tags, and of those that the register has.
    static let (tagCount, assetCount) = (50, 30)
    /// The time between two batches of messages.
    private static let interval = Duration.milliseconds(100)

    /// The venue.
    let venue: Venue
    /// The tags of the building's owner. Two of them are not there.
    let register: TagRegister
    private let seed: UInt64

    /// Creates the fleet.
    ///
    /// - Parameter venue: a venue with receivers; nil for the built-in one.
    init(venue: Venue? = nil, seed: UInt64) {
        self.venue = venue ?? Self.building
        self.seed = seed
        let kinds = [("Trolley", 10), ("Wheelchair", 8), ("Monitor", 6), ("Ladder", 6)]
        var names = kinds.flatMap { kind, count in (1...count).map { "\(kind) \($0)" } }
        names += ["Projector (missing)", "Toolbox (missing)"]
        register = TagRegister(
            names.enumerated().map { index, name in
                let tag = index < Self.assetCount ? index : Self.tagCount + index
                return TagRegister.Entry(key: .address(Self.address(of: tag)), name: name)
            })
    }

    /// The addresses of a simulated tag: random static ones, as beacons have.
    private static func address(of tag: Int) -> DeviceAddress {
        DeviceAddress(rawValue: 0xC300_0000_0000 + UInt64(tag + 1))
    }

    /// Simulates the tags until the task is cancelled.
    ///
    /// - Parameters:
    ///   - queue: receives the messages of the gateways.
    ///   - now: returns the time of the fleet.
    func run(into queue: MessageQueue, now: @Sendable () -> Instant) async {
        var settings = SimulatedFleetSettings()
        settings.tagCount = Self.tagCount
        settings.seed = seed
        var fleet = SimulatedFleet(venue: venue, settings: settings, start: now())
        // A slash would divide the name of the gateway in the topic.
        let names = venue.receivers.map { receiver in
            ([receiver.id] + receiver.aliases).first { name in !name.contains { "/+#".contains($0) } }
        }
        repeat {
            let time = now()
            for reading in fleet.readings(until: time) {
                guard let name = names[reading.receiver] else { continue }
                queue.append(Self.message(reading, from: name, at: time))
            }
        } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    private static func message(
        _ reading: SimulatedFleet.Reading, from gateway: String, at time: Instant
    ) -> GatewayMessage {
        let address = address(of: reading.tag).description
        let payload = #"{"id":"\#(address)","rssi":\#(Int(reading.rssi.rounded()))}"#
        return GatewayMessage(
            topic: "home/\(gateway)/BTtoMQTT/\(address.filter { $0 != ":" })", payload: Array(payload.utf8),
            arrival: time)
    }

    /// A building of two floors of 40 by 22 m, with twelve gateways on each.
    private static var building: Venue {
        let rooms = [
            ["Reception", "Waiting room", "Workshop", "Store", "Kitchen", "Laboratory", "Office 1", "Office 2"],
            ["Ward 1", "Ward 2", "Ward 3", "Ward 4", "Nurses", "Meeting room", "Archive", "Office 3"],
        ]
        var venue = Venue(id: 1, name: "Simulated building", maps: [])
        for (level, names) in rooms.enumerated() {
            let mapID = MapID(rawValue: level + 1)
            func area(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> [MapPoint] {
                [(left, top), (right, top), (right, bottom), (left, bottom)].map { MapPoint(x: $0, y: $1) }
            }
            let outline = area(0, 0, 40, 22)
            venue.maps.append(
                VenueMap(
                    id: mapID, name: level == 0 ? "Ground floor" : "Upper floor", level: level, width: 40, height: 22,
                    elevation: 3.5 * Double(level), walls: [outline + outline.prefix(1)]))
            for (index, name) in names.enumerated() {
                let (left, top) = (10 * Double(index % 4), index < 4 ? 0.0 : 13.0)
                venue.rooms.append(
                    Room(
                        id: 100 * level + index + 1, name: name, mapID: mapID,
                        area: .polygon(area(left, top, left + 10, top + 9))))
            }
            venue.rooms.append(
                Room(id: 100 * level + 9, name: "Corridor", mapID: mapID, area: .polygon(area(0, 9, 40, 13))))
            for index in 0..<12 {
                let id = "\(level == 0 ? "ground" : "upper")-\(index + 1)"
                venue.receivers.append(
                    VenueReceiver(
                        id: id, identity: VenueReceiver.identity(for: id), mapID: mapID,
                        point: MapPoint(x: 5 + 10 * Double(index % 4), y: [4, 11, 18][index / 4]), z: 2.5))
            }
        }
        return venue
    }
}
