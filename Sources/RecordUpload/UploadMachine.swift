import IndoorVocabulary
import LocalizationSession

/// A state machine that decides when a batch is sent, and what happens to one that failed.
///
/// A value type with time as an input: the same events at the same instants give the same directives.
package struct UploadMachine: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case stopped
        /// No record waits.
        case idle
        /// The machine waits for more records until that instant.
        case collecting(until: Instant)
        /// A batch is being sent.
        case sending
        /// A batch failed, and will be sent again at that instant.
        case pausing(until: Instant)
    }

    package enum Event: Hashable, Sendable {
        /// Starts sending; the number of records is that of an earlier run.
        case start(waiting: Int)
        case stop
        case tick
        /// Records were added to the queue; the number is that of all records in it.
        case queued(waiting: Int)
        /// The batch was removed from the queue; the number is that of the remaining records.
        case removed(waiting: Int)
        case failed(UploadError)
        /// Applies other settings from the next batch on.
        case change(UploadSettings)
    }

    package enum Directive: Hashable, Sendable {
        /// Send the next batch. The size limits a batch that is new or must be created again.
        case send(size: Int, anew: Bool)
        /// Ignore the answer.
        case cancel
        /// Remove the batch from the queue, because no server will ever accept it.
        case reject
        case report(UploadError)
    }

    package private(set) var state = State.stopped
    private var settings: UploadSettings
    private var backoff: Backoff
    private let seed: UInt64
    /// The maximum number of records in a batch: less than in the settings after a batch was too large.
    private var size: Int

    /// Creates a stopped machine. The settings must have no `problems`.
    ///
    /// - Parameter seed: the seed of the jitter of pauses.
    package init(_ settings: UploadSettings, seed: UInt64) {
        self.seed = seed
        self.settings = settings
        backoff = Backoff(first: settings.retryPause, seed: seed)
        size = settings.batchSize
    }

    /// The instant of the next tick; nil if none is needed.
    package var nextWake: Instant? {
        switch state {
        case .collecting(let until), .pausing(let until): until
        case .stopped, .idle, .sending: nil
        }
    }

    /// Handles an event and returns the directives.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        switch (state, event) {
        // The records of an earlier run have waited long enough.
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
            (.sending, .queued), (.pausing, .queued),  // these records go with a later batch
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

    /// Sends a full batch, or waits for more records until an interval after the first one.
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
        // A single record that is too large can never be sent.
        case .rejected, .tooLarge: return [.report(error), .reject]
        case .unreachable, .queue:
            state = .pausing(until: now.advanced(by: backoff.next()))
            return [.report(error)]
        case .refused:
            // Access will most likely be denied again, so asking before the interval is useless.
            state = .pausing(until: now.advanced(by: max(settings.interval, backoff.next())))
            return [.report(error)]
        }
    }
}
