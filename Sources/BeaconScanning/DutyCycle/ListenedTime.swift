import IndoorVocabulary

/// The time during which a radio listened. Timeouts for silent beacons use this time.
///
/// A radio that rests between two passes, or that is off, receives nothing from a beacon that is there. While the radio
/// listens all the time, this timeline is that of the source.
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

    /// Notes that the radio stops listening; without effect while it doesn't listen.
    package mutating func pause(at now: Instant) { deafSince = deafSince ?? now }

    /// Notes that the radio listens again; without effect while it listens.
    package mutating func resume(at now: Instant) {
        guard let since = deafSince else { return }
        missed += max(.zero, since.duration(to: now))
        deafSince = nil
    }

    /// Follows the time of another radio, and passes also while another sensor delivers, whose latest reading was at `sensed`.
    package mutating func follow(_ other: ListenedTime, sensed: Instant, to now: Instant) {
        guard let since = other.deafSince, sensed.duration(to: now) > Self.senseTimeout else { return resume(at: now) }
        pause(at: min(now, max(since, sensed.advanced(by: Self.senseTimeout))))
    }

    /// A sensor without readings for this time does not deliver; accelerometers deliver many times a second.
    private static let senseTimeout = Duration.seconds(1)

    /// Returns the present on the timeline of listening.
    package func instant(at now: Instant) -> Instant {
        min(now, deafSince ?? now).advanced(by: .zero - missed)
    }

    /// Returns when the timeline of listening reaches an instant; nil while the radio doesn't listen.
    package func wake(at listened: Instant) -> Instant? {
        isListening ? listened.advanced(by: missed) : nil
    }

    /// Shifts the present onto another timeline; the timeline of listening stays.
    package mutating func shift(by duration: Duration) {
        deafSince = deafSince?.advanced(by: duration)
        missed += duration
    }
}
