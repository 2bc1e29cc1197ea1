import CBench
import IndoorLocalization

/// The benchmark of the first position in a building with many floors and beacons, including the creation of all
/// tables.
struct LargeVenueBench {
    /// The result of a start.
    struct Start {
        /// The computing time from the session's creation to its first position, in seconds.
        var seconds: Double
        /// The maximum bytes that the session held until then, without the venue.
        var bytes: Double
        /// The reported position.
        var position: Position
    }

    /// The data of a building.
    enum Kind {
        /// Eight floors of 400 × 300 m with 6,000 beacons.
        case open
        /// The same with 5,000 walls per floor.
        case walls
        /// The same without walls, after a survey with a place every 8 m.
        case survey
        /// Ten floors of 800 × 400 m with 20,000 beacons, and 13,000 walls per floor.
        case largest
    }

    /// The edge of a room in metres.
    private static let room = 10.0
    /// The distance between two places of the survey, and the range of beacons, in metres.
    private static let surveySpacing = 8.0
    private static let surveyRange = 40.0
    /// The floor and the place of the device, and the number of beacons that it receives.
    private static let floor = 3
    private static let place = MapPoint(x: 181, y: 148)
    private static let heard = 25

    private let venue: Venue
    private let readings: [SensorReading]

    init(_ kind: Kind) {
        var generator = SeededGenerator(seed: 11)
        let isLargest = if case .largest = kind { true } else { false }
        let hasWalls = if case .walls = kind { true } else { isLargest }
        let (width, height) = isLargest ? (800.0, 400.0) : (400.0, 300.0)
        let walls = hasWalls ? BenchVenue.walls(width: width, height: height, room: Self.room) : []
        let maps = (0..<(isLargest ? 10 : 8)).map { floor in
            VenueMap(
                id: MapID(rawValue: floor + 1), name: "Floor \(floor)", level: floor, width: width, height: height,
                walls: walls)
        }
        let beacons = (0..<(isLargest ? 20_000 : 6_000)).map { index in
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0xBE, low: 0xAC), major: 2, minor: UInt16(index)),
                mapID: maps[index % maps.count].id,
                point: MapPoint(x: width * generator.uniform(), y: height * generator.uniform()), z: 2.5,
                measuredPower: -59)
        }
        var venue = Venue(id: 1, name: "Large", maps: maps, beacons: beacons)
        if case .survey = kind { venue.radioMap = Self.survey(of: venue, using: &generator) }
        self.venue = venue
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

    /// Returns the radio map of a survey of every floor.
    private static func survey(of venue: Venue, using generator: inout SeededGenerator) -> RadioMap {
        var places: [RadioMap.Fingerprint] = []
        for map in venue.maps {
            let beacons = venue.beacons.enumerated().filter { $0.element.mapID == map.id }
            for row in 0..<Int(map.height / surveySpacing) {
                for column in 0..<Int(map.width / surveySpacing) {
                    let point = MapPoint(x: Double(column) + 0.5, y: Double(row) + 0.5) * surveySpacing
                    var readings: [RadioMap.Reading] = []
                    for (index, beacon) in beacons where beacon.point.distance(to: point) < surveyRange {
                        let rssi = BenchVenue.rssi(of: beacon, at: point) + 3 * generator.normal()
                        readings.append(
                            RadioMap.Reading(beacon: index, rssi: rssi, count: 8, weight: 0.02 * generator.normal()))
                    }
                    places.append(RadioMap.Fingerprint(mapID: map.id, point: point, duration: 4, readings: readings))
                }
            }
        }
        let known = venue.beacons.map {
            RadioMap.Beacon(identity: $0.identity, mapID: $0.mapID, point: $0.point, z: $0.z, power: -59)
        }
        return RadioMap(beacons: known, fingerprints: places, pathLossExponent: 2.2, readingDeviation: 3)
    }

    /// Runs a session from its creation to its first position; returns nil if it reports none.
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

    /// Whether a position is near the device.
    static func isRight(_ position: Position) -> Bool {
        position.mapID == MapID(rawValue: floor + 1) && position.point.distance(to: place) < 10
    }
}
