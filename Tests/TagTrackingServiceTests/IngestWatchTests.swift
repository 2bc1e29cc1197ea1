import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import XCTest

/// What a worker knows about the processes that receive the messages of gateways.
final class IngestWatchTests: XCTestCase {
    /// A store with the members of each list in turn; nil for no answer. The last list is repeated.
    private struct ListedMembers: LeaseStore {
        let lists: WatchedState<[Set<String>?]>

        func list(_ group: LeaseGroup) async throws(FleetStoreError) -> LeaseList {
            let members = lists.update { lists -> Set<String>? in lists.count > 1 ? lists.removeFirst() : lists[0] }
            guard group == .ingest, let members else { throw .unavailable(reason: "a fault of the test") }
            return LeaseList(members: members)
        }

        func write(
            lease index: Int, of group: LeaseGroup, owner: String, replacing revision: UInt64?
        ) async throws(FleetStoreError) -> UInt64 { throw .conflict(key: "lease \(index)") }

        func announce(_ member: String, of group: LeaseGroup, isPresent: Bool) async throws(FleetStoreError) {}
    }

    func testNoMessagesArriveWhenTwoListsHaveNoMember() async throws {
        let lists = WatchedState<[Set<String>?]>([["a"], [], ["a"], [], nil, [], [], ["a"], []])
        let reports = WatchedState<[String]>([])
        let watch = IngestWatch(store: ListedMembers(lists: lists), interval: .milliseconds(1)) { isListening in
            reports.update { $0.append("\(isListening), \(lists.value.count) lists left") }
        }
        XCTAssertTrue(watch.isListening)
        let running = Task { await watch.run() }
        try await Bounded.wait(for: "three changes") { try await reports.wait { $0.count == 3 } }
        XCTAssertEqual(reports.value, ["false, 3 lists left", "true, 1 lists left", "false, 1 lists left"])
        XCTAssertFalse(watch.isListening)
        running.cancel()
        await running.value
    }
}
