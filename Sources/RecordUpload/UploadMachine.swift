import IndoorVocabulary
import LocalizationSession

/// Decides when a batch is sent, and what becomes of one that was not taken.
///
/// A value with time as an input: equal events at equal instants give equal directives.
package struct UploadMachine: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case stopped
        /// No record waits.
        case idle
        /// Records wait for more of them until that instant.
        case collecting(until: Instant)
        /// A batch is on its way.
        case sending
        /// A batch failed, and is sent again at that instant.
        case pausing(until: Instant)
    }

    package enum Event: Hashable, Sendable {
        /// So many records wait from an earlier run.
        case start(waiting: Int)
        case stop
        case tick
        /// So many records wait now, as some were added.
        case queued(waiting: Int)
        /// The batch is out of the queue; so many records wait.
        case removed(waiting: Int)
        case failed(UploadError)
        /// Other settings count from the next batch on.
        case change(UploadSettings)
    }

    package enum Directive: Hashable, Sendable {
        /// Send the next batch: with at most so many records if it is a new one, or is to be made anew.
        case send(size: Int, anew: Bool)
        /// The answer is no longer wanted.
        case cancel
        /// Take the batch out of the queue, as no server will ever take it.
        case reject
        case report(UploadError)
    }

    package private(set) var state = State.stopped
    private var settings: UploadSettings
    private var backoff: Backoff
    private let seed: UInt64
    /// Records of a batch at most: less than the settings say after one was too large.
    private var size: Int

    /// Creates a stopped machine. The settings must have no `problems`.
    ///
    /// - Parameter seed: of the jitter of pauses.
    package init(_ settings: UploadSettings, seed: UInt64) {
        self.seed = seed
        self.settings = settings
        backoff = Backoff(first: settings.retryPause, seed: seed)
        size = settings.batchSize
    }

    /// When a tick is wanted; nil if never.
    package var nextWake: Instant? {
        switch state {
        case .collecting(let until), .pausing(let until): until
        case .stopped, .idle, .sending: nil
        }
    }

    /// Takes in an event; returns what is to be done.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        switch (state, event) {
        // What an earlier run could not send has waited long enough.
        case (.stopped, .start(let waiting)): return waiting > 0 ? send() : rest()
        case (.collecting(let until), .tick) where until <= now, (.pausing(let until), .tick) where until <= now:
            return send()
        case (.idle, .queued(let waiting)), (.collecting, .queued(let waiting)): return collect(waiting, at: now)
        case (.sending, .removed(let waiting)):
            backoff.reset()
            state = .idle
            return collect(waiting, at: now)
        case (.sending, .failed(let error)): return fail(error, at: now)
        case (.sending, .stop):
            state = .stopped
            return [.cancel]
        case (.idle, .stop), (.collecting, .stop), (.pausing, .stop):
            state = .stopped
            return []
        case (_, .change(let settings)):
            if settings.retryPause != self.settings.retryPause {
                backoff = Backoff(first: settings.retryPause, seed: seed)
            }
            self.settings = settings
            size = settings.batchSize
            return []
        case (_, .start), (.stopped, _), (.idle, .tick), (.collecting, .tick), (.pausing, .tick), (.sending, .tick),
            (.sending, .queued), (.pausing, .queued),  // they go with a later batch
            (.idle, .removed), (.collecting, .removed), (.pausing, .removed), (.idle, .failed), (.collecting, .failed),
            (.pausing, .failed):  // late answers
            return []
        }
    }

    private mutating func send() -> [Directive] {
        state = .sending
        return [.send(size: size, anew: false)]
    }

    private mutating func rest() -> [Directive] {
        state = .idle
        return []
    }

    /// Sends a batch that is full, or waits for more records; the first one tells until when.
    private mutating func collect(_ waiting: Int, at now: Instant) -> [Directive] {
        if waiting >= size { return send() }
        if waiting == 0 { return rest() }
        if state == .idle { state = .collecting(until: now.advanced(by: settings.interval)) }
        return []
    }

    private mutating func fail(_ error: UploadError, at now: Instant) -> [Directive] {
        switch error.kind {
        case .tooLarge where size > 1:
            size /= 2
            return [.report(error), .send(size: size, anew: true)]
        // One record that is too large alone is never taken.
        case .rejected, .tooLarge: return [.report(error), .reject]
        case .unreachable, .queue:
            state = .pausing(until: now.advanced(by: backoff.next()))
            return [.report(error)]
        case .refused:
            // Who is refused will be so again: asking sooner is of no use.
            state = .pausing(until: now.advanced(by: max(settings.interval, backoff.next())))
            return [.report(error)]
        }
    }
}
