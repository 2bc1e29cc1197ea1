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
