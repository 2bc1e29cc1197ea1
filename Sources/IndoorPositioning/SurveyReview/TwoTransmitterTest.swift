import IndoorVocabulary
import VenueModel

/// A test of whether two transmitters explain the readings of one identity much better than one transmitter.
///
/// Each hypothesis has one power. With two transmitters, a reading comes from the transmitter with the higher expected
/// RSSI. The candidate positions are surveyed places. The test compares the sums of squared errors, as an F-test does:
/// G. A. F. Seber, A. J. Lee, *Linear Regression Analysis*, 2003, chapter 4.
struct TwoTransmitterTest {
    let model: SignalModel
    let exponent: Double

    /// The number of places with the strongest readings that are candidate positions.
    private static let candidates = 30
    /// The minimum distance in metres between two transmitters.
    private static let leastDistance = 10.0
    /// The minimum number of readings of each transmitter.
    private static let leastReadings = 3
    /// The minimum ratio between the sums of squared errors with one and with two transmitters.
    private static let leastRatio = 2.0
    /// The minimum gain in the logarithm of the likelihood.
    private static let leastGain = 15.0
    /// The maximum difference in dB between the strongest readings of both transmitters.
    private static let greatestDifference = 15.0

    /// Returns the places of both transmitters; nil if one transmitter explains the readings well enough.
    func places(of all: [BeaconPositionFit.Reading]) -> (first: MapPoint, second: MapPoint)? {
        let readings = all.thinned(to: BeaconPositionFit.readingLimit)
        guard readings.count >= 2 * Self.leastReadings else { return nil }
        let strongest = readings.sorted { $0.rssi > $1.rssi }
        let points = separated(strongest.map(\.point))
        let losses = points.map { point in
            readings.map {
                model.pathLoss(
                    power: 0, exponent: exponent, planar: point.distance(to: $0.point), height: model.heightDifference)
            }
        }
        let rssis = readings.map(\.rssi)
        let single = losses.map { Self.squares(rssis, $0) }.min() ?? 0
        var best: (sum: Double, first: Int, second: Int)?
        for first in points.indices {
            for second in points.indices.dropFirst(first + 1)
            where points[first].distance(to: points[second]) >= Self.leastDistance {
                let sum = Self.squares(rssis, zip(losses[first], losses[second]).map(max))
                if sum < best?.sum ?? .infinity { best = (sum, first, second) }
            }
        }
        guard let best else { return nil }
        let variance = model.shadowing * model.shadowing + model.surveyVariance(count: model.readingCap)
        guard single > Self.leastRatio * best.sum, single - best.sum > 2 * Self.leastGain * variance else { return nil }
        // The strongest reading of each transmitter.
        var peaks = [-Double.infinity, -Double.infinity]
        var counts = [0, 0]
        for index in rssis.indices {
            let owner = losses[best.first][index] >= losses[best.second][index] ? 0 : 1
            counts[owner] += 1
            peaks[owner] = max(peaks[owner], rssis[index])
        }
        guard counts.allSatisfy({ $0 >= Self.leastReadings }), abs(peaks[0] - peaks[1]) <= Self.greatestDifference
        else { return nil }
        return (points[best.first], points[best.second])
    }

    /// Returns the points in order, without those less than 2 m from an earlier returned point.
    private func separated(_ points: [MapPoint]) -> [MapPoint] {
        var kept: [MapPoint] = []
        for point in points where kept.allSatisfy({ $0.distance(to: point) >= 2 }) {
            kept.append(point)
            if kept.count == Self.candidates { break }
        }
        return kept
    }

    /// Returns the sum of squared errors with the best power.
    private static func squares(_ rssis: [Double], _ losses: [Double]) -> Double {
        let count = Double(rssis.count)
        let power = zip(rssis, losses).reduce(0) { $0 + $1.0 - $1.1 } / count
        return zip(rssis, losses).reduce(0) { $0 + ($1.0 - $1.1 - power) * ($1.0 - $1.1 - power) }
    }
}
