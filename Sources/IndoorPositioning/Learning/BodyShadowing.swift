import IndoorVocabulary
import VenueModel

/// An estimate of the body shadowing in a survey.
///
/// A body attenuates all beacons on its side equally. At each surveyed place, the residuals of the readings are modeled
/// as a common offset, a vector whose component along the direction to a beacon adds to its reading, and noise. The
/// variances of vector and noise are fitted to the products of the residuals by least squares.
struct BodyShadowing {
    /// A beacon as received at a place.
    private struct Accumulator {
        /// Direction of the beacon as a unit vector.
        var x: Double
        var y: Double
        /// Residual of the reading in dB.
        var residual: Double
    }

    /// Variance in dB² of the body-shadowing vector along each axis, at least 0.
    let body: Double
    /// Variance of the noise in dB².
    let noise: Double

    /// Minimum number of beacons at a place.
    static let fewest = 4
    /// Maximum number of places used.
    private static let placeLimit = 1000
    /// Minimum number of readings for an estimate, not counting three at each place.
    private static let smallest = 50

    /// Creates the estimate from the residuals of each place; nil if there are too few.
    init?(
        _ residuals: [ShadowingRegression.Residual], beacons: [RadioMap.Beacon], places: SurveyedPlaces
    ) {
        let byPlace = Dictionary(grouping: residuals, by: \.place).sorted { $0.key < $1.key }.prefix(Self.placeLimit)
        let heard = byPlace.map { index, residuals in
            let place = places.fingerprints[index]
            return residuals.filter { beacons[$0.beacon].mapID == place.mapID }.map { residual in
                Self.accumulator(residual, beacons[residual.beacon], at: place.point)
            }
        }.filter { $0.count >= Self.fewest }
        guard heard.reduce(0, { $0 + $1.count - 3 }) >= Self.smallest,
            let (body, noise) = Self.variances(heard)
        else { return nil }
        self.body = max(0, body)
        self.noise = max(noise, 1)
    }

    private static func accumulator(
        _ residual: ShadowingRegression.Residual, _ beacon: RadioMap.Beacon, at point: MapPoint
    ) -> Accumulator {
        let (dx, dy) = (beacon.point.x - point.x, beacon.point.y - point.y)
        let planar = (dx * dx + dy * dy).squareRoot()
        return Accumulator(
            x: planar > 0 ? dx / planar : 0, y: planar > 0 ? dy / planar : 0, residual: residual.value)
    }

    /// Fits the two variances to the products of each place's residuals, minus their mean, by least squares.
    private static func variances(_ places: [[Accumulator]]) -> (body: Double, noise: Double)? {
        var (bb, bn, nn, by, ny) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for accumulators in places {
            let count = Double(accumulators.count)
            let mean = accumulators.reduce(0) { $0 + $1.residual } / count
            let (meanX, meanY) = (
                accumulators.reduce(0) { $0 + $1.x } / count, accumulators.reduce(0) { $0 + $1.y } / count
            )
            for (row, first) in accumulators.enumerated() {
                for (column, other) in accumulators.enumerated() {
                    let product = (first.residual - mean) * (other.residual - mean)
                    let alignment = (first.x - meanX) * (other.x - meanX) + (first.y - meanY) * (other.y - meanY)
                    let own = (row == column ? 1 : 0) - 1 / count
                    bb += alignment * alignment
                    bn += alignment * own
                    nn += own * own
                    by += alignment * product
                    ny += own * product
                }
            }
        }
        let determinant = bb * nn - bn * bn
        guard determinant > 1e-9 * bb * nn else { return nil }
        return ((by * nn - ny * bn) / determinant, (ny * bb - by * bn) / determinant)
    }
}
