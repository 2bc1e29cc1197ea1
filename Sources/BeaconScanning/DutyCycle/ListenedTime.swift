import IndoorVocabulary

/// The time during which a radio listened. Timeouts for silent beacons use this time.
///
/// A radio that rests between two passes, or that is off, receives nothing from a beacon that is there. While the radio
/// listens all the time, this timeline is that of the source.
package struct ListenedTime: Hashable, Sendable {
    /// How long it has not listened, up to where it last began to.
    private var missed = Duration.zero
    /// Since when the radio does not listen; nil while it does.
    package private(set) var deafSince: Instant?

    /// Creates the time of a radio that listens, from the beginning on unless it is told since when.
    package init() {}

    /// Creates the time of a radio that does not listen yet.
    package init(deafSince instant: Instant) { deafSince = instant }

    /// Whether the radio listens.
    package var isListening: Bool { deafSince == nil }

    /// The radio stops listening; of effect only while it listens.
    package mutating func pause(at now: Instant) { deafSince = deafSince ?? now }

    /// The radio listens again; of effect only while it does not.
    package mutating func resume(at now: Instant) {
        guard let since = deafSince else { return }
        missed += max(.zero, since.duration(to: now))
        deafSince = nil
    }

    /// Passes with another one, and while something else is sensed, which was sensed last at `sensed`.
    package mutating func follow(_ other: ListenedTime, sensed: Instant, to now: Instant) {
        guard let since = other.deafSince, sensed.duration(to: now) > Self.senseTimeout else { return resume(at: now) }
        pause(at: min(now, max(since, sensed.advanced(by: Self.senseTimeout))))
    }

    /// A sensor without readings for so long does not deliver; accelerometers deliver many times a second.
    private static let senseTimeout = Duration.seconds(1)

    /// The present on the timeline of what was listened to.
    package func instant(at now: Instant) -> Instant {
        min(now, deafSince ?? now).advanced(by: .zero - missed)
    }

    /// When that timeline will have come to an instant; nil while it stands still.
    package func wake(at listened: Instant) -> Instant? {
        isListening ? listened.advanced(by: missed) : nil
    }

    /// The present moves to a timeline that begins elsewhere; what was listened to does not.
    package mutating func shift(by duration: Duration) {
        deafSince = deafSince?.advanced(by: duration)
        missed += duration
    }
}
