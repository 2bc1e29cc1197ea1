import BeaconScanning
import CMath
import IndoorVocabulary
import TagTracking
import VenueModel
import XCTest

/// A home of six rooms of 5 by 5 m in two rows, with a gateway in each, and one tag.
///
/// The levels fall with the distance and by 4 dB for each wall. A place has its own deviation of 3 dB from that model at
/// each gateway. People who move cause fading of 2 dB around a tag that lies, and of 4 dB around one that is carried.
/// Eight of ten advertisements are received.
struct SimulatedHome {
    static let tag = TagKey.name("tag")
    static let rooms = ["hall", "kitchen", "bath", "study", "bedroom", "attic"]

    private struct Fading {
        var value = 0.0

        mutating func next(_ deviation: Double, _ constant: Double, _ random: inout SeededGenerator) -> Double {
            let share = cmath_exp(-1 / constant)
            value = share * value + deviation * (1 - share * share).squareRoot() * random.normal()
            return value
        }
    }

    var machine: RoomFleetMachine
    private(set) var now = Instant(nanoseconds: 1_795_338_000_000_000_000)
    private var random: SeededGenerator
    private var fadings = [Fading](repeating: Fading(), count: 6)
    private var place = [Double](repeating: 0, count: 6)

    init(seed: UInt64, register: TagRegister = TagRegister()) {
        random = SeededGenerator(seed: seed)
        machine = RoomFleetMachine(training: RoomTrainingSet(), register: register)
    }

    /// Returns the middle of a room.
    static func middle(of room: Int) -> MapPoint {
        MapPoint(x: 2.5 + 5 * Double(room % 3), y: 2.5 + 5 * Double(room / 3))
    }

    /// Returns a point in a room that isn't at its edge.
    mutating func point(in room: Int) -> MapPoint {
        let middle = Self.middle(of: room)
        return MapPoint(x: middle.x + 3 * (random.uniform() - 0.5), y: middle.y + 3 * (random.uniform() - 0.5))
    }

    /// Lays the tag at a place, which has its own deviations.
    mutating func lay() { for index in place.indices { place[index] = 3 * random.normal() } }

    /// Lets the gateways hear the tag for a second, and returns the outputs.
    mutating func step(at point: MapPoint, isCarried: Bool = false) -> [FleetOutput] {
        now = now.advanced(by: .seconds(1))
        for gateway in Self.rooms.indices {
            let middle = Self.middle(of: gateway)
            let station = MapPoint(x: middle.x + 1.5, y: middle.y - 1)
            let walls =
                [5.0, 10].count { (station.x - $0) * (point.x - $0) < 0 }
                + ((station.y - 5) * (point.y - 5) < 0 ? 1 : 0)
            let fading = fadings[gateway].next(isCarried ? 4 : 2, isCarried ? 2 : 30, &random)
            let distance = max(0.5, station.distance(to: point))
            let level =
                -62 - 8.686 * cmath_log(distance) - 4 * Double(walls) + fading + (isCarried ? 0 : place[gateway])
            let rssi = (level + 2.5 * random.normal()).rounded()
            guard random.uniform() < 0.8, rssi > -98 else { continue }
            machine.observe(
                TagReading(tag: Self.tag, receiver: "gateway-\(Self.rooms[gateway])", instant: now, rssi: rssi))
        }
        return machine.advance(to: now)
    }

    /// Carries the tag through a room for some seconds.
    @discardableResult mutating func carry(through room: Int, seconds: Int) -> [FleetOutput] {
        let middle = Self.middle(of: room)
        return (0..<seconds).flatMap { second in
            let angle = Double(second) / 6
            return step(
                at: MapPoint(x: middle.x + 1.5 * cmath_sin(angle), y: middle.y + 1.5 * cmath_cos(1.3 * angle)),
                isCarried: true)
        }
    }

    /// Trains rooms for a minute each.
    mutating func train(_ rooms: some Sequence<Int> = 0..<6) throws {
        for room in rooms {
            carry(through: room, seconds: 3)
            try machine.startTraining(of: Self.rooms[room], with: Self.tag, at: now)
            carry(through: room, seconds: 60)
            try machine.finishTraining(with: Self.tag)
        }
    }

    /// Lets time pass without readings.
    mutating func wait(_ seconds: Int) -> [FleetOutput] {
        now = now.advanced(by: .seconds(seconds))
        return machine.advance(to: now)
    }
}

extension FleetOutput {
    /// The trained room of the output; nil for other contents.
    var trained: TagRoom? {
        if case .room(let room) = content { return room }
        return nil
    }
}
