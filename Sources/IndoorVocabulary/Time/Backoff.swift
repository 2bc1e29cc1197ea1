/// The pauses between retries of a failed request: exponential backoff with jitter.
///
/// Half of each pause is random, so that devices that failed at the same time don't retry at the same time.
package struct Backoff: Hashable, Sendable {
    /// The maximum pause.
    package static let longest = Duration.seconds(60)

    private let first: Duration
    private var failures = 0
    private var generator: SeededGenerator

    /// Creates a backoff with a first pause of at most `first`, limited to `longest`.
    package init(first: Duration, seed: UInt64) {
        self.first = min(first, Self.longest)
        generator = SeededGenerator(seed: seed)
    }

    /// Returns the pause after another failure.
    package mutating func next() -> Duration {
        let doubled = first * (1 << min(failures, 10))
        failures += 1
        let full = min(doubled, Self.longest)
        return .nanoseconds(Int64(Double(full.nanoseconds) * (0.5 + generator.uniform() / 2)))
    }

    /// Resets the pause after a success.
    package mutating func reset() { failures = 0 }
}
