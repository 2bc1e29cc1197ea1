import IndoorLocalization
import IndoorLocalizationTesting

/// A hall of 40 × 40 m with one beacon in its middle, for tests of a single effect.
enum SimulatedHall {
    static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    static let middle = MapPoint(x: 20, y: 20)
    static let ground: MapID = 1
    static let upstairs: MapID = 2

    static func venue(walls: [[MapPoint]] = [], beacons: Int = 1) -> Venue {
        let coordinate = Coordinate(latitude: 48.1, longitude: 11.6)
        let maps = [
            VenueMap(
                id: ground, name: "Ground", level: 0, width: 40, height: 40,
                georeference: .center(coordinate, bearing: 30), walls: walls),
            VenueMap(id: upstairs, name: "Upstairs", level: 1, width: 40, height: 40, elevation: 4),
        ]
        return Venue(
            id: 7, name: "Hall", maps: maps,
            beacons: (0..<beacons).map { index in
                VenueBeacon(
                    identity: BeaconIdentity(uuid: beacon.uuid, major: 3, minor: 4 + UInt16(index)), mapID: ground,
                    point: middle, z: 1.2, measuredPower: -60, pathLossExponent: 2)
            })
    }

    /// Returns settings without randomness of the radio, so that each RSSI is the model's mean.
    static func quiet() -> SimulationSettings {
        var settings = SimulationSettings()
        settings.radio.powerDeviation = 0
        settings.radio.exponentDeviation = 0
        settings.radio.shadowing = 0
        settings.radio.isFading = false
        settings.radio.bodyLoss = 0
        settings.radio.lossShare = 0
        settings.radio.advertisingInterval = 0.1
        return settings
    }

    static func stay(
        at point: MapPoint, on map: MapID = ground, seconds: Double, heading: Double? = nil
    ) -> WalkPath {
        WalkPath(points: [WalkPath.Point(mapID: map, point: point, pause: seconds, heading: heading)])
    }

    static func walk(_ points: [MapPoint], speed: Double = 1) -> WalkPath {
        WalkPath(speed: speed, points: points.map { WalkPath.Point(mapID: ground, point: $0) })
    }
}

extension WalkSimulator {
    var sightings: [Sighting] {
        sensorReadings().compactMap { if case .sighting(let sighting) = $0 { sighting } else { nil } }
    }

    var motion: [MotionSample] {
        sensorReadings().compactMap { if case .motion(let sample) = $0 { sample } else { nil } }
    }
}

/// Returns the mean of numbers; NaN without numbers, with which every comparison fails.
func mean(_ numbers: [Double]) -> Double { numbers.reduce(0, +) / Double(numbers.count) }
