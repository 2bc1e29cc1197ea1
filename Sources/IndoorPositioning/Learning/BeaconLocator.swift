import CMath
import IndoorVocabulary

/// An estimator of unknown beacon positions from the RSSI of a survey.
///
/// The candidate positions of a beacon surround its strongest readings. The likelihood of a candidate combines path
/// loss with the shadowing of a Gaussian process; the power is integrated out. The exponent and the mean power maximize
/// the likelihood of all readings. The result is the posterior mean. A mean of the surveyed places, weighted by
/// amplitude, would be no alternative: it would put every beacon on the surveyor's route.
///
/// Source: Y. Bar-Shalom, X. R. Li, T. Kirubarajan, *Estimation with Applications to Tracking and Navigation*, 2001,
/// section 2.2 (posterior mean); the readings' likelihood: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal
/// Strength-Based Location Estimation*, Robotics: Science and Systems, 2006.
struct BeaconLocator {
    /// A reading at a surveyed place.
    struct Reading {
        var point: MapPoint
        /// Mean RSSI in dBm.
        var rssi: Double
        /// Number of sightings in the mean.
        var count: Int
        /// Standard deviation of the point along each axis in metres.
        var deviation = 0.0

        /// Amplitude of the signal, up to a common factor.
        var amplitude: Double { cmath_pow(10, rssi / 20) }
    }

    /// Inner products of three vectors in the metric of the readings' inverse covariance: a beacon's readings y, the
    /// path loss h from a candidate position for an exponent of 1, and ones 1.
    private struct Products {
        var readings: Double
        var readingsOnes: Double
        var ones: Double
        /// The products of each candidate position.
        var places: [(point: MapPoint, readingsLoss: Double, loss: Double, lossOnes: Double)]
    }

    let model: SignalModel

    /// Radius in metres of the search around a beacon's strongest readings.
    private static let reach = 20.0
    /// Distance in metres between the candidate positions.
    private static let step = 2.0
    /// Maximum number of readings of a beacon; more are thinned out.
    private static let readingLimit = 100
    /// The candidate exponents.
    private static let exponents = stride(from: 1.0, through: 4, by: 0.1)
    /// Number of iterations for the mean power.
    private static let rounds = 3

    /// Returns the position of each beacon, given its readings on its own map; nil for a beacon without readings.
    func places(of readings: [[Reading]]) -> [MapPoint?] {
        let beacons = readings.map { products(of: $0.thinned(to: Self.readingLimit)) }
        var best = (evidence: -Double.infinity, exponent: 0.0, power: 0.0)
        for exponent in Self.exponents {
            var power = model.defaultPower
            for _ in 0..<Self.rounds {
                let posteriors = beacons.compactMap { $0.map { posterior($0, exponent, power) } }
                let evidence = posteriors.reduce(0) { $0 + $1.evidence }
                if evidence > best.evidence { best = (evidence, exponent, power) }
                guard !posteriors.isEmpty else { break }
                power = posteriors.reduce(0) { $0 + $1.power } / Double(posteriors.count)
            }
        }
        return beacons.map { $0.map { posterior($0, best.exponent, best.power).point } }
    }

    private func products(of readings: [Reading]) -> Products? {
        // The power is integrated out separately.
        let heard = readings.map { (point: $0.point, deviation: $0.deviation, count: $0.count) }
        guard let center = Self.center(of: readings), let factor = model.covariance(of: heard, constant: 0) else {
            return nil
        }
        let points = center.disk(reach: Self.reach, step: Self.step)
        let losses = points.map { point in
            readings.map {
                model.pathLoss(
                    power: 0, exponent: 1, planar: point.distance(to: $0.point), height: model.heightDifference)
            }
        }
        var whitened = factor.whitened(each: losses + [readings.map(\.rssi), readings.map { _ in 1 }])
        let ones = whitened.removeLast()
        let rssis = whitened.removeLast()
        return Products(
            readings: Self.product(rssis, rssis), readingsOnes: Self.product(rssis, ones),
            ones: Self.product(ones, ones),
            places: zip(points, whitened).map {
                ($0, Self.product(rssis, $1), Self.product($1, $1), Self.product($1, ones))
            })
    }

    /// Returns the mean position of the readings, weighted by amplitude; nil without readings.
    private static func center(of readings: [Reading]) -> MapPoint? {
        var (weight, x, y) = (0.0, 0.0, 0.0)
        for reading in readings {
            weight += reading.amplitude
            x += reading.amplitude * reading.point.x
            y += reading.amplitude * reading.point.y
        }
        return weight > 0 ? MapPoint(x: x / weight, y: y / weight) : nil
    }

    private static func product(_ a: [Double], _ b: [Double]) -> Double {
        var sum = 0.0
        for index in a.indices { sum += a[index] * b[index] }
        return sum
    }

    /// Returns a beacon's posterior mean position and power, given the mean power and the exponent, and the
    /// log-likelihood of its readings up to a constant.
    private func posterior(
        _ products: Products, _ exponent: Double, _ mean: Double
    ) -> (point: MapPoint, power: Double, evidence: Double) {
        // The precision of the power, from its prior and from the readings.
        let spread = 1 / (model.powerDeviation * model.powerDeviation)
        let precision = spread + products.ones
        var candidates = products.places.map { place in
            // For the readings minus path loss and mean power: the square, and the product with ones.
            let ones = products.readingsOnes - exponent * place.lossOnes - mean * products.ones
            let square =
                products.readings + exponent * exponent * place.loss - 2 * exponent * place.readingsLoss
                - mean * (products.readingsOnes - exponent * place.lossOnes + ones)
            return (weight: (ones * ones / precision - square) / 2, power: mean + ones / precision)
        }
        let best = candidates.map(\.weight).max() ?? 0
        var (sum, point, power) = (0.0, MapPoint(x: 0, y: 0), 0.0)
        for index in candidates.indices {
            candidates[index].weight = cmath_exp(candidates[index].weight - best)
            sum += candidates[index].weight
            point = point + products.places[index].point * candidates[index].weight
            power += candidates[index].power * candidates[index].weight
        }
        return (point * (1 / sum), power / sum, best + cmath_log(sum / Double(candidates.count)))
    }
}

extension MapPoint {
    /// Returns evenly spaced points in a disk around this point: the candidate positions of a beacon with its strongest
    /// readings here.
    func disk(reach: Double, step: Double) -> [MapPoint] {
        let steps = Int(reach / step)
        return (-steps...steps).flatMap { row -> [MapPoint] in
            let columns = (-steps...steps).filter { row * row + $0 * $0 <= steps * steps }
            return columns.map { self + MapPoint(x: Double($0), y: Double(row)) * step }
        }
    }
}
