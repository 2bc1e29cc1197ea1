import IndoorVocabulary

/// Decides when a server is asked for settings, and what becomes of its answers.
///
/// What it gave last stays until it gives something else: neither a failure nor a broken document takes that away.
package struct RemoteSettingsMachine: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case stopped
        /// The server has been asked, and has not answered.
        case asking
        /// The server is asked again at that instant.
        case waiting(until: Instant)
    }

    package enum Event: Hashable, Sendable {
        case start
        case stop
        case tick
        /// The server gives these, under that tag; nil if it has no tags.
        case document([SettingsEntry], tag: String?)
        /// What it gave under the tag is still what it gives.
        case unchanged
        case failed(LocalizationError)
    }

    package enum Directive: Hashable, Sendable {
        /// Ask, for anything but what has this tag; nil for anything.
        case ask(unless: String?)
        /// The answer is no longer wanted.
        case cancel
        /// These are the server's settings from now on, in place of earlier ones.
        case use([SettingsEntry])
        case report(LocalizationError)
    }

    private struct Transition {
        var state: State
        var directives: [Directive] = []
    }

    package private(set) var state = State.stopped
    private let settings: RemotePullSettings
    private var backoff: Backoff
    /// What the server gave last; nil if it gave nothing yet.
    private var last: [SettingsEntry]?
    /// The tag of that; nil if the server has none.
    private var tag: String?

    /// Creates a stopped machine. The settings must have no `problems`.
    ///
    /// - Parameter seed: of the jitter of retries.
    package init(_ settings: RemotePullSettings, seed: UInt64) {
        self.settings = settings
        backoff = Backoff(first: settings.retryPause, seed: seed)
    }

    /// When a tick is wanted; nil if never.
    package var nextWake: Instant? {
        if case .waiting(let until) = state { until } else { nil }
    }

    /// Takes in an event.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        let transition = transition(on: event, at: now)
        state = transition.state
        return transition.directives
    }

    private mutating func transition(on event: Event, at now: Instant) -> Transition {
        switch (state, event) {
        case (.stopped, .start):
            return Transition(state: .asking, directives: [.ask(unless: tag)])
        case (.waiting(let until), .tick) where until <= now:
            return Transition(state: .asking, directives: [.ask(unless: tag)])
        case (.asking, .stop):
            return Transition(state: .stopped, directives: [.cancel])
        case (.waiting, .stop):
            return Transition(state: .stopped)
        case (.asking, .document(let entries, let tag)):
            backoff.reset()
            let isNew = entries != last
            last = entries
            self.tag = tag
            return Transition(state: pause(at: now), directives: isNew ? [.use(entries)] : [])
        case (.asking, .unchanged):
            backoff.reset()
            return Transition(state: pause(at: now))
        case (.asking, .failed(let error)):
            // Who is refused, or sent something broken, will be so again: asking sooner is of no use.
            let pause = error.code == .network ? min(backoff.next(), settings.interval) : settings.interval
            return Transition(state: .waiting(until: now.advanced(by: pause)), directives: [.report(error)])
        case (.asking, .start), (.waiting, .start),  // it runs already
            (.stopped, .stop), (.stopped, .tick), (.asking, .tick), (.waiting, .tick),  // nothing is due
            (.stopped, .document), (.stopped, .unchanged), (.stopped, .failed),  // late answers
            (.waiting, .document), (.waiting, .unchanged), (.waiting, .failed):
            return Transition(state: state)
        }
    }

    private func pause(at now: Instant) -> State { .waiting(until: now.advanced(by: settings.interval)) }
}
