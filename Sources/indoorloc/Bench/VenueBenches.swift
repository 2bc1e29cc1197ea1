import CBench
import Foundation
import IndoorLocalization

/// A building of any size, generated from a seed.
struct BenchVenue {
    /// The edge of a room in metres.
    private static let room = 5.0
    private static let door = 1.2
    private static let power = -59.0
    private static let exponent = 2.2

    let width: Double
    let height: Double
    let beacons: Int
    var seed: UInt64 = 1

    static let mapID: MapID = 1

    /// A venue with rooms of 5 × 5 m, a door to each neighbour, and known beacons.
    var venue: Venue {
        var generator = SeededGenerator(seed: seed)
        let known = (0..<beacons).map { index in
            VenueBeacon(
                identity: Self.identity(index), mapID: Self.mapID,
                point: MapPoint(x: width * generator.uniform(), y: height * generator.uniform()), z: 2.5,
                measuredPower: Self.power, pathLossExponent: Self.exponent)
        }
        let map = VenueMap(id: Self.mapID, name: "Ground", level: 0, width: width, height: height, walls: walls)
        return Venue(id: 1, name: "Bench", maps: [map], beacons: known)
    }

    /// The venue with a survey that has a place every `spacing` metres.
    func surveyed(every spacing: Double) -> Venue {
        var venue = venue
        var generator = SeededGenerator(seed: seed + 1)
        let beacons = venue.beacons
        var places: [RadioMap.Fingerprint] = []
        for row in 0..<Int(height / spacing) {
            for column in 0..<Int(width / spacing) {
                let point = MapPoint(x: (Double(column) + 0.5) * spacing, y: (Double(row) + 0.5) * spacing)
                let readings = beacons.enumerated().compactMap { index, beacon -> RadioMap.Reading? in
                    guard beacon.point.distance(to: point) < 25 else { return nil }
                    let rssi = Self.rssi(of: beacon, at: point) + 3 * generator.normal()
                    return RadioMap.Reading(beacon: index, rssi: rssi, count: 8, weight: 0.02 * generator.normal())
                }
                places.append(
                    RadioMap.Fingerprint(mapID: Self.mapID, point: point, duration: 4, readings: readings))
            }
        }
        venue.radioMap = RadioMap(
            beacons: beacons.map {
                RadioMap.Beacon(identity: $0.identity, mapID: $0.mapID, point: $0.point, z: $0.z, power: Self.power)
            }, fingerprints: places, pathLossExponent: Self.exponent, readingDeviation: 3)
        return venue
    }

    private static func identity(_ index: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xBE, low: 0xAC), major: 1, minor: UInt16(index))
    }

    /// Walls along the edges of all rooms, with a door in the middle of each.
    private var walls: [[MapPoint]] { Self.walls(width: width, height: height, room: Self.room) }

    /// Walls along the edges of rooms with any edge length in metres.
    static func walls(width: Double, height: Double, room: Double) -> [[MapPoint]] {
        var walls: [[MapPoint]] = []
        let half = (room - Self.door) / 2
        for column in 0...Int(width / room) {
            for row in 0...Int(height / room) {
                let corner = MapPoint(x: Double(column) * room, y: Double(row) * room)
                for way in [MapPoint(x: 1, y: 0), MapPoint(x: 0, y: 1)] {
                    let end = corner + way * room
                    guard end.x <= width, end.y <= height else { continue }
                    walls.append([corner, corner + way * half])
                    walls.append([end - way * half, end])
                }
            }
        }
        return walls
    }

    /// The mean RSSI of a beacon in dBm.
    static func rssi(of beacon: VenueBeacon, at point: MapPoint) -> Double {
        max(power - 10 * exponent * log10(hypot(beacon.point.distance(to: point), 1.3)), -100)
    }

    /// The evidence of the nearest beacons on a walk around the building.
    ///
    /// - Parameter interval: the time between two moments in seconds.
    func evidence(
        on field: SignalField, of venue: Venue, moments: Int, heard: Int, interval: Double = 0.5
    ) -> [Evidence] {
        var generator = SeededGenerator(seed: seed + 2)
        var collector = EvidenceCollector(field: field)
        return (0..<moments).compactMap { moment in
            let point = place(at: moment, of: moments)
            let now = Instant(seconds: Double(moment + 1) * interval)
            let nearest = venue.beacons.sorted { $0.point.distance(to: point) < $1.point.distance(to: point) }
            for beacon in nearest.prefix(heard) {
                guard let index = field.indexes[beacon.identity] else { continue }
                collector.add(beacon: index, rssi: Self.rssi(of: beacon, at: point) + 4 * generator.normal(), at: now)
            }
            return collector.drain(at: now)
        }
    }

    /// The place at a moment of the walk.
    func place(at moment: Int, of moments: Int) -> MapPoint {
        let turn = 2 * Double.pi * Double(moment) / Double(moments)
        return MapPoint(
            x: width * (0.5 + 0.3 * BenchVenue.wave(turn)), y: height * (0.5 + 0.3 * BenchVenue.wave(turn + 1.57)))
    }

    /// A triangle wave between -1 and 1 with the period 2π.
    private static func wave(_ turn: Double) -> Double {
        let share = (turn / (2 * .pi)).truncatingRemainder(dividingBy: 1)
        return share < 0.5 ? 4 * share - 1 : 3 - 4 * share
    }
}

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

