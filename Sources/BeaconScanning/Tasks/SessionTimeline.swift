import IndoorVocabulary

/// The timeline of a session: relates the instants of its sources to the time on a clock.
package struct SessionTimeline: Sendable {
    /// The clock that advances the present between readings; nil on a recording, where only readings advance it.
    package let clock: SessionClock?
    /// The latest known instant of the source, and the clock's time then.
    private var anchor = (instant: Instant.zero, elapsed: Duration.zero)
    private var hasReading = false
    /// The shift of each sender's instants.
    private var shifts: [Sender: Duration] = [:]
    /// The latest readings of each sender, in a row, whose instants are long past.
    private var past: [Sender: Int] = [:]

    /// A sender of readings.
    package enum Sender: Hashable, Sendable {
        case source
        /// The satellite receiver beside the source.
        case receiver
    }

    /// The longest delay of delivery: two senders whose presents differ by less have the same timeline.
    package static let longestDelay = Duration.seconds(5)
    /// The number of readings in a row, all long past, after which the clock of a sender was set back.
    ///
    /// Fewer of them are late, or one before them had a wrong instant.
    static let pastReadings = 30

    /// Creates a timeline for a source with a pace.
    package init(_ clock: some Clock<Duration>, pace: ScanPace) {
        self.clock = pace == .live ? SessionClock(clock) : nil
    }

    /// The clock's time; nil without a clock.
    package var elapsed: Duration? { clock?.elapsed() }
    /// The present instant; without a clock, that of the latest reading.
    package var now: Instant { now(elapsed) }

    /// Begins a session at zero; the first reading aligns the timeline with the source's instants.
    package mutating func begin() {
        anchor = (.zero, elapsed ?? .zero)
        hasReading = false
        shifts = [:]
        past = [:]
    }

    /// Returns an instant of a sender on this timeline; the second sender may have a timeline of its own.
    ///
    /// A sender whose clock was set back continues at the present. Otherwise its readings would be past, and the session
    /// would stand still, until its clock reaches the earlier instants again.
    package mutating func place(_ instant: Instant, of sender: Sender) -> Instant {
        if let shift = shifts[sender] {
            let placed = instant.advanced(by: shift)
            guard clock != nil, placed.duration(to: anchor.instant) > Self.longestDelay else {
                past[sender] = nil
                return placed
            }
            past[sender, default: 0] += 1
            guard past[sender] == Self.pastReadings else { return placed }
            past[sender] = nil
            let present = now
            shifts[sender] = instant.duration(to: present)
            return present
        }
        let apart = instant.duration(to: now)
        let isApart = apart > Self.longestDelay || apart < .zero - Self.longestDelay
        let shift = hasReading && isApart ? apart : .zero
        shifts[sender] = shift
        return instant.advanced(by: shift)
    }

    /// Returns an instant of this timeline on that of the source, as its wall clock uses it.
    package func ofSource(_ instant: Instant) -> Instant { instant.advanced(by: .zero - (shifts[.source] ?? .zero)) }

    /// Returns an instant of the source on this timeline.
    package func ofSession(_ instant: Instant) -> Instant { instant.advanced(by: shifts[.source] ?? .zero) }

    /// Forgets the shift of a sender that restarts, perhaps with another timeline.
    package mutating func restart(_ sender: Sender) {
        shifts[sender] = nil
        past[sender] = nil
    }

    /// Aligns the timeline with a reading's instant; returns the shift that the first reading causes.
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

    /// Returns the clock's time at an instant.
    package func elapsed(at instant: Instant) -> Duration { anchor.elapsed + anchor.instant.duration(to: instant) }
}
