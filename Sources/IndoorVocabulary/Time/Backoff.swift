/// How long to wait before a failed request is tried again: doubling pauses with jitter.
///
/// Half of each pause is random, so that many devices that failed together don't return together.
package struct Backoff: Hashable, Sendable {
    /// No pause is longer than this.
    package static let longest = Duration.seconds(60)

    private let first: Duration
    private var failures = 0
    private var generator: SeededGenerator

    /// Creates a back-off whose first pause is at most `first`, and never more than `longest`.
    package init(first: Duration, seed: UInt64) {
        self.first = min(first, Self.longest)
        generator = SeededGenerator(seed: seed)
    }

    /// The pause after one more failure.
    package mutating func next() -> Duration {
        let doubled = first * (1 << min(failures, 10))
        failures += 1
        let full = min(doubled, Self.longest)
        return .nanoseconds(Int64(Double(full.nanoseconds) * (0.5 + generator.uniform() / 2)))
    }

    /// Begins anew, after a success.
    package mutating func reset() { failures = 0 }
}
