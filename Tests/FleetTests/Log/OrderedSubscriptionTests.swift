import CNATS
import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import XCTest

@testable import NATSLog

/// The consumers that deliver a stream in order, and the end of their subscriptions.
final class OrderedSubscriptionTests: XCTestCase {
    /// Returns the next readings of the log.
    private func readings(_ count: Int, from reader: any ReadingLogReader) async throws -> [TagReading] {
        try await Bounded.wait(for: "\(count) readings") {
            var readings: [TagReading] = []
            while readings.count < count {
                readings += try await reader.next(atMost: 100, within: .seconds(5)).entries.map(\.reading)
            }
            return readings
        }
    }

    func testEachReadingIsReadOnceAfterMessagesOfTheServerWereLost() async throws {
        let log = try await FleetStage([try natsServer()], partitions: 1).log
        var all = FleetStage.readings(tags: 10, at: FleetStage.now)
        try await log.append(all)
        let made = try await log.reader(ofPartition: 0, after: 0)
        let reader = try XCTUnwrap(made as? NATSLogReader)
        var read = try await readings(5, from: reader)
        let first = try XCTUnwrap(reader.subscription)
        // libnats drops the messages above this number.
        natsSubscription_SetPendingLimits(first.subscription.pointer, 10, -1)
        for _ in 0..<3 {
            let further = FleetStage.readings(tags: 20, at: FleetStage.now)
            try await log.append(further)
            all += further
        }
        read += try await readings(all.count - read.count, from: reader)
        XCTAssertEqual(read, all)
        XCTAssertFalse(reader.subscription === first)
        await reader.close()
    }

    func testAConsumerThatTheServerHasLostFailsAndAnIdleOneDoesNot() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        let result = try await connection.blocking(key: "") { () throws(NATSFailure) in
            let silence = Duration.milliseconds(800)
            let subscription = try OrderedSubscription(
                connection, stream: FleetNames.stream, subject: FleetNames.subjects, silence: silence
            ) { $0.DeliverPolicy = js_DeliverAll }
            guard try subscription.next(within: silence * 2) == nil else { return "a message" }
            var names: UnsafeMutablePointer<jsConsumerNamesList>?
            var code = jsErrCode(0)
            let context = connection.context.pointer
            try NATSFailure.check(js_ConsumerNames(&names, context, FleetNames.stream, nil, &code))
            defer { jsConsumerNamesList_Destroy(names) }
            guard let list = names?.pointee, list.Count == 1 else { return "several consumers" }
            try NATSFailure.check(js_DeleteConsumer(context, FleetNames.stream, list.List[0], nil, &code))
            do throws(NATSFailure) {
                while try subscription.next(within: silence) == nil {}
                return "a message"
            } catch {
                return error.status == NATS_MISSED_HEARTBEAT ? "silence" : error.text
            }
        }
        XCTAssertEqual(result, "silence")
    }

    func testASlowReaderOfABucketGetsTheNewestValueAndNotAll() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        let bucket = try await NATSBucket(connection, name: FleetNames.states)
        let changes = bucket.changes()
        func write(_ number: Int) async throws {
            let value = Array("\(number)".utf8) + [UInt8](repeating: 0, count: 100_000)
            _ = try await bucket.write(value, key: "key", .any)
        }
        try await write(0)
        let entry = await changes.first { $0.key == "key" }
        XCTAssertEqual(entry?.value.first, UInt8(ascii: "0"))
        // The server sends some megabytes before it waits for the reader.
        for number in 1...100 { try await write(number) }
        let entries = try await Bounded.elements(of: changes, until: "the newest value") {
            $0.value.starts(with: "100".utf8)
        }
        XCTAssertLessThan(entries.count, 60)
    }

    private static func subscription(_ connection: NATSConnection) async throws(FleetStoreError) -> OrderedSubscription
    {
        try await connection.blocking(key: FleetNames.stream) { () throws(NATSFailure) in
            try OrderedSubscription(connection, stream: FleetNames.stream, subject: FleetNames.subjects) {
                $0.DeliverPolicy = js_DeliverNew
            }
        }
    }

    func testEndedSubscriptionsAreFreedByALaterOne() async throws {
        let server = try natsServer()
        let connection = try await FleetStage([server], partitions: 1).connection
        for _ in 0..<100 { _ = try await Self.subscription(connection) }
        // Each of them ends on the connection's queue, perhaps after the next one has begun.
        XCTAssertLessThan(connection.endedSubscriptions, 10)

        // They also wait while the connection is broken.
        var open: [OrderedSubscription] = []
        for _ in 0..<20 { open.append(try await Self.subscription(connection)) }
        server.kill()
        open = []
        try await Bounded.wait(for: "the end of the subscriptions") {
            while connection.endedSubscriptions < 20 { try await Task.sleep(for: .milliseconds(1)) }
        }
        try server.restart()
        try await Bounded.wait(for: "a reply of the server") {
            repeat {
                do throws(FleetStoreError) { _ = try await Self.subscription(connection) } catch {
                    guard error.isTransient else { throw error }
                    try Task.checkCancellation()
                }
            } while connection.endedSubscriptions >= 10
        }
    }

    func testASubscriptionMayOutliveItsConnection() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        var subscription: OrderedSubscription? = try await Self.subscription(connection)
        connection.close()
        // This call is refused after the end.
        _ = try? await Self.subscription(connection)
        XCTAssertThrowsError(try subscription?.next() == nil) {
            XCTAssertEqual(($0 as? NATSFailure)?.status, NATS_CONNECTION_CLOSED)
        }
        subscription = nil
        XCTAssertEqual(connection.endedSubscriptions, 0)
    }
}
