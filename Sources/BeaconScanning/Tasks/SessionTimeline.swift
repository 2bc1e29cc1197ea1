import IndoorVocabulary

/// The timeline of a session, which relates the instants of its sources to the time on a clock.
package struct SessionTimeline: Sendable {
    /// The clock that advances the current instant between readings; nil on a recording, where only readings advance
    /// it.
    package let clock: SessionClock?
    /// The latest known instant of the source, and the clock's time then.
    private var anchor = (instant: Instant.zero, elapsed: Duration.zero)
    private var hasReading = false
    /// The shift of each sender's instants.
    private var shifts: [Sender: Duration] = [:]
    /// The number of the latest consecutive readings of each sender with instants far in the past.
    private var past: [Sender: Int] = [:]

    /// A sender of readings.
    package enum Sender: Hashable, Sendable {
        case source
        /// The satellite receiver in addition to the source.
        case receiver
    }

    /// The maximum delay of delivery: two senders whose current instants differ by less have the same timeline.
    package static let longestDelay = Duration.seconds(5)
    /// The number of consecutive readings with instants far in the past that show that the clock of a sender was set
    /// back.
    ///
    /// Fewer such readings are late readings, or follow a reading with a wrong instant.
    package static let pastReadings = 30

    /// Creates a timeline for a source with a pace.
    package init(_ clock: some Clock<Duration>, pace: ScanPace) {
        self.clock = pace == .live ? SessionClock(clock) : nil
    }

    /// The clock's time; nil without a clock.
    package var elapsed: Duration? { clock?.elapsed() }
    /// The current instant; without a clock, the instant of the latest reading.
    package var now: Instant { now(elapsed) }

    /// Begins a session at zero; the first reading aligns the timeline with the source's instants.
    package mutating func begin() {
        anchor = (.zero, elapsed ?? .zero)
        hasReading = false
        shifts = [:]
        past = [:]
    }

    /// Returns an instant of a sender on this timeline; the second sender may have its own timeline.
    ///
    /// After a sender's clock was set back, its instants continue at the current instant. Otherwise, its readings would
    /// be in the past, and the session would not advance until the clock reached the earlier instants again.
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

    /// Returns an instant of this timeline on the source's timeline, which the source's wall clock uses.
    package func ofSource(_ instant: Instant) -> Instant { instant.advanced(by: .zero - (shifts[.source] ?? .zero)) }

    /// Returns an instant of the source on this timeline.
    package func ofSession(_ instant: Instant) -> Instant { instant.advanced(by: shifts[.source] ?? .zero) }

    /// Forgets the shift of a sender that restarts, because it may have another timeline.
    package mutating func restart(_ sender: Sender) {
        shifts[sender] = nil
        past[sender] = nil
    }

    /// Aligns the timeline with a reading's instant. Returns the resulting shift, which is zero except for the first
    /// reading.
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

/// An alarm that wakes an actor when its machine needs a tick, with at most one pending wake-up.
package struct SessionAlarm: ~Copyable, Sendable {
    private var task = CurrentTask()
    /// The instant of the pending wake-up; nil if there is none.
    private var wake: Instant?
    /// The clock's time of the pending wake-up; nil if there is none.
    package private(set) var due: Duration?

    package init() {}

    /// Replaces the pending wake-up, unless it is at that instant already. On a recording, the alarm never rings.
    ///
    /// - Parameters:
    ///   - wake: the instant of the wake-up; nil for none.
    ///   - ring: passes the number to `ring(_:)`.
    package mutating func set<Shell: Actor>(
        to wake: Instant?, on timeline: borrowing SessionTimeline, for shell: Shell,
        ring: @escaping @Sendable (isolated Shell, _ number: Int) async -> Void
    ) {
        guard let clock = timeline.clock, wake != self.wake else { return }
        self.wake = wake
        due = wake.map { timeline.elapsed(at: $0) }
        guard let due else { return task.cancel() }
        task.begin { number in
            Task { [weak shell] in
                do { try await clock.sleep(until: due) } catch { return }
                if let shell { await ring(shell, number) }
            }
        }
    }

    /// Ends the pending wake-up and returns its instant; nil if another wake-up has replaced it in the meantime.
    package mutating func ring(_ number: Int) -> Instant? {
        guard task.finish(number) else { return nil }
        defer { (wake, due) = (nil, nil) }
        return wake
    }
}
