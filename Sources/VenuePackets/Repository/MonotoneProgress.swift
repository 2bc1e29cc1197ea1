import IndoorVocabulary

/// Tells a fraction that never decreases, from whatever threads it is reported.
///
/// A class, as those threads share it.
final class MonotoneProgress: Sendable {
    private let told = Guarded(-1.0)
    private let tell: @Sendable (Double) -> Void

    init(_ tell: @escaping @Sendable (Double) -> Void) { self.tell = tell }

    /// Tells the fraction, kept within 0…1, unless it or more was told already.
    func reach(_ fraction: Double) {
        let fraction = min(1, max(0, fraction))
        // Told under the lock: two threads must not tell in the other order.
        told.withLock { told in
            guard fraction > told else { return }
            told = fraction
            tell(fraction)
        }
    }
}
