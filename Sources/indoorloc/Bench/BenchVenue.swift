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
