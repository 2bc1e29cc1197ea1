import CMath
import IndoorLocalization

/// A random field whose values at nearby places are correlated. The same seed gives the same field.
///
/// Its values are normal with mean 0; the correlation of two places is exp(−distance / D). Source: M. Gudmundson,
/// *Correlation model for shadow fading in mobile radio systems*, Electronics Letters 27(23), 1991.
///
/// The field is a sum of cosines, value(p) = σ √(2/N) Σ cos(ωᵢ·p + φᵢ), with frequencies from the correlation's Fourier
/// transform, which is the bivariate Cauchy distribution, and uniform phases. Source: A. Rahimi, B. Recht, *Random
/// Features for Large-Scale Kernel Machines*, NIPS 2007.
struct CorrelatedField: Hashable, Sendable {
    private struct Wave: Hashable, Sendable {
        var x: Double
        var y: Double
        var phase: Double
    }

    /// With this many waves the sum is nearly normal: 4 % of the excess kurtosis of a single cosine remains.
    private static let waveCount = 96

    private let waves: [Wave]
    private let amplitude: Double

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - deviation: the standard deviation of its values.
    ///   - distance: the correlation distance D in metres, above 0.
    init(deviation: Double, distance: Double, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        amplitude = deviation * (2 / Double(Self.waveCount)).squareRoot()
        waves = (0..<Self.waveCount).map { _ in
            let (x, y) = generator.normalPair()
            // A normal vector divided by a normal number is Cauchy distributed. The bound keeps the quotient finite.
            let divisor = max(abs(generator.normal()), 1e-6) * distance
            return Wave(x: x / divisor, y: y / divisor, phase: 2 * Double.pi * generator.uniform())
        }
    }

    /// Returns the field's value at a place.
    func value(at point: MapPoint) -> Double {
        guard amplitude != 0 else { return 0 }
        return amplitude * waves.reduce(0) { $0 + cmath_cos($1.x * point.x + $1.y * point.y + $1.phase) }
    }
}
