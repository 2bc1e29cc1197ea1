import Synchronization

/// What can happen while something goes on that only a person, the system or a time limit ends.
enum LiveOccurrence<Element: Sendable>: Sendable {
    case element(Element)
    /// It is time to show what there is.
    case tick
    /// The work is over, by itself or with an error.
    case ended((any Error)?)
    /// The time limit is reached.
    case limitReached
    /// The person at the keyboard or the system ended it.
    case interrupted
}

/// Occurrences on their way to one reader, in the order in which they come.
///
/// Elements for which there is no room are lost and counted; an end is never lost, and of ticks one is kept.
final class LiveMailbox<Element: Sendable>: Sendable {
    private struct State {
        var occurrences: [LiveOccurrence<Element>] = []
        /// How many of them have been taken.
        var start = 0
        var elements = 0
        var hasTick = false
        var lost = 0
    }

    /// The most elements that wait: seconds of a hall full of beacons.
    static var room: Int { 16_384 }

    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init() { (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// Elements that were lost.
    var lost: Int { state.withLock { $0.lost } }

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

    private func take() -> LiveOccurrence<Element>? {
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
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let mailbox: LiveMailbox
        fileprivate var wakes: AsyncStream<Void>.Iterator

        mutating func next() async -> LiveOccurrence<Element>? {
            while true {
                if let occurrence = mailbox.take() { return occurrence }
                if await wakes.next() == nil { return nil }
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(mailbox: self, wakes: wakes.makeAsyncIterator()) }
}
