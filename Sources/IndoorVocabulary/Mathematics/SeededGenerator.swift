import CMath

/// A small, fast generator of random numbers that gives the same sequence for the same seed, everywhere.
///
/// SplitMix64. Source: G. L. Steele, D. Lea, C. H. Flood, *Fast Splittable Pseudorandom Number Generators*,
/// OOPSLA 2014.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    /// What the numbers are mixed from: each draw adds `step` first.
    package private(set) var state: UInt64

    /// What each draw adds to the state.
    package static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Creates a generator; equal seeds give equal sequences.
    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mix(state)
    }

    private static func mix(_ state: UInt64) -> UInt64 {
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number uniform in [0, 1).
    public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Passes over draws that were taken ahead.
    package mutating func skip(_ draws: Int) { state &+= UInt64(truncatingIfNeeded: draws) &* Self.step }
}

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

extension SeededGenerator {
    /// The generator as the loops in C take it, to make many draws at once; `skip(_:)` passes over them here.
    package var ahead: cmath_generator { cmath_generator(state: state, step: Self.step) }
}
