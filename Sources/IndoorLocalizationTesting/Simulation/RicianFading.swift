import CMath
import IndoorLocalization

/// Fast fading: the sum of one steady wave and many scattered ones, independent for each advertisement.
///
/// Source: S. O. Rice, *Mathematical Analysis of Random Noise*, Bell System Technical Journal 23–24, 1944/45. Values
/// are in dB and have mean 0, so that the mean of many RSSIs is that of the path-loss model.
struct RicianFading: Hashable, Sendable {
    private let steady: Double
    private let scattered: Double
    private let mean: Double

    /// Creates fading with a ratio of steady to scattered power (not in dB), 0 or above; 0 is Rayleigh fading.
    init(factor: Double) {
        steady = (factor / (factor + 1)).squareRoot()
        scattered = (1 / (2 * (factor + 1))).squareRoot()
        mean = 10 / cmath_log(10) * Self.meanLogarithm(factor)
    }

    /// Returns a random deviation of the signal from its mean, in dB; never below -60.
    func decibels(using generator: inout SeededGenerator) -> Double {
        let (real, imaginary) = generator.normalPair()
        let (x, y) = (steady + scattered * real, scattered * imaginary)
        return max(10 * cmath_log10(max(x * x + y * y, 1e-6)) - mean, -60)
    }

    /// Returns E ln P of the power P with mean 1: ln(K/(K+1)) + E₁(K).
    ///
    /// With the series of the exponential integral E₁ (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical
    /// Functions*, 5.1.11) that is −γ − ln(K+1) − Σ (−K)ᵏ/(k·k!). Above K = 20, E₁ is below 1e-10.
    static func meanLogarithm(_ factor: Double) -> Double {
        guard factor <= 20 else { return cmath_log(factor / (factor + 1)) }
        let eulerGamma = 0.577_215_664_901_532_9
        var power = 1.0
        var sum = 0.0
        for k in 1...120 {
            power *= -factor / Double(k)
            sum += power / Double(k)
        }
        return -eulerGamma - cmath_log(factor + 1) - sum
    }
}
