import IndoorVocabulary

/// The present of a session: relates the instants of its senders to the time on a clock.
package struct SessionTimeline: Sendable {
    /// Passes the time between readings; nil on a recording, where only readings pass it.
    package let clock: SessionClock?
    /// The latest known instant of the source, and the clock's time when it was known.
    private var anchor = (instant: Instant.zero, elapsed: Duration.zero)
    private var hasReading = false
    /// How far the instants of each sender are moved.
    private var shifts: [Sender: Duration] = [:]

    /// Who delivers readings.
    package enum Sender: Hashable, Sendable {
        case source
        /// The satellite receiver beside the source.
        case receiver
    }

    /// Two senders whose present is this near to each other count from the same beginning: what lies between is the
    /// delay of delivery.
    static let longestDelay = Duration.seconds(5)

    /// Creates a timeline for what a source of that pace delivers.
    package init(_ clock: some Clock<Duration>, pace: ScanPace) {
        self.clock = pace == .live ? SessionClock(clock) : nil
    }

    /// The clock's time; nil without a clock.
    package var elapsed: Duration? { clock?.elapsed() }
    /// The present instant; without a clock, that of the latest reading.
    package var now: Instant { now(elapsed) }

    /// A session begins: at zero, until a first reading tells where the source's instants are.
    package mutating func begin() {
        anchor = (.zero, elapsed ?? .zero)
        hasReading = false
        shifts = [:]
    }

    /// An instant of a sender on this timeline: the sender that comes second may count from elsewhere.
    package mutating func place(_ instant: Instant, of sender: Sender) -> Instant {
        if let shift = shifts[sender] { return instant.advanced(by: shift) }
        let apart = instant.duration(to: now)
        let isApart = apart > Self.longestDelay || apart < .zero - Self.longestDelay
        let shift = hasReading && isApart ? apart : .zero
        shifts[sender] = shift
        return instant.advanced(by: shift)
    }

    /// An instant of this timeline on the source's own, as its wall clock knows it.
    package func ofSource(_ instant: Instant) -> Instant { instant.advanced(by: .zero - (shifts[.source] ?? .zero)) }

    /// A sender begins anew, perhaps from elsewhere.
    package mutating func restart(_ sender: Sender) { shifts[sender] = nil }

    /// Takes in a reading's instant; returns by how much the first one moves the timeline.
    package mutating func align(to instant: Instant) -> Duration {
        let elapsed = self.elapsed
        let present = now(elapsed)
        let isFirst = !hasReading
        hasReading = true
        if isFirst || instant >= anchor.instant { anchor = (instant, elapsed ?? .zero) }
        return isFirst ? present.duration(to: instant) : .zero
    }

    private func now(_ elapsed: Duration?) -> Instant {
        guard let elapsed else { return anchor.instant }
        return anchor.instant.advanced(by: max(.zero, elapsed - anchor.elapsed))
    }

    /// The clock's time at an instant.
    package func elapsed(at instant: Instant) -> Duration { anchor.elapsed + anchor.instant.duration(to: instant) }
}
