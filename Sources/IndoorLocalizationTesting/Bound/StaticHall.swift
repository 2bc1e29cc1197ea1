import CMath
import IndoorLocalization

/// One map of a venue with beacons on a regular grid, whose expected RSSI follows the log-distance model.
struct StaticHall: Sendable {
    let settings: StaticHallSettings
    /// The venue with only the map and the beacons.
    let venue: Venue
    let map: VenueMap
    let beacons: [VenueBeacon]
    private let walkable: [Area]

    /// - Throws: `StaticHallError` if the map has no walkable place.
    init(venue: Venue, map: VenueMap, settings: StaticHallSettings) throws(StaticHallError) {
        guard map.width > 0, map.height > 0, map.width.isFinite, map.height.isFinite else {
            throw StaticHallError.noArea(map.id)
        }
        self.settings = settings
        self.map = map
        walkable = map.walkable.map(Area.polygon)
        beacons = Self.points(on: map, area: settings.areaPerBeacon).enumerated().map { index, point in
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0, low: 1), major: 1, minor: UInt16(index % 65_536)),
                mapID: map.id, point: point, measuredPower: settings.power, pathLossExponent: settings.exponent)
        }
        self.venue = Venue(id: venue.id, name: venue.name, maps: [map], beacons: beacons)
    }

    /// Returns the centres of equal rectangles that are as square as the map allows.
    ///
    /// There are at least two by two, so that the beacons are never in one line.
    private static func points(on map: VenueMap, area: Double) -> [MapPoint] {
        let count = min(max(map.width * map.height / area, 1), 4000)
        let columns = max(2, Int((count * map.width / map.height).squareRoot().rounded()))
        let rows = max(2, Int((count / Double(columns)).rounded()))
        return (0..<rows * columns).map { index in
            MapPoint(
                x: (Double(index % columns) + 0.5) * map.width / Double(columns),
                y: (Double(index / columns) + 0.5) * map.height / Double(rows))
        }
    }

    /// Returns whether the point is walkable.
    func contains(_ point: MapPoint) -> Bool { walkable.isEmpty || walkable.contains { $0.contains(point) } }

    /// Returns a random walkable place; all are equally probable.
    ///
    /// - Throws: `StaticHallError` if many attempts find none.
    func place(using generator: inout SeededGenerator) throws(StaticHallError) -> MapPoint {
        for _ in 0..<100_000 {
            let point = MapPoint(x: generator.uniform() * map.width, y: generator.uniform() * map.height)
            if contains(point) { return point }
        }
        throw StaticHallError.noArea(map.id)
    }

    /// Returns the expected RSSI of a beacon in dBm.
    func mean(of beacon: VenueBeacon, at point: MapPoint) -> Double {
        let (dx, dy) = (point.x - beacon.point.x, point.y - beacon.point.y)
        let square = dx * dx + dy * dy + settings.height * settings.height
        return settings.power - 5 * settings.exponent * cmath_log10(square)
    }

    /// Returns the RSSI of each beacon in dBm, second by second.
    func readings(at place: MapPoint, using generator: inout SeededGenerator) -> [[Double]] {
        let means = beacons.map { mean(of: $0, at: place) }
        var seconds: [[Double]] = []
        for second in 0..<settings.seconds {
            if second == 0 || settings.isIndependent {
                seconds.append(means.map { $0 + settings.shadowing * generator.normal() })
            } else {
                seconds.append(seconds[0])
            }
        }
        return seconds
    }

    /// The number of readings of a beacon with independent shadowing.
    var independentReadings: Int { settings.isIndependent ? settings.seconds : 1 }
}

/// An error that prevents the comparison.
package enum StaticHallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The venue has no such map.
    case unknownMap(MapID)
    /// The venue has no map.
    case noMap
    /// The map has no walkable place.
    case noArea(MapID)

    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .unknownMap(let id): "the venue has no map \(id). Use the id of one of its maps."
        case .noMap: "the venue has no map. Use a venue with a map."
        case .noArea(let id): "map \(id) has no walkable place. Add a width, a height and areas inside them."
        }
    }
}
