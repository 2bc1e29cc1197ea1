import CBench
import IndoorLocalization

/// The first position in a building with many floors and beacons, from the venue alone: whatever tables it takes are made.
struct LargeVenueBench {
    /// What a start came to.
    struct Start {
        /// Seconds of computing from the session's making to its first position.
        var seconds: Double
        /// The most bytes that the session held until then, beyond the venue.
        var bytes: Double
        /// The reported position.
        var position: Position
    }

    private static let floors = 8
    private static let width = 400.0
    private static let height = 300.0
    private static let beacons = 6_000
    /// Edge of a room in metres: 5,000 walls a floor.
    private static let room = 10.0
    /// Where the device stands, and how many beacons it hears.
    private static let floor = 3
    private static let place = MapPoint(x: 181, y: 148)
    private static let heard = 25

    private let venue: Venue
    private let readings: [SensorReading]

    /// Eight floors of 400 × 300 m with 6,000 beacons.
    init(hasWalls: Bool) {
        var generator = SeededGenerator(seed: 11)
        let walls = BenchVenue.walls(width: Self.width, height: Self.height, room: Self.room)
        let maps = (0..<Self.floors).map { floor in
            VenueMap(
                id: MapID(rawValue: floor + 1), name: "Floor \(floor)", level: floor, width: Self.width, height: Self.height,
                walls: hasWalls ? walls : [])
        }
        let beacons = (0..<Self.beacons).map { index in
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0xBE, low: 0xAC), major: 2, minor: UInt16(index)),
                mapID: maps[index % maps.count].id,
                point: MapPoint(x: Self.width * generator.uniform(), y: Self.height * generator.uniform()), z: 2.5,
                measuredPower: -59)
        }
        venue = Venue(id: 1, name: "Large", maps: maps, beacons: beacons)
        let near = beacons.filter { $0.mapID == maps[Self.floor].id }
            .sorted { $0.point.distance(to: Self.place) < $1.point.distance(to: Self.place) }.prefix(Self.heard)
        readings = (0..<20).flatMap { turn in
            near.map { beacon in
                .sighting(
                    Sighting(
                        instant: Instant(seconds: 0.25 * Double(turn)), beacon: beacon.identity,
                        rssi: (BenchVenue.rssi(of: beacon, at: Self.place) + 4 * generator.normal()).rounded()))
            }
        }
    }

    /// A session from its making to its first position; nil if it never reports one.
    func start() -> Start? {
        let before = cbench_bytes()
        cbench_forget_most()
        let begin = ContinuousClock().now
        var replay = SessionReplay(venues: [venue], settings: SettingsStack(), seed: 1)
        _ = replay.start()
        for reading in readings {
            for output in replay.handle(reading) {
                guard case .position(let position) = output.content else { continue }
                return Start(
                    seconds: Double(begin.duration(to: ContinuousClock().now).nanoseconds) / 1e9,
                    bytes: Double(cbench_most_bytes() - before), position: position)
            }
        }
        return nil
    }

    /// Whether a position is where the device is.
    static func isRight(_ position: Position) -> Bool {
        position.mapID == MapID(rawValue: floor + 1) && position.point.distance(to: place) < 10
    }
}
