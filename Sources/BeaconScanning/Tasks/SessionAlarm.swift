import IndoorVocabulary

/// Wakes an actor when its machine wants to be woken: at most one wake-up is set at a time.
package struct SessionAlarm: ~Copyable, Sendable {
    private var task = CurrentTask()
    /// What it is set to; nil while it is not set.
    private var wake: Instant?

    package init() {}

    /// Sets it anew, unless it is set to that instant already; on a recording it never rings.
    ///
    /// - Parameters:
    ///   - wake: when it is to ring; nil for never.
    ///   - ring: hands the number on to `ring(_:)`.
    package mutating func set<Shell: Actor>(
        to wake: Instant?, on timeline: borrowing SessionTimeline, for shell: Shell,
        ring: @escaping @Sendable (isolated Shell, _ number: Int) async -> Void
    ) {
        guard let clock = timeline.clock, wake != self.wake else { return }
        self.wake = wake
        guard let wake else { return task.cancel() }
        let due = timeline.elapsed(at: wake)
        task.begin { number in
            Task { [weak shell] in
                do { try await clock.sleep(until: due) } catch { return }
                if let shell { await ring(shell, number) }
            }
        }
    }

    /// It rings: returns what it was set to; nil if it was set anew while it began to ring.
    package mutating func ring(_ number: Int) -> Instant? {
        guard task.finish(number) else { return nil }
        defer { wake = nil }
        return wake
    }
}
