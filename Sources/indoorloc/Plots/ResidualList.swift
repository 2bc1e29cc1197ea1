import IndoorLocalization
import LocalizationFigures

/// The residuals of readings at known places.
struct ResidualList: Sendable {
    /// The residuals of each beacon, ordered by identity.
    let beacons: [BeaconResiduals]
    /// The number of readings of beacons that the venue doesn't have, or off the grid of its maps.
    let skipped: Int

    /// - Parameter chosen: the beacons; empty for all.
    init(
        _ placed: PlacedReadings, of chosen: Set<BeaconIdentity>, field: SignalField, _ names: BeaconNames
    ) {
        var values: [BeaconIdentity: [Double]] = [:]
        var skipped = 0
        for reading in placed.readings(of: chosen) {
            guard let index = field.indexes[reading.beacon],
                let expected = field.expectation(of: index, at: reading.point, on: reading.mapID)
            else {
                skipped += 1
                continue
            }
            values[reading.beacon, default: []].append(reading.rssi - expected.rssi)
        }
        beacons = values.sorted { $0.key < $1.key }.map {
            BeaconResiduals(name: names.name(of: $0.key), values: $0.value)
        }
        self.skipped = skipped
    }

    var count: Int { beacons.reduce(0) { $0 + $1.values.count } }

    /// The mean and the standard deviation in words.
    var caption: String {
        let all = beacons.flatMap(\.values)
        let mean = all.reduce(0, +) / Double(max(1, all.count))
        let squares = all.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let deviation = (squares / Double(max(1, all.count))).squareRoot()
        func decibels(_ value: Double) -> String {
            JSONText.number(value, decimals: 1).replacing("-", with: "−") + " dB"
        }
        let rest = skipped > 0 ? " \(skipped.counting("reading")) of other beacons or beside the plan not shown." : ""
        return
            "\(all.count.counting("reading")) of \(beacons.count.counting("beacon")): mean \(decibels(mean)), standard "
            + "deviation \(decibels(deviation)).\(rest)"
    }
}
