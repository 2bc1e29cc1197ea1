import IndoorVocabulary
import VenueModel

/// The Fisher information of RSSI readings about a position and the receiver's offset.
///
/// The inverse is the Cramér–Rao bound: the least covariance of any unbiased estimator. Source: N. Patwari, A. O. Hero,
/// M. Perkins, N. S. Correal, R. J. O'Dea, *Relative Location Estimation in Wireless Sensor Networks*, IEEE Transactions
/// on Signal Processing 51(8), 2003; here with a difference in height. The offset of the receiver is a nuisance
/// parameter with a normal prior: S. M. Kay, *Fundamentals of Statistical Signal Processing: Estimation Theory*, 1993,
/// section 3.7.
package struct PositionInformation: Hashable, Sendable {
    /// The information about the coordinates, in 1/m².
    package private(set) var xx = 0.0
    package private(set) var xy = 0.0
    package private(set) var yy = 0.0
    /// The information that the coordinates and the receiver's offset share, in 1/(m dB).
    private var xo = 0.0
    private var yo = 0.0
    /// The information about the receiver's offset, in 1/dB².
    private var oo = 0.0

    /// The minimum squared distance from a beacon, in m².
    private static let leastSquare = 0.01

    /// Creates information without readings.
    package init() {}

    /// Adds the reading of a beacon.
    ///
    /// - Parameters:
    ///   - offset: the horizontal vector from the beacon to the position, in metres.
    ///   - height: the difference in height in metres.
    ///   - exponent: the path-loss exponent.
    ///   - precision: the inverse of the reading's variance, in 1/dB².
    package mutating func add(offset: MapPoint, height: Double, exponent: Double, precision: Double) {
        // The path-loss law doesn't hold next to the antenna, where its slope would be infinite.
        let square = max(Self.leastSquare, offset.x * offset.x + offset.y * offset.y + height * height)
        // The slope of path loss, 10·n·log₁₀ d, in dB/m.
        let slope = 10 * exponent / 2.302_585_092_994_046 / square
        let (x, y) = (-slope * offset.x, -slope * offset.y)
        xx += precision * x * x
        xy += precision * x * y
        yy += precision * y * y
        xo += precision * x
        yo += precision * y
        oo += precision
    }

    /// Adds other information, multiplied by a share.
    package mutating func add(_ other: PositionInformation, share: Double = 1) {
        xx += share * other.xx
        xy += share * other.xy
        yy += share * other.yy
        xo += share * other.xo
        yo += share * other.yo
        oo += share * other.oo
    }

    /// Adds what is known about the position without readings, as the variance along each axis in m².
    ///
    /// Source: Y. Qi, H. Kobayashi, *On Geolocation Accuracy with Prior Information in Non-line-of-sight Environment*,
    /// IEEE Vehicular Technology Conference, 2002.
    mutating func addPrior(varianceX: Double, varianceY: Double) {
        xx += 1 / varianceX
        yy += 1 / varianceY
    }

    /// Returns the bound of the covariance; nil if the readings leave a direction unobservable.
    ///
    /// - Parameter receiverVariance: the variance in dB² of the receiver's unknown offset; 0 for a known receiver.
    package func bound(receiverVariance: Double = 0) -> PositionCovariance? {
        var (a, b, c) = (xx, xy, yy)
        if receiverVariance > 0 {
            let known = oo + 1 / receiverVariance
            a -= xo * xo / known
            b -= xo * yo / known
            c -= yo * yo / known
        }
        let determinant = a * c - b * b
        guard determinant > 1e-12 * (a + c) * (a + c) else { return nil }
        return PositionCovariance(xx: c / determinant, xy: -b / determinant, yy: a / determinant)
    }
}