/// The benchmark of routes through a building of several floors with paths every two metres.
struct RouteBench {
    private var planner: RoutePlanner
    private let start: RoutePoint
    private let goal: RoutePoint
    private var options = RouteOptions()
    /// The number of nodes of the path graph.
    let nodes: Int

    private static let spacing = 2.0
    /// The number of paths between stairs, along both edges of the plan.
    private static let shafts = 35

    /// Creates a building with a route between opposite corners.
    ///
    /// - Parameter side: the number of nodes along each edge of a floor.
    init(floors: Int, side: Int, algorithm: RouteAlgorithm, seed: UInt64 = 4) {
        let venue = Self.venue(floors: floors, side: side, seed: seed)
        planner = RoutePlanner(venue: venue)
        nodes = venue.paths?.nodes.count ?? 0
        let edge = Double(side) * Self.spacing
        start = RoutePoint(mapID: 0, point: MapPoint(x: 0.7, y: 0.4))
        goal = RoutePoint(mapID: MapID(rawValue: floors - 1), point: MapPoint(x: edge - 2.6, y: edge - 2.3))
        options.algorithm = algorithm
    }

    private static func venue(floors: Int, side: Int, seed: UInt64) -> Venue {
        var generator = SeededGenerator(seed: seed)
        var nodes: [PathGraph.Node] = []
        var edges: [PathGraph.Edge] = []
        let edge = Double(side) * spacing
        let maps = (0..<floors).map { floor in
            VenueMap(
                id: MapID(rawValue: floor), name: "Floor \(floor)", level: floor, width: edge, height: edge,
                elevation: 4 * Double(floor))
        }
        for floor in 0..<floors {
            for row in 0..<side {
                for column in 0..<side {
                    let id = nodes.count
                    // Offsets of up to half a metre make all paths differ in length.
                    let point = MapPoint(
                        x: Double(column) * spacing + generator.uniform() - 0.5,
                        y: Double(row) * spacing + generator.uniform() - 0.5)
                    nodes.append(PathGraph.Node(id: id, mapID: MapID(rawValue: floor), point: point))
                    if column > 0 { edges.append(PathGraph.Edge(from: id - 1, to: id)) }
                    if row > 0 { edges.append(PathGraph.Edge(from: id - side, to: id)) }
                    if floor > 0, row % shafts == 0, column % shafts == 0 {
                        edges.append(PathGraph.Edge(from: id - side * side, to: id, weight: 15, kind: .stairs))
                    }
                }
            }
        }
        return Venue(id: 1, name: "Bench", maps: maps, paths: PathGraph(nodes: nodes, edges: edges))
    }

    /// Returns the route from corner to corner.
    mutating func route() -> Route? { try? planner.route(from: start, to: goal, options) }
}

/// The benchmark of rooms and fences around a position, with thousands of areas.
struct AreaBench {
    /// The edge of the plan in metres: one fence per 25 m², each about 100 m² large.
    private static let side = 500.0

    private var machine: AreaMachine
    private let rooms: RoomIndex
    /// A closed walk with a position every half second.
    let walk: [MapPoint]
    private var now = Instant.zero

    /// Creates circles and polygons at random places; a few are as large as the plan.
    init(areas count: Int, positions: Int = 1_000, seed: UInt64 = 5) {
        var generator = SeededGenerator(seed: seed)
        let areas = (0..<count).map { index -> Area in
            let center = MapPoint(x: Self.side * generator.uniform(), y: Self.side * generator.uniform())
            let radius = index % 2_500 == 0 ? Self.side : 2 + 6 * generator.uniform()
            guard index % 2 == 1 else { return .circle(center: center, radius: radius) }
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 0.2), (0.2, 0.2), (0.2, 1.0), (-1.0, 1.0)]
            return .polygon(corners.map { center + MapPoint(x: $0.0, y: $0.1) * radius })
        }
        machine = AreaMachine(
            watched: areas.enumerated().map {
                AreaMachine.Watched(id: $0, mapID: BenchVenue.mapID, area: $1, holdOff: .seconds(30))
            }, dwell: .seconds(2))
        rooms = RoomIndex(
            rooms: areas.enumerated().map { Room(id: $0, name: "room", mapID: BenchVenue.mapID, area: $1) })
        // The walk follows a square in steps of 0.7 m.
        let edge = Double(positions / 4) * 0.7
        let corner = (Self.side - edge) / 2
        walk = (0..<positions).map { index in
            let walked = Double(index % (positions / 4)) * 0.7
            return switch index / (positions / 4) {
            case 0: MapPoint(x: corner + walked, y: corner)
            case 1: MapPoint(x: corner + edge, y: corner + walked)
            case 2: MapPoint(x: corner + edge - walked, y: corner + edge)
            default: MapPoint(x: corner, y: corner + edge - walked)
            }
        }
    }

    /// Follows the walk once; returns the number of areas entered and left.
    mutating func go() -> Int {
        var changes = 0
        for point in walk {
            now = now.advanced(by: .milliseconds(500))
            changes += machine.observe(point, on: BenchVenue.mapID, at: now).count
        }
        return changes
    }

    /// Stays at one place for the duration of the walk; returns the number of areas entered and left.
    mutating func stay() -> Int {
        var changes = 0
        for _ in walk {
            now = now.advanced(by: .milliseconds(500))
            changes += machine.observe(walk[0], on: BenchVenue.mapID, at: now).count
        }
        return changes
    }

    /// Looks up the room at each place of the walk; returns the number of places in a room.
    func label() -> Int { walk.count { rooms.room(at: $0, on: BenchVenue.mapID) != nil } }
}
