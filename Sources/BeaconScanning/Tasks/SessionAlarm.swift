import IndoorVocabulary

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
