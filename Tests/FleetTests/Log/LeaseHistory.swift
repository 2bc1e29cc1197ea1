import IndoorLocalizationTesting
import IndoorVocabulary
import NATSLog
import TagTracking

/// The owners of the leases over time, from the writes in the bucket.
final class LeaseHistory: Sendable {
    /// The writes of a lease by its current owner.
    struct Holding: Sendable {
        var owner: String
        var from: Int64
        /// The time of the latest write by this owner.
        var renewedAt: Int64
        /// The time at which the owner freed the lease; nil if it did not.
        var freedAt: Int64?
    }

    private struct State: Sendable {
        var holdings: [Int: [Holding]] = [:]
        var owners: [Int: String] = [:]
    }

    private let state = WatchedState(State())
    private let task: Task<Void, Never>

    init(_ leases: NATSLeaseStore, of group: LeaseGroup = .work) {
        task = Task { [state] in
            for await entry in leases.changes(of: group) {
                guard let index = entry.lease else { continue }
                state.update { state in
                    state.owners[index] = entry.owner.isEmpty ? nil : entry.owner
                    let last = (state.holdings[index]?.count ?? 0) - 1
                    if entry.owner.isEmpty {
                        if last >= 0 { state.holdings[index]?[last].freedAt = entry.writtenAt }
                    } else if last >= 0, let known = state.holdings[index]?[last], known.owner == entry.owner,
                        known.freedAt == nil
                    {
                        state.holdings[index]?[last].renewedAt = entry.writtenAt
                    } else {
                        state.holdings[index, default: []].append(
                            Holding(owner: entry.owner, from: entry.writtenAt, renewedAt: entry.writtenAt))
                    }
                }
            }
        }
    }

    deinit { task.cancel() }

    /// The holdings of each lease in their order.
    var holdings: [Int: [Holding]] { state.value.holdings }

    /// Waits until processes whose names begin as given hold these numbers of leases.
    func wait(for shares: [String: Int]) async throws {
        let state = state
        do {
            try await Bounded.wait(for: "the shares \(shares)") {
                try await state.wait { state in
                    shares.allSatisfy { share in
                        state.owners.values.count { $0.hasPrefix(share.key + "-") } == share.value
                    }
                }
            }
        } catch { throw Bounded.Expired(awaited: "the shares \(shares), not \(state.value.owners)") }
    }
}
