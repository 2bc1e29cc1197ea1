import CMath
import IndoorLocalization

/// A hall with beacons, for tests of the expected accuracy.
enum CoverageHall {
    static let map: MapID = 1

    static func identity(_ index: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0, low: 9), major: 1, minor: UInt16(index))
    }

    /// Returns a hall of 30 × 20 m.
    static func venue(
        beacons: [MapPoint], walls: [[MapPoint]] = [], walkable: [[MapPoint]] = [], radioMap: RadioMap? = nil
    ) -> Venue {
        Venue(
            id: 1, name: "Hall",
            maps: [
                VenueMap(
                    id: map, name: "Ground floor", level: 0, width: 30, height: 20, walls: walls, walkable: walkable)
            ],
            beacons: beacons.enumerated().map { index, point in
                VenueBeacon(identity: identity(index), mapID: map, point: point, measuredPower: -60)
            }, radioMap: radioMap)
    }

    /// Returns the centres of equal rectangles over the hall.
    static func lattice(columns: Int, rows: Int) -> [MapPoint] {
        (0..<columns * rows).map { index in
            MapPoint(
                x: (Double(index % columns) + 0.5) * 30 / Double(columns),
                y: (Double(index / columns) + 0.5) * 20 / Double(rows))
        }
    }

    /// Returns the RSSI in dBm without noise.
    static func rssi(
        of beacon: MapPoint, at point: MapPoint, power: Double = -60, exponent: Double = 2.4, height: Double = 0.5
    ) -> Double {
        let planar = beacon.distance(to: point)
        return power - 5 * exponent * cmath_log10(planar * planar + height * height)
    }
}
