import CMath
import IndoorLocalization

/// A random function of the place whose values at near places resemble each other: the same for the same seed.
///
/// Normal with mean 0; the correlation of two places falls as exp(−distance / D). Source: M. Gudmundson, *Correlation
/// model for shadow fading in mobile radio systems*, Electronics Letters 27(23), 1991.
///
/// Made as a sum of cosines, value(p) = σ √(2/N) Σ cos(ωᵢ·p + φᵢ), with frequencies from the correlation's Fourier
/// transform, which is the bivariate Cauchy distribution, and uniform phases. Source: A. Rahimi, B. Recht, *Random
/// Features for Large-Scale Kernel Machines*, NIPS 2007.
struct CorrelatedField: Hashable, Sendable {
    private struct Wave: Hashable, Sendable {
        var x: Double
        var y: Double
        var phase: Double
    }

    /// So many that the sum is normal to the eye: 4 % of the excess of a single cosine's kurtosis are left.
    private static let waveCount = 96

    private let waves: [Wave]
    private let amplitude: Double

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - deviation: standard deviation of its values.
    ///   - distance: D in metres, above 0.
    init(deviation: Double, distance: Double, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        amplitude = deviation * (2 / Double(Self.waveCount)).squareRoot()
        waves = (0..<Self.waveCount).map { _ in
            let (x, y) = generator.normalPair()
            // A normal vector over a normal number is Cauchy; kept away from 0, where it would leave the doubles.
            let divisor = max(abs(generator.normal()), 1e-6) * distance
            return Wave(x: x / divisor, y: y / divisor, phase: 2 * Double.pi * generator.uniform())
        }
    }

    /// The field's value at a place.
    func value(at point: MapPoint) -> Double {
        guard amplitude != 0 else { return 0 }
        return amplitude * waves.reduce(0) { $0 + cmath_cos($1.x * point.x + $1.y * point.y + $1.phase) }
    }
}
