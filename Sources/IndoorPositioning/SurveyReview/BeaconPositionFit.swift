import CMath
import IndoorVocabulary
import VenueModel

/// A fit of a beacon's position to its survey readings, and a comparison with the position in the venue.
///
/// The likelihood of a candidate position combines path loss with correlated shadowing and an unknown power; the estimate
/// is the posterior mean. Source: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location
/// Estimation*, Robotics: Science and Systems, 2006.
struct BeaconPositionFit {
    /// A mean reading at a surveyed place.
    struct Reading {
        var place: RadioMap.Fingerprint
        var rssi: Double
        var count: Int

        var point: MapPoint { place.point }
    }

    /// The posterior mean.
    let point: MapPoint
    /// The standard deviation of the position along each axis, in metres.
    let deviation: Double
    /// The logarithm of the likelihood ratio between the best position and the venue's position, at least 0.
    let doubt: Double

    /// The radius in metres of the search around the strongest readings.
    private static let reach = 20.0
    /// The distance in metres between candidate positions.
    private static let step = 2.0
    /// The maximum number of readings; more are thinned out.
    static let readingLimit = 200
    /// The minimum number of readings for an estimate.
    static let fewest = 5

    /// Fits the position of one beacon on one map; nil with too few readings.
    ///
    /// - Parameters:
    ///   - known: the venue's position.
    ///   - power: the mean power of all beacons in dBm.
    init?(
        _ all: [Reading], known: MapPoint, power: Double, exponent: Double, model: SignalModel
    ) {
        let readings = all.thinned(to: Self.readingLimit)
        guard readings.count >= Self.fewest else { return nil }
        let heard = readings.map { (point: $0.point, deviation: $0.place.deviation, count: $0.count) }
        guard let factor = model.covariance(of: heard, constant: model.powerDeviation * model.powerDeviation) else {
            return nil
        }
        let points = Self.candidates(around: Self.center(of: readings)) + [known]
        let errors = points.map { point in
            readings.map { reading in
                reading.rssi
                    - model.pathLoss(
                        power: power, exponent: exponent, planar: point.distance(to: reading.point),
                        height: model.heightDifference)
            }
        }
        let squares = factor.whitened(each: errors).map { $0.reduce(0) { $0 + $1 * $1 } }
        let least = squares.min() ?? 0
        let weights = squares.map { cmath_exp((least - $0) / 2) }
        let sum = weights.reduce(0, +)
        let x = zip(weights, points).reduce(0) { $0 + $1.0 * $1.1.x } / sum
        let y = zip(weights, points).reduce(0) { $0 + $1.0 * $1.1.y } / sum
        let variance = zip(weights, points).reduce(0) { sum, entry in
            let (dx, dy) = (entry.1.x - x, entry.1.y - y)
            return sum + entry.0 * (dx * dx + dy * dy) / 2
        }
        point = MapPoint(x: x, y: y)
        deviation = (variance / sum + Self.step * Self.step / 12).squareRoot()
        doubt = (squares[squares.count - 1] - least) / 2
    }

    /// Returns evenly spaced positions in a disk.
    private static func candidates(around center: MapPoint) -> [MapPoint] {
        let steps = Int(reach / step)
        return (-steps...steps).flatMap { row in
            (-steps...steps).filter { row * row + $0 * $0 <= steps * steps }.map {
                center + MapPoint(x: Double($0), y: Double(row)) * step
            }
        }
    }

    /// Returns the mean position of the readings, weighted by amplitude.
    private static func center(of readings: [Reading]) -> MapPoint {
        var (weight, sum) = (0.0, MapPoint(x: 0, y: 0))
        for reading in readings {
            let amplitude = cmath_pow(10, reading.rssi / 20)
            weight += amplitude
            sum = sum + reading.point * amplitude
        }
        return sum * (1 / weight)
    }
}
