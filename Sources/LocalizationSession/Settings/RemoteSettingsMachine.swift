import IndoorVocabulary

/// A state machine that requests settings from a server and processes the responses.
///
/// The latest valid settings apply until the server returns different ones. Failures and invalid documents don't
/// discard them.
package struct RemoteSettingsMachine: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case stopped
        /// A request is pending.
        case asking
        /// The next request is due at this instant.
        case waiting(until: Instant)
    }

    package enum Event: Hashable, Sendable {
        case start
        case stop
        case tick
        /// The server returned these settings with an entity tag; nil if it uses no tags.
        case document([SettingsEntry], tag: String?)
        /// The settings with the tag are unchanged.
        case unchanged
        case failed(LocalizationError)
    }

    package enum Directive: Hashable, Sendable {
        /// Request the settings unless they have this tag; nil requests them unconditionally.
        case ask(unless: String?)
        /// Cancel the pending request.
        case cancel
        /// Replace the server's settings with these.
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
    /// The latest settings from the server; nil before the first response.
    private var last: [SettingsEntry]?
    /// The tag of the latest settings; nil if the server uses no tags.
    private var tag: String?

    /// Creates a stopped machine. The settings must have no `problems`.
    ///
    /// - Parameter seed: The seed of the retry jitter.
    package init(_ settings: RemotePullSettings, seed: UInt64) {
        self.settings = settings
        backoff = Backoff(first: settings.retryPause, seed: seed)
    }

    /// The time of the next tick; nil if the machine needs none.
    package var nextWake: Instant? {
        if case .waiting(let until) = state { until } else { nil }
    }

    /// Processes an event and returns the directives.
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
            // A rejected request or an invalid document will fail again, so an earlier retry has no benefit.
            let pause = error.code == .network ? min(backoff.next(), settings.interval) : settings.interval
            return Transition(state: .waiting(until: now.advanced(by: pause)), directives: [.report(error)])
        case (.asking, .start), (.waiting, .start),  // already running
            (.stopped, .stop), (.stopped, .tick), (.asking, .tick), (.waiting, .tick),  // nothing to do
            (.stopped, .document), (.stopped, .unchanged), (.stopped, .failed),  // late responses
            (.waiting, .document), (.waiting, .unchanged), (.waiting, .failed):
            return Transition(state: state)
        }
    }

    private func pause(at now: Instant) -> State { .waiting(until: now.advanced(by: settings.interval)) }
}

/// Settings for requests to a settings server.
public struct RemotePullSettings: Hashable, Sendable {
    /// The time between two requests to the settings server, from 1 s to a day.
    public var interval = Duration.seconds(300)
    /// The pause before the first retry of a failed request, above 0 s; it doubles up to one minute.
    package var retryPause = Duration.seconds(5)

    /// Creates the settings with their defaults.
    public init() {}

    /// The settings that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "remote.") }

    /// The settings of the requests.
    package static let list: [Setting<RemotePullSettings>] = [
        .duration(
            "interval", \.interval, from: .seconds(1), better: .smaller,
            "The time between two requests to the settings server."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The pause before the first retry of a failed request; it doubles up to one minute."
        ).expert(.estimate),
    ]
}
