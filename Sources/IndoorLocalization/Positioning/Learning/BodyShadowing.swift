import CMath

/// How much whoever carries the device takes from the beacons behind, as a survey tells, and how many beacons are worth
/// hearing then.
///
/// A body weakens all beacons on its side alike, so that their errors push the place the same way, and hearing more of them
/// makes it no better. At each surveyed place what remains of the readings is taken as a common offset, a vector whose
/// component along the direction to a beacon adds to its reading, and noise. From both variances and from where the beacons
/// are follows the error of a fix by the strongest few.
/// Source of the error of least squares whose noise is not what it expects: H. White, *A Heteroskedasticity-Consistent
/// Covariance Matrix Estimator and a Direct Test for Heteroskedasticity*, Econometrica 48(4), 1980.
struct BodyShadowing {
    /// A beacon as a place hears it.
    private struct Ear {
        /// The beacon's direction, as a vector of length 1.
        var x: Double
        var y: Double
        /// Decibels that it gets stronger a metre towards it.
        var slope: Double
        /// Expected RSSI in dBm.
        var level: Double
        /// What remains of the reading, in dB.
        var residual: Double
    }

    /// Sums over a place's beacons, of a fix by the strongest.
    private struct Fix {
        /// The information about the place along both axes, and what the body adds to it.
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        var (bodyXX, bodyXY, bodyYX, bodyYY) = (0.0, 0.0, 0.0, 0.0)

        mutating func add(_ ear: Ear) {
            let (gx, gy) = (ear.slope * ear.x, ear.slope * ear.y)
            xx += gx * gx
            xy += gx * gy
            yy += gy * gy
            bodyXX += gx * ear.x
            bodyXY += gx * ear.y
            bodyYX += gy * ear.x
            bodyYY += gy * ear.y
        }

        /// Root mean square error in metres, with the variances of noise and of the body's vector along each axis in dB²
        /// and a place known beforehand to within `spread` metres.
        func error(noise: Double, body: Double, spread: Double) -> Double {
            let prior = noise / (spread * spread)
            let (a, b, c) = (xx + prior, xy, yy + prior)
            let determinant = a * c - b * b
            let (ia, ib, ic) = (c / determinant, -b / determinant, a / determinant)
            let nxx = noise * xx + body * (bodyXX * bodyXX + bodyXY * bodyXY)
            let nxy = noise * xy + body * (bodyXX * bodyYX + bodyXY * bodyYY)
            let nyy = noise * yy + body * (bodyYX * bodyYX + bodyYY * bodyYY)
            let mxx = ia * (ia * nxx + ib * nxy) + ib * (ia * nxy + ib * nyy)
            let myy = ib * (ib * nxx + ic * nxy) + ic * (ib * nxy + ic * nyy)
            return max(0, mxx + myy).squareRoot()
        }
    }

    /// Variance in dB² of the body's vector along each axis, from 0.
    let body: Double
    /// Variance of what remains beside it, in dB².
    let noise: Double
    private let places: [[Ear]]

    /// Fewer beacons than these are never chosen.
    static let fewest = 4
    /// A fix that is worse than the best by no more than this share is as good: more beacons guard against a bad one.
    private static let tolerance = 0.02
    /// Metres within which a place is known without any beacon.
    private static let spread = 5.0
    /// So many places tell enough.
    private static let placeLimit = 1000
    /// With fewer readings of beacons than this, beyond three at each place, nothing is told.
    private static let smallest = 50

    /// Compares the readings of each place with each other; nil if there are too few.
    init?(
        _ residuals: [ShadowingRegression.Residual], beacons: [RadioMap.Beacon], exponent: Double, model: SignalModel,
        places: SurveyedPlaces
    ) {
        let byPlace = Dictionary(grouping: residuals, by: \.place).sorted { $0.key < $1.key }.prefix(Self.placeLimit)
        self.places = byPlace.map { index, residuals in
            let place = places.fingerprints[index]
            return residuals.filter { beacons[$0.beacon].mapID == place.mapID }.map { residual in
                Self.ear(residual, beacons[residual.beacon], at: place.point, exponent, model)
            }
        }.filter { $0.count >= Self.fewest }
        guard self.places.reduce(0, { $0 + $1.count - 3 }) >= Self.smallest,
            let (body, noise) = Self.variances(self.places)
        else { return nil }
        self.body = max(0, body)
        self.noise = max(noise, 1)
    }

    private static func ear(
        _ residual: ShadowingRegression.Residual, _ beacon: RadioMap.Beacon, at point: MapPoint, _ exponent: Double,
        _ model: SignalModel
    ) -> Ear {
        let (dx, dy) = (beacon.point.x - point.x, beacon.point.y - point.y)
        let planar = (dx * dx + dy * dy).squareRoot()
        let squared = planar * planar + model.heightDifference * model.heightDifference
        return Ear(
            x: planar > 0 ? dx / planar : 0, y: planar > 0 ? dy / planar : 0,
            // The derivative of 10·n·log₁₀ of the distance along the plan.
            slope: 10 / cmath_log(10) * exponent * planar / max(squared, 1e-6),
            level: model.level(of: beacon, exponent: exponent, at: point), residual: residual.value)
    }

    /// Fits the products of a place's residuals, less their mean, with the two variances by least squares.
    private static func variances(_ places: [[Ear]]) -> (body: Double, noise: Double)? {
        var (bb, bn, nn, by, ny) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for ears in places {
            let count = Double(ears.count)
            let mean = ears.reduce(0) { $0 + $1.residual } / count
            let (meanX, meanY) = (ears.reduce(0) { $0 + $1.x } / count, ears.reduce(0) { $0 + $1.y } / count)
            for (row, ear) in ears.enumerated() {
                for (column, other) in ears.enumerated() {
                    let product = (ear.residual - mean) * (other.residual - mean)
                    let alike = (ear.x - meanX) * (other.x - meanX) + (ear.y - meanY) * (other.y - meanY)
                    let own = (row == column ? 1 : 0) - 1 / count
                    bb += alike * alike
                    bn += alike * own
                    nn += own * own
                    by += alike * product
                    ny += own * product
                }
            }
        }
        let determinant = bb * nn - bn * bn
        guard determinant > 1e-9 * bb * nn else { return nil }
        return ((by * nn - ny * bn) / determinant, (ny * bb - by * bn) / determinant)
    }

    /// How many of the strongest beacons a fix should use.
    ///
    /// - Parameter usual: how many otherwise: no fewer, if all that any place hears are worth it.
    func beaconLimit(usual: Int) -> Int {
        let most = places.map(\.count).max() ?? 0
        guard most > Self.fewest else { return usual }
        var errors = [Double](repeating: 0, count: most + 1)
        for ears in places {
            var fix = Fix()
            var error = 0.0
            for (index, ear) in ears.sorted(by: { $0.level > $1.level }).enumerated() {
                fix.add(ear)
                error = fix.error(noise: noise, body: body, spread: Self.spread)
                errors[index + 1] += error
            }
            for count in (ears.count + 1)..<(most + 1) { errors[count] += error }
        }
        let choices = Self.fewest...most
        let best = choices.map { errors[$0] }.min() ?? 0
        let count = choices.last { errors[$0] <= (1 + Self.tolerance) * best } ?? most
        return count < most ? count : max(most, usual)
    }
}
