import CMath

extension SeededGenerator {
    /// Two independent numbers of the normal distribution with mean 0 and variance 1.
    ///
    /// Source: G. E. P. Box, M. E. Muller, *A Note on the Generation of Random Normal Deviates*, 1958.
    package mutating func normalPair() -> (Double, Double) {
        let radius = (-2 * cmath_log(1 - uniform())).squareRoot()
        let angle = 2 * Double.pi * uniform()
        return (radius * cmath_cos(angle), radius * cmath_sin(angle))
    }

    /// A number of the normal distribution with mean 0 and variance 1.
    package mutating func normal() -> Double { normalPair().0 }
}
