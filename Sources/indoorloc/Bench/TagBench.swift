import CBench
import IndoorLocalization
import TagTracking

/// The benchmark of the sessions of many tags in an office, each received by four receivers once a second.
///
/// The sessions take turns, as in a fleet. When a session's turn comes, its particles are no longer in the processor's
/// nearest caches.
struct TagBench {
    /// The number of receivers that receive a tag.
    private static let receivers = 4
    /// The number of different walks.
    private static let walks = 8
    /// An office with one receiver per 100 m² and rooms of 25 m².
    private static let office = BenchVenue(width: 60, height: 40, beacons: 24)
    private static let room = 5.0

    private struct Reading {
        var receiver: Int
        var rssi: Double
    }

    /// The number of tags.
    let tags: Int
    /// The seconds of one round.
    let seconds: Int
    private let model: TagModel
    /// The readings by walk and second.
    private let readings: [[[Reading]]]
    private var sessions: [TagSession]
    private var workspace = TagWorkspace()
    private var second = 0

    /// Creates tags of a class, without readings.
    init(_ tagClass: FleetSettings.TagClass, tags: Int = 64, seconds: Int = 20) {
        var venue = Self.office.venue
        venue.rooms = Self.rooms
        (self.tags, self.seconds) = (tags, seconds)
        let model = TagModel(venue: venue, tagClass: tagClass, tables: SharedTables())
        self.model = model
        readings = (0..<Self.walks).map { walk in
            Self.readings(in: venue, seconds: seconds, start: Double(walk) / Double(Self.walks), seed: UInt64(walk))
        }
        sessions = (0..<tags).map { TagSession(model: model, power: nil, seed: UInt64($0)) }
    }

    private static var rooms: [Room] {
        let (columns, rows) = (Int(office.width / room), Int(office.height / room))
        return (0..<columns * rows).map { place in
            let corner = MapPoint(x: Double(place % columns) * room, y: Double(place / columns) * room)
            let corners = [(0.0, 0.0), (room, 0.0), (room, room), (0.0, room)].map { x, y in
                corner + MapPoint(x: x, y: y)
            }
            return Room(id: place, name: "Room \(place)", mapID: BenchVenue.mapID, area: .polygon(corners))
        }
    }

    /// Returns the readings of the nearest receivers while a tag goes back and forth at walking speed.
    private static func readings(in venue: Venue, seconds: Int, start: Double, seed: UInt64) -> [[Reading]] {
        var generator = SeededGenerator(seed: seed)
        return (0..<seconds).map { second in
            let way = Double(min(second, seconds - second))
            let point = MapPoint(x: 10 + way, y: office.height * (0.1 + 0.8 * start))
            let near = venue.beacons.enumerated().sorted {
                $0.element.point.distance(to: point) < $1.element.point.distance(to: point)
            }
            return near.prefix(receivers).map { index, beacon in
                Reading(receiver: index, rssi: BenchVenue.rssi(of: beacon, at: point) + 4 * generator.normal())
            }
        }
    }

    /// Runs all tags for one round; returns the number of positions.
    mutating func go() -> Int {
        var positions = 0
        for turn in 0..<seconds {
            let now = Instant(seconds: Double(second + turn))
            for tag in sessions.indices {
                positions += Self.step(&sessions[tag], readings[tag % Self.walks][turn], now, &workspace) ? 1 : 0
            }
        }
        second += seconds
        return positions
    }

    private static func step(
        _ session: inout TagSession, _ readings: [Reading], _ now: Instant, _ workspace: inout TagWorkspace
    ) -> Bool {
        for reading in readings {
            session.observe(receiver: reading.receiver, rssi: reading.rssi, window: .zero, at: now)
        }
        return session.update(to: now, &workspace).position != nil
    }

    /// The bytes that a tag holds after a round, without the venue, its tables and the workspace.
    mutating func memory() -> Double {
        // The first tags also allocate memory that stays, so they are not measured.
        _ = go()
        let before = cbench_bytes()
        var others = (0..<tags).map { TagSession(model: model, power: nil, seed: UInt64($0)) }
        for turn in 0..<seconds {
            let now = Instant(seconds: Double(turn))
            for tag in others.indices {
                _ = Self.step(&others[tag], readings[tag % Self.walks][turn], now, &workspace)
            }
        }
        return Double(cbench_bytes() - before) / Double(tags)
    }
}
