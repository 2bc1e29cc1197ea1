import IndoorLocalization
import TagTracking
import XCTest

/// A hall of 30 × 20 m with eight receivers, and the readings of a tag in it.
enum TagStage {
    static let hall: MapID = 1
    static let power = -60.0
    static let exponent = 2.2
    static let tables = SharedTables()

    static let points = [
        MapPoint(x: 2, y: 2), MapPoint(x: 15, y: 1), MapPoint(x: 28, y: 3), MapPoint(x: 1, y: 11),
        MapPoint(x: 29, y: 12), MapPoint(x: 3, y: 18), MapPoint(x: 16, y: 19), MapPoint(x: 27, y: 17),
    ]

    static let west = Room(id: 1, name: "West", mapID: hall, area: rectangle(0, 15))
    static let east = Room(id: 2, name: "East", mapID: hall, area: rectangle(15, 30))

    private static func rectangle(_ left: Double, _ right: Double) -> Area {
        .polygon([
            MapPoint(x: left, y: 0), MapPoint(x: right, y: 0), MapPoint(x: right, y: 20), MapPoint(x: left, y: 20),
        ])
    }

    /// The hall, as the venue of tags.
    static let venue = Venue(
        id: 1, name: "hall", maps: [VenueMap(id: hall, name: "hall", level: 0, width: 30, height: 20)],
        receivers: points.enumerated().map { index, point in
            VenueReceiver(
                id: "receiver \(index)",
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0xA, low: 0xB), major: 1, minor: UInt16(index)),
                mapID: hall, point: point, measuredPower: power, pathLossExponent: exponent)
        }, rooms: [west, east]
    ).forTags

    static func model(_ tagClass: FleetSettings.TagClass = .standard) -> TagModel {
        TagModel(venue: venue, tagClass: tagClass, tables: tables)
    }

    static func rssi(of receiver: Int, at place: MapPoint, offset: Double = 0) -> Double {
        let distance = points[receiver].distance(to: place)
        return power + offset - 5 * exponent * log10(distance * distance + 0.25)
    }

    /// Adds a reading of each receiver.
    static func observe(
        _ session: inout TagSession, at place: MapPoint, _ seconds: Double, offset: Double = 0,
        noise: inout SeededGenerator
    ) {
        for receiver in points.indices {
            let rssi = rssi(of: receiver, at: place, offset: offset) + 3 * noise.normal()
            session.observe(receiver: receiver, rssi: rssi, window: .zero, at: Instant(seconds: seconds))
        }
    }

    /// A walk to and fro along the hall at 1 m/s.
    static func walk(_ seconds: Double) -> MapPoint {
        let way = seconds.truncatingRemainder(dividingBy: 40)
        return MapPoint(x: 5 + (way < 20 ? way : 40 - way), y: 10)
    }
}
