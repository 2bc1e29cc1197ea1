import IndoorLocalizationTesting
import IndoorVocabulary
import NATSLog
import TagTracking
import XCTest

/// The end of subscriptions while messages arrive for them. A process that frees one too early crashes or waits forever.
final class NATSEndTests: XCTestCase {
    /// Reads some times while two tasks write. A request that a busy server doesn't answer in time is repeated.
    private func repeating(
        _ count: Int, _ read: @escaping @Sendable () async throws -> Void,
        while write: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await Bounded.wait(for: "the end of the readers") {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !Task.isCancelled { try await Self.patiently(write) }
                        return false
                    }
                }
                group.addTask {
                    for _ in 0..<count { try await Self.patiently(read) }
                    return true
                }
                defer { group.cancelAll() }
                while try await group.next() == false {}
            }
        }
    }

    private static func patiently(_ body: () async throws -> Void) async throws {
        while true {
            do { return try await body() } catch let error as FleetStoreError where error.isTransient {
                if Task.isCancelled { return }
            }
        }
    }

    func testABucketIsReadCompletelyWhileItIsWritten() async throws {
        let leases = try await FleetStage([try natsServer()], partitions: 1).leases
        let members = (0..<8).map { "member \($0)" }
        @Sendable func write() async throws {
            for member in members { try await leases.announce(member, of: .work, isPresent: true) }
        }
        try await Self.patiently(write)
        try await repeating(100) {
            let read = try await leases.list(.work).members
            XCTAssertEqual(read, Set(members))
        } while: {
            try await write()
        }
    }

    func testReadersOfTheLogEndWhileReadingsAppear() async throws {
        let log = try await FleetStage([try natsServer()], partitions: 1).log
        try await repeating(60) {
            let reader = try await log.reader(ofPartition: 0, after: 0)
            _ = try await reader.next(atMost: 20, within: .seconds(1))
            await reader.close()
        } while: {
            try await log.append(FleetStage.readings(tags: 20, at: FleetStage.now))
        }
    }

    func testReadersOfTheOutputsEndWhileOutputsAppear() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        let publisher = try await NATSOutputPublisher(connection)
        let output = TestOutputs.position("tag-1", sequence: 1)
        try await repeating(100) {
            let reader = NATSOutputReader(connection, consumer: "test")
            let batch = try await reader.next(atMost: 500, within: .milliseconds(5))
            reader.close()
            await reader.acknowledge(batch)
        } while: {
            await publisher.publish(Array(repeating: output, count: 20))
            _ = await publisher.flush()
        }
    }
}
