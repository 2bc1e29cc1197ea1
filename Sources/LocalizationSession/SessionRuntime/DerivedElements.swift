import IndoorVocabulary

/// The counts of the elements in streams that are derived from other streams of a session, such as its visits.
///
/// A class, because the tasks of all such streams share the counts.
final class DerivedElements: Sendable {
    private struct Counts {
        var sent = 0
        var dropped = 0
    }

    private let counts = Guarded(Counts())

    /// The number of elements sent, to all subscribers together.
    var sent: Int { counts.withLock { $0.sent } }

    /// The number of elements that slow subscribers have lost.
    var dropped: Int { counts.withLock { $0.dropped } }

    /// Sends an element to a subscriber.
    func send<Element: Sendable>(_ element: Element, to continuation: AsyncStream<Element>.Continuation) {
        let result = continuation.yield(element)
        counts.withLock { counts in
            counts.sent += 1
            if case .dropped = result { counts.dropped += 1 }
        }
    }
}
