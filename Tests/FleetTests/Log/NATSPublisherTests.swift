import IndoorLocalizationTesting
import TagTracking
import XCTest

@testable import NATSLog

/// The publisher that doesn't wait for each acknowledgement. A process that frees a message too early crashes.
final class NATSPublisherTests: XCTestCase {
    private func publisher() async throws -> NATSPublisher {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        return try await NATSPublisher(
            connection, stream: FleetNames.outputStream, mostPending: 1_000, patience: NATSConnection.requestTime
        ) { _ in }
    }

    func testMessagesAreGivenUpWhileOthersAreSent() async throws {
        let publisher = try await publisher()
        // Before the first message, too.
        publisher.forget()
        let bytes = [UInt8](repeating: 7, count: 100)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<2 {
                group.addTask { for _ in 0..<5_000 { try publisher.send(bytes, to: "positions.\(task)") } }
            }
            group.addTask { for _ in 0..<5_000 { publisher.forget() } }
            try await group.waitForAll()
        }
        try publisher.flush(within: NATSConnection.requestTime)
    }
}
