import CMath
import IndoorVocabulary
import VenueModel

extension IntegrityMonitor {
    /// The maximum variance in m² and the minimum map probability of a position that determines which beacons are
    /// expected.
    private static let sharpVariance = 12.0
    private static let certainShare = 0.9
    /// The maximum distance in metres of a beacon that must be received.
    private static let nearDistance = 12.0
    /// The time in seconds after which a body or a door no longer hides a beacon.
    private static let shadowTime = 6.0
    /// The maximum that one global update adds to the logarithm of the odds.
    private static let mostGain = 1.5
    /// The time constant in seconds of the average of received and expected readings.
    private static let receptionTime = 60.0

    /// Tests whether expected beacons are silent.
    mutating func listen(
        _ consensus: BeaconConsensus, _ evidence: Evidence, field: SignalField, seconds: Double, fresh: Double,
        at now: Instant
    ) {
        let map = field.maps[consensus.mapIndex]
        for reading in evidence.heard { silences.removeAll { $0.beacon == reading.beacon } }
        guard field.areRatesKnown, consensus.variance < Self.sharpVariance,
            consensus.mapShares[consensus.mapIndex] > Self.certainShare,
            evidence.heard.count >= 2, seconds.isFinite, let cell = map.grid.cell(at: consensus.mean)
        else { return }
        let keep = cmath_exp(-seconds / Self.receptionTime)
        let window = Double(evidence.duration)
        var (heard, expected) = (0.0, 0.0)
        var missing: [(beacon: Int, rate: Double)] = []
        for (beacon, transmitter) in field.transmitters.enumerated() where transmitter.mapID == map.mapID {
            let distance = transmitter.point.distance(to: consensus.mean)
            guard distance < Self.nearDistance, let table = map.tables[beacon],
                let entry = table.index(column: cell % map.grid.columns, row: cell / map.grid.columns),
                !table.logRate.isEmpty
            else { continue }
            let rate = cmath_exp(Double(table.logRate[entry]))
            if let reading = evidence.heard.first(where: { $0.beacon == beacon }) {
                heard += Double(reading.count)
                expected += rate * window
            } else if tested.extent(isSurveyed: field.isPowerSurveyed(beacon)) == .everything {
                missing.append((beacon, rate))
                if !(silences.contains { $0.beacon == beacon && $0.odds > 0 }) { expected += rate * window }
            }
        }
        reception.heard = reception.heard * keep + heard
        reception.expected = reception.expected * keep + expected
        let share = min((reception.heard + 0.1) / (reception.expected + 1), 3)
        let independent = 1 - cmath_exp(-seconds / Self.shadowTime) * (1 - fresh)
        for (beacon, rate) in missing {
            let gain = min(share * rate * seconds, Self.mostGain) * independent
            guard gain > 0.02 else { continue }
            atlas?.addMissed(gain, of: beacon)
            let index = silences.firstIndex { $0.beacon >= beacon } ?? silences.count
            if index == silences.count || silences[index].beacon != beacon {
                silences.insert(SilenceRecord(beacon: beacon), at: index)
            }
            silences[index].odds = min(silences[index].odds + gain, BeaconRecord.highest)
            if silences[index].since == nil, silences[index].odds >= BeaconRecord.named {
                silences[index].since = now
            }
        }
    }
}
