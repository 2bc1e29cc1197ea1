/// How long a radio has listened: a timeline that stands still while it does not.
///
/// Whoever waits for a beacon counts its silence in this time. A radio that rests between two passes, or that is off,
/// hears nothing of a beacon that is there. While the radio listens all the time, the two timelines are the same.
package struct ListenedTime: Hashable, Sendable {
    /// How long it has not listened, up to where it last began to.
    private var missed = Duration.zero
    /// Since when it does not listen; nil while it does.
    package private(set) var deafSince: Instant?

    /// Creates the time of a radio that listens, from the beginning on unless it is told since when.
    package init() {}

    /// Creates the time of a radio that does not listen yet.
    package init(deafSince instant: Instant) { deafSince = instant }

    /// Whether the radio listens.
    package var isListening: Bool { deafSince == nil }

    /// The radio ceases to listen; of effect only while it listens.
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

    /// A sense that tells nothing for so long tells nothing any more; accelerometers speak many times a second.
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
