import IndoorLocalization

/// An occurrence during live work, which a person, the system or a time limit ends.
package enum LiveOccurrence<Element: Sendable>: Sendable {
    case element(Element)
    /// The interval for output has elapsed.
    case tick
    /// The work has ended, with an error if it failed.
    case ended((any Error)?)
    /// The time limit has been reached.
    case limitReached
    /// SIGINT or SIGTERM was received.
    case interrupted
}

/// A bounded queue of occurrences for one reader, in order of arrival.
///
/// Elements that don't fit are lost and counted. An end is never lost. At most one tick is queued.
package final class LiveMailbox<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var occurrences: [LiveOccurrence<Element>] = []
        /// The number of popped occurrences at the start of `occurrences`.
        var start = 0
        var elements = 0
        var hasTick = false
        var lost = 0
    }

    /// The capacity in elements: enough for several seconds in a hall full of beacons.
    static var room: Int { 16_384 }

    private let state = Guarded(State())
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init() { (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// The number of lost elements.
    var lost: Int { state.withLock { $0.lost } }

    /// Appends an occurrence.
    func put(_ occurrence: LiveOccurrence<Element>) {
        state.withLock { state in
            switch occurrence {
            case .element:
                guard state.elements < Self.room else { return state.lost += 1 }
                state.elements += 1
            case .tick:
                guard !state.hasTick else { return }
                state.hasTick = true
            case .ended, .limitReached, .interrupted: break
            }
            state.occurrences.append(occurrence)
        }
        waker.yield()
    }

    private func pop() -> LiveOccurrence<Element>? {
        state.withLock { state in
            guard state.start < state.occurrences.count else { return nil }
            let occurrence = state.occurrences[state.start]
            state.start += 1
            if state.start == state.occurrences.count || state.start >= Self.room {
                state.occurrences.removeFirst(state.start)
                state.start = 0
            }
            switch occurrence {
            case .element: state.elements -= 1
            case .tick: state.hasTick = false
            case .ended, .limitReached, .interrupted: break
            }
            return occurrence
        }
    }
}

extension LiveMailbox: AsyncSequence {
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let mailbox: LiveMailbox
        fileprivate var wakes: AsyncStream<Void>.Iterator

        package mutating func next() async -> LiveOccurrence<Element>? {
            while true {
                if let occurrence = mailbox.pop() { return occurrence }
                if await wakes.next() == nil { return nil }
            }
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(mailbox: self, wakes: wakes.makeAsyncIterator()) }
}
