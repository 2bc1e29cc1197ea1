import IndoorVocabulary

/// A timeline that advances only while a radio listens. Timeouts for silent beacons use it.
///
/// A radio that rests between two passes, or that is off, receives nothing from a beacon even if it is near. If the
/// radio listens all the time, this timeline equals the source's timeline.
package struct ListenedTime: Hashable, Sendable {
    /// The total time without listening, up to the latest time that the radio began to listen.
    private var missed = Duration.zero
    /// When the radio stopped listening; nil while it listens.
    package private(set) var deafSince: Instant?

    /// Creates the time of a radio that listens.
    package init() {}

    /// Creates the time of a radio that does not listen yet.
    package init(deafSince instant: Instant) { deafSince = instant }

    /// Whether the radio listens.
    package var isListening: Bool { deafSince == nil }

    /// Records that the radio stops listening; has no effect while it doesn't listen.
    package mutating func pause(at now: Instant) { deafSince = deafSince ?? now }

    /// Records that the radio listens again; has no effect while it listens.
    package mutating func resume(at now: Instant) {
        guard let since = deafSince else { return }
        missed += max(.zero, since.duration(to: now))
        deafSince = nil
    }

    /// Follows the timeline of another radio, but also advances while another sensor delivers readings; the latest one
    /// was at `sensed`.
    package mutating func follow(_ other: ListenedTime, sensed: Instant, to now: Instant) {
        guard let since = other.deafSince, sensed.duration(to: now) > Self.senseTimeout else { return resume(at: now) }
        pause(at: min(now, max(since, sensed.advanced(by: Self.senseTimeout))))
    }

    /// The time without readings after which a sensor counts as not delivering; accelerometers deliver many readings
    /// per second.
    private static let senseTimeout = Duration.seconds(1)

    /// Returns the instant on the timeline of listening at `now`.
    package func instant(at now: Instant) -> Instant {
        min(now, deafSince ?? now).advanced(by: .zero - missed)
    }

    /// Returns when the timeline of listening reaches an instant; nil while the radio doesn't listen.
    package func wake(at listened: Instant) -> Instant? {
        isListening ? listened.advanced(by: missed) : nil
    }

    /// Shifts the source's instants onto another timeline; the timeline of listening is unchanged.
    package mutating func shift(by duration: Duration) {
        deafSince = deafSince?.advanced(by: duration)
        missed += duration
    }
}
