import IndoorVocabulary
import VenueModel

/// A mean reading of a survey, compared with the prediction by the rest of the survey.
package struct SurveyResidual: Hashable, Sendable {
    /// The index of the place in the radio map's fingerprints.
    package var place: Int
    /// The index of the beacon in the radio map's beacons.
    package var beacon: Int
    /// The mean RSSI in dBm, normalized to the mean receiver of the survey.
    package var rssi: Double
    /// The RSSI in dBm that path loss and the beacon's readings at the other places predict.
    package var predicted: Double
    /// The standard deviation in dB that the signal model expects of the difference.
    package var deviation: Double

    /// The difference between the reading and the prediction in dB.
    package var value: Double { rssi - predicted }

    /// Creates a residual.
    package init(place: Int, beacon: Int, rssi: Double, predicted: Double, deviation: Double) {
        self.place = place
        self.beacon = beacon
        self.rssi = rssi
        self.predicted = predicted
        self.deviation = deviation
    }
}

extension RadioMap {
    /// Returns the leave-one-out residuals of the readings, ordered by place and beacon.
    ///
    /// Each reading is predicted from the readings of the same beacon at all other places of the map, without learning the
    /// map again. Source: C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, 2006, section
    /// 5.4.2. The readings of a beacon on one map are thinned out beyond 400, and the thinned readings have no residual.
    package func residuals(in venue: Venue, model: SignalModel = SignalModel()) -> [SurveyResidual] {
        let model = model.fitted(to: self)
        let floorDistance = FloorDistance(venue.maps)
        var groups: [MapID: [Int: [(place: Int, reading: RadioMap.Reading)]]] = [:]
        for (index, place) in fingerprints.enumerated() {
            for reading in place.readings where beacons.indices.contains(reading.beacon) {
                groups[place.mapID, default: [:]][reading.beacon, default: []].append((index, reading))
            }
        }
        var residuals: [SurveyResidual] = []
        for (map, byBeacon) in groups {
            for (index, all) in byBeacon {
                let readings = all.thinned(to: Self.residualReadings)
                let heard = readings.map {
                    (fingerprints[$0.place].point, fingerprints[$0.place].deviation, $0.reading.count)
                }
                guard
                    let factor = model.covariance(of: heard, constant: model.powerDeviation * model.powerDeviation)
                else { continue }
                let beacon = beacons[index]
                let loss = model.floorLoss * Double(floorDistance.floors(from: beacon.mapID, to: map))
                let differences = readings.map { entry in
                    let point = fingerprints[entry.place].point
                    let expected = model.expectedRSSI(of: beacon, exponent: pathLossExponent, at: point)
                    return entry.reading.rssi - expected + loss
                }
                let (weights, precisions) = (factor.solve(differences), factor.inverseDiagonal())
                for (position, entry) in readings.enumerated() {
                    residuals.append(
                        SurveyResidual(
                            place: entry.place, beacon: index, rssi: entry.reading.rssi,
                            predicted: entry.reading.rssi - weights[position] / precisions[position],
                            deviation: (1 / precisions[position]).squareRoot()))
                }
            }
        }
        return residuals.sorted { ($0.place, $0.beacon) < ($1.place, $1.beacon) }
    }

    private static let residualReadings = 400
}
