import IndoorLocalization

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
            let way = Double(index % (positions / 4)) * 0.7
            return switch index / (positions / 4) {
            case 0: MapPoint(x: corner + way, y: corner)
            case 1: MapPoint(x: corner + edge, y: corner + way)
            case 2: MapPoint(x: corner + edge - way, y: corner + edge)
            default: MapPoint(x: corner, y: corner + edge - way)
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
