import IndoorVocabulary
import TagTracking

/// The task of a worker that watches whether any ingest receives the messages of gateways.
///
/// Without one, the silence of a tag says nothing, and no tag may become away.
package final class IngestWatch: Sendable {
    private struct State: Sendable {
        var isListening = true
        /// The number of latest lists without members.
        var emptyLists = 0
    }

    /// The number of lists without members after which there is no ingest. The only one can be renewing its entry.
    private static let tolerated = 2

    private let store: any LeaseStore
    private let interval: Duration
    private let report: @Sendable (_ isListening: Bool) -> Void
    private let state = Guarded(State())

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - interval: the time between two requests.
    ///   - report: receives whether any ingest receives messages, when this changes.
    package init(
        store: any LeaseStore, interval: Duration = .seconds(2),
        report: @escaping @Sendable (_ isListening: Bool) -> Void
    ) {
        self.store = store
        self.interval = interval
        self.report = report
    }

    /// Whether any ingest receives messages of gateways; true before the store has answered.
    package var isListening: Bool { state.withLock(\.isListening) }

    /// Watches until the task is cancelled.
    package func run() async {
        repeat {
            do throws(FleetStoreError) {
                note(hasMembers: try await !store.list(.ingest).members.isEmpty)
            } catch {
                // An ingest that can't be seen may receive messages. Without the store, the log is silent, too.
            }
        } while (try? await Task.sleep(for: interval)) != nil
    }

    private func note(hasMembers: Bool) {
        let change = state.withLock { state -> Bool? in
            state.emptyLists = hasMembers ? 0 : state.emptyLists + 1
            let isListening = hasMembers || state.isListening && state.emptyLists < Self.tolerated
            guard isListening != state.isListening else { return nil }
            state.isListening = isListening
            return isListening
        }
        if let change { report(change) }
    }
}
