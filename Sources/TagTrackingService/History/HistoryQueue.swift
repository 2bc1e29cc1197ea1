import IndoorVocabulary
import TagTracking

/// The outputs that wait for the file of a history.
///
/// A slow or locked file never delays the fleet: when too many outputs wait, further ones are lost. The place of a loss
/// stays known, so that the history doesn't trust the visits before it.
final class HistoryQueue: Sendable {
    enum Change: Sendable {
        case outputs([FleetOutput])
        /// Tags that aren't located any more.
        case removal([TagKey])
        /// A number of outputs that were lost.
        case loss(Int)

        /// The number of outputs that aren't in the file.
        fileprivate var outputCount: Int {
            switch self {
            case .outputs(let outputs): outputs.count
            case .removal: 0
            case .loss(let count): count
            }
        }
    }

    /// What happened to the changes that were taken.
    enum Result: Sendable {
        case written
        /// They can be written later.
        case kept
        case lost
    }

    private struct Content: Sendable {
        var changes: [Change] = []
        /// The number of outputs that wait.
        var count = 0
        /// The number of changes that the file's owner is writing.
        var taken = 0
        var nextFlush = ContinuousClock.now
        var isFlushing = false
    }

    /// The time between two transactions.
    private static let interval = Duration.seconds(1)

    private let capacity: Int
    private let content = Guarded(Content())

    /// - Parameter capacity: the number of waiting outputs from which further ones are lost.
    init(capacity: Int) { self.capacity = capacity }

    func append(_ outputs: [FleetOutput]) {
        content.withLock { content in
            guard content.count >= capacity else {
                content.changes.append(.outputs(outputs))
                content.count += outputs.count
                return
            }
            var lost = outputs.count
            if content.changes.count > content.taken, case .loss(let count) = content.changes.last {
                content.changes.removeLast()
                lost += count
            }
            content.changes.append(.loss(lost))
        }
    }

    func append(removalOf tags: [TagKey]) { content.withLock { $0.changes.append(.removal(tags)) } }

    /// The number of outputs that aren't in the file: those that wait, and those whose loss isn't reported yet.
    var missing: Int { content.withLock { $0.changes.reduce(0) { $0 + $1.outputCount } } }

    /// Returns whether it is time to write, once for each time.
    func beginsFlush() -> Bool {
        content.withLock { content in
            guard !content.isFlushing, ContinuousClock.now >= content.nextFlush else { return false }
            content.isFlushing = true
            return true
        }
    }

    /// Returns what waits. The changes stay in the queue until ``end(_:)``.
    func take() -> [Change] {
        content.withLock { content in
            content.taken = content.changes.count
            return content.changes
        }
    }

    /// Ends the work on the changes that were taken.
    func end(_ result: Result) {
        content.withLock { content in
            if result != .kept {
                let taken = content.changes.prefix(content.taken)
                for case .outputs(let outputs) in taken { content.count -= outputs.count }
                content.changes.removeFirst(content.taken)
                if result == .lost {
                    content.changes.insert(.loss(taken.reduce(0) { $0 + $1.outputCount }), at: 0)
                }
            }
            content.taken = 0
            content.nextFlush = .now + Self.interval
            content.isFlushing = false
        }
    }
}
