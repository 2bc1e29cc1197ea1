import IndoorLocalization
import LocalizationFigures

/// The readings of beacons over their distance, with a law each.
struct RangeList: Sendable {
    /// The beacons, ordered by identity.
    let beacons: [BeaconRange]
    /// The number of beacons with readings.
    private let found: Int

    /// The maximum number of beacons, unless they are chosen.
    private static let limit = 12

    /// - Parameter chosen: the beacons; empty for those with the most readings.
    init(
        _ placed: PlacedReadings, of chosen: [BeaconIdentity], in venue: Venue, usualExponent: Double,
        _ names: BeaconNames
    ) {
        let places = venue.beaconPlaces
        var points: [BeaconIdentity: [ChartPoint]] = [:]
        for reading in placed.readings(of: Set(chosen)) {
            guard let place = places[reading.beacon], place.mapID == reading.mapID else { continue }
            points[reading.beacon, default: []].append(
                ChartPoint(x: place.point.distance(to: reading.point), y: reading.rssi))
        }
        found = points.count
        let most = points.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
            .prefix(chosen.isEmpty ? Self.limit : points.count)
        let farthest = most.flatMap(\.value).map(\.x).max() ?? 1
        beacons = most.sorted { $0.key < $1.key }.compactMap { beacon, readings in
            PathLossFit(readings, usualExponent: usualExponent).map { fit in
                BeaconRange(
                    name: "\(names.name(of: beacon)): \(fit.text)", readings: readings,
                    law: fit.curve(to: farthest), deviation: fit.deviation)
            }
        }
    }

    var caption: String {
        let readings = beacons.reduce(0) { $0 + $1.readings.count }
        let rest = found > beacons.count ? ", those with the most readings of \(found)" : ""
        return "\(readings.counting("reading")) of \(beacons.count.counting("beacon"))\(rest). The distance is the "
            + "horizontal one. The law is fitted to the readings of the beacon by least squares; ± is their standard "
            + "deviation from it."
    }
}
