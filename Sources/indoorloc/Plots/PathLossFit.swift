import Foundation
import LocalizationFigures

/// A path-loss law fitted to readings: RSSI = power − 10 · exponent · log₁₀(distance / 1 m).
///
/// Source: T. S. Rappaport, *Wireless Communications: Principles and Practice*, 2nd edition, 2002, section 4.9.
struct PathLossFit: Sendable {
    /// The RSSI at 1 m in dBm.
    private(set) var power: Double
    /// The path-loss exponent.
    private(set) var exponent: Double
    /// The standard deviation of the readings from the law in dB.
    private(set) var deviation: Double

    /// The shortest distance in metres that is used; at shorter distances, the height of the beacon matters more than
    /// the distance.
    private static let nearest = 0.5
    /// The range of path-loss exponents in buildings, because readings at similar distances can't determine the
    /// exponent.
    private static let exponents = 0.5...6.0

    /// Fits the law by least squares; nil without readings.
    ///
    /// - Parameter readings: the RSSI in dBm (y) at distances in metres (x).
    init?(_ readings: [ChartPoint], usualExponent: Double) {
        guard !readings.isEmpty else { return nil }
        let points = readings.map { (x: -10 * log10(max(Self.nearest, $0.x)), y: $0.y) }
        let count = Double(points.count)
        let meanX = points.reduce(0) { $0 + $1.x } / count
        let meanY = points.reduce(0) { $0 + $1.y } / count
        let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        let product = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) }
        // Below a decibel of spread along the law, the slope is noise.
        let slope = spread / count > 1 ? product / spread : usualExponent
        let exponent = min(max(slope, Self.exponents.lowerBound), Self.exponents.upperBound)
        let power = meanY - exponent * meanX
        let squares = points.reduce(0) { sum, point in
            let residual = point.y - (power + exponent * point.x)
            return sum + residual * residual
        }
        self.exponent = exponent
        self.power = power
        deviation = (squares / count).squareRoot()
    }

    /// The law up to a distance in metres.
    func curve(to farthest: Double) -> [ChartPoint] {
        (0...60).map { number in
            let share = Double(number) / 60
            // The points are closer together where the law is steep.
            let distance = Self.nearest + (max(farthest, 1) - Self.nearest) * share * share
            return ChartPoint(x: distance, y: power - 10 * exponent * log10(distance))
        }
    }

    /// The parameters in words.
    var text: String {
        "\(number(power)) dBm at 1 m, exponent \(number(exponent)), ± \(number(deviation)) dB"
    }

    private func number(_ value: Double) -> String {
        JSONText.number(value, decimals: 1).replacing("-", with: "−")
    }
}
