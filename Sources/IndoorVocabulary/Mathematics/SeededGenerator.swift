import CMath

/// A small and fast random number generator that produces the same sequence for the same seed on every platform.
///
/// SplitMix64. Source: G. L. Steele, D. Lea, C. H. Flood, *Fast Splittable Pseudorandom Number Generators*,
/// OOPSLA 2014.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    /// The state; each draw adds `step` and then computes its number from the state.
    package private(set) var state: UInt64

    /// The increment of the state for each draw.
    package static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Creates a generator. The same seed produces the same sequence.
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

    /// Returns a uniformly distributed number in [0, 1).
    public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Skips draws that were made through `ahead`.
    package mutating func skip(_ draws: Int) { state &+= UInt64(truncatingIfNeeded: draws) &* Self.step }
}

extension SeededGenerator {
    /// Returns two independent numbers from the normal distribution with mean 0 and variance 1.
    ///
    /// Source: G. E. P. Box, M. E. Muller, *A Note on the Generation of Random Normal Deviates*, 1958.
    package mutating func normalPair() -> (Double, Double) {
        let radius = (-2 * cmath_log(1 - uniform())).squareRoot()
        let angle = 2 * Double.pi * uniform()
        return (radius * cmath_cos(angle), radius * cmath_sin(angle))
    }

    /// Returns a number from the normal distribution with mean 0 and variance 1.
    package mutating func normal() -> Double { normalPair().0 }
}

extension SeededGenerator {
    /// The state of the generator for C functions that make many draws at once; call `skip(_:)` afterwards.
    package var ahead: cmath_generator { cmath_generator(state: state, step: Self.step) }
}

/// The 64-bit hash function FNV-1a, which returns the same number on every machine. It isn't cryptographic.
///
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, *The FNV Non-Cryptographic Hash Algorithm*, 2024.
package enum FNVHash: Sendable {
    /// The hash of an empty sequence.
    package static let empty: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Returns the hash of bytes.
    ///
    /// - Parameter start: the hash of the preceding bytes.
    package static func hash(of bytes: some Sequence<UInt8>, after start: UInt64 = empty) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
