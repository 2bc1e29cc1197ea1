// A program that imports the core alone: four beacons in the corners of a hall, and a device at (6, 4).
import IndoorLocalization

guard let uuid = BeaconUUID("B5B182C7-EAB1-4988-AA99-B5C1517008D9") else { fatalError("the UUID is well-formed") }
let corners = [MapPoint(x: 0, y: 0), MapPoint(x: 20, y: 0), MapPoint(x: 20, y: 10), MapPoint(x: 0, y: 10)]
let beacons = corners.enumerated().map { number, corner in
    VenueBeacon(
        identity: BeaconIdentity(uuid: uuid, major: 1, minor: UInt16(number)), mapID: 1, point: corner,
        measuredPower: -59, pathLossExponent: 2)
}
let hall = Venue(
    id: 1, name: "Hall", maps: [VenueMap(id: 1, name: "Ground floor", level: 0, width: 20, height: 10)],
    beacons: beacons)

/// Returns readings of each beacon, twice a second, with the RSSI for the distance from (6, 4).
struct Standing: ScanSource {
    var pace: ScanPace { .recorded }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream { continuation in
            for half in 0..<20 {
                for (beacon, rssi) in zip(beacons, [-76.2, -82.3, -82.7, -77.6]) {
                    continuation.yield(
                        .sighting(
                            Sighting(instant: Instant(seconds: Double(half) / 2), beacon: beacon.identity, rssi: rssi)))
                }
            }
            continuation.finish()
        }
    }
}

let localizer = Localizer(source: Standing(), venues: VenueLibrary([hall]))
let positions = localizer.positions
let states = localizer.states
await localizer.start()
var hasBegun = false
for await state in states {
    hasBegun = hasBegun || state == .started
    if hasBegun, state == .idle { break }
}

var taken = 0
for await position in positions {
    let off = position.point.distance(to: MapPoint(x: 6, y: 4))
    guard off < 5 else { fatalError("\(position) is \(off) m off") }
    print("position", position.x, position.y, "on map", position.mapID)
    taken += 1
    if taken == 5 { break }
}
