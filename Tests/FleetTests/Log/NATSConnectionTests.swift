import CNATS
import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
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
                readings += try await FleetStage.patiently {
                    try await reader.next(atMost: 100, within: .seconds(5))
                }.entries.map(\.reading)
            }
            return readings
        }
    }

    func testEachReadingIsReadOnceAfterMessagesOfTheServerWereLost() async throws {
        let log = try await FleetStage([try natsServer()], partitions: 1).log
        var all = FleetStage.readings(tags: 10, at: FleetStage.now)
        try await log.append(all)
        let made = try await FleetStage.patiently { try await log.reader(ofPartition: 0, after: 0) }
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
        // The server acknowledges the readings, but may deliver them later.
        var dropped: Int64 = 0
        let start = ContinuousClock.now
        while dropped == 0, start.duration(to: .now) < Bounded.longest {
            natsSubscription_GetDropped(first.subscription.pointer, &dropped)
            await Task.yield()
        }
        XCTAssertGreaterThan(dropped, 0)
        read += try await readings(all.count - read.count, from: reader)
        XCTAssertEqual(read, all)
        XCTAssertFalse(reader.subscription === first)
        await reader.close()
    }

    func testAConsumerThatTheServerHasLostFailsAndAnIdleOneDoesNot() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        let result = try await FleetStage.patiently {
            try await connection.blocking(key: "") { () throws(NATSFailure) in try Self.endOfALostConsumer(connection) }
        }
        XCTAssertEqual(result, "silence")
    }

    /// Deletes the consumer of an idle subscription; returns how the subscription ends. This function blocks.
    ///
    /// - Throws: a failure of a request for the consumer.
    private static func endOfALostConsumer(_ connection: NATSConnection) throws(NATSFailure) -> String {
        // Many heartbeats, so that a pause of the machine is no silence.
        let silence = Duration.seconds(15)
        let subscription = try OrderedSubscription(
            connection, stream: FleetNames.stream, subject: FleetNames.subjects, silence: silence
        ) { $0.DeliverPolicy = js_DeliverAll }
        do throws(NATSFailure) {
            guard try subscription.next(within: silence * 2) == nil else { return "a message" }
        } catch { return "while idle: \(error.text)" }
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

    func testASlowReaderOfABucketGetsTheNewestValueAndNotAll() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        let bucket = try await FleetStage.patiently { try await NATSBucket(connection, name: FleetNames.states) }
        let changes = bucket.changes()
        func write(_ number: Int) async throws {
            let value = Array("\(number)".utf8) + [UInt8](repeating: 0, count: 100_000)
            _ = try await FleetStage.patiently { try await bucket.write(value, key: "key", .any) }
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
        for _ in 0..<100 { _ = try await FleetStage.patiently { try await Self.subscription(connection) } }
        // Each of them ends on the connection's queue, perhaps after the next one has begun.
        XCTAssertLessThan(connection.endedSubscriptions, 10)

        // They also wait while the connection is broken.
        var open: [OrderedSubscription] = []
        for _ in 0..<20 { open.append(try await FleetStage.patiently { try await Self.subscription(connection) }) }
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
        var subscription: OrderedSubscription? = try await FleetStage.patiently {
            try await Self.subscription(connection)
        }
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

/// The publisher that doesn't wait for each acknowledgement. A process that frees a message too early crashes.
final class NATSPublisherTests: XCTestCase {
    /// The time in milliseconds for acknowledgements: their speed doesn't matter here.
    private static let patience = Int64(Bounded.longest.seconds * 1000)

    private func publisher() async throws -> NATSPublisher {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        return try await FleetStage.patiently {
            try await NATSPublisher(
                connection, stream: FleetNames.outputStream, mostPending: 1_000, patience: Self.patience
            ) { _ in }
        }
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
        try publisher.flush(within: Self.patience)
    }
}

/// The end of subscriptions while messages arrive for them. A process that frees one too early crashes or waits forever.
final class NATSEndTests: XCTestCase {
    /// Reads some times while two tasks write. A request that a busy server doesn't answer in time is repeated.
    private func repeating(
        _ count: Int, _ read: @escaping @Sendable () async throws -> Void,
        while write: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await Bounded.wait(for: "the end of the readers", within: Bounded.longest * 5) {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !Task.isCancelled { try await FleetStage.patiently(write) }
                        return false
                    }
                }
                group.addTask {
                    for _ in 0..<count { try await FleetStage.patiently(read) }
                    return true
                }
                defer { group.cancelAll() }
                while try await group.next() == false {}
            }
        }
    }

    func testABucketIsReadCompletelyWhileItIsWritten() async throws {
        let connection = try await FleetStage([try natsServer()], partitions: 1).connection
        // The values of this bucket don't expire, however late the next write of a key is.
        let bucket = try await FleetStage.patiently { try await NATSBucket(connection, name: FleetNames.states) }
        let keys = (0..<8).map { "key\($0)" }
        @Sendable func write() async throws {
            for key in keys { _ = try await bucket.write(Array(key.utf8), key: key, .any) }
        }
        try await FleetStage.patiently(write)
        try await repeating(100) {
            let read = Set(try await bucket.all().map(\.key))
            XCTAssertEqual(read, Set(keys + [FleetNames.partitioning]))
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
        let publisher = try await FleetStage.patiently { try await NATSOutputPublisher(connection) }
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

/// The errors of servers that can't serve a fleet, and the security of the connection.
final class NATSErrorTests: XCTestCase {
    /// Runs the program, again if a busy server hasn't answered in time.
    ///
    /// - Parameter reason: the awaited reason why the log doesn't answer; nil for none.
    private func run(_ words: [String], awaiting reason: String? = nil) async throws -> (status: Int32?, text: String) {
        let start = ContinuousClock.now
        while true {
            let process = try FleetProcess(words)
            let status = try await process.end()
            let text = process.lines.joined(separator: "\n")
            let isAnswered = !text.contains("the log doesn't answer: ") || reason.map { text.contains($0) } == true
            if isAnswered || start.duration(to: .now) > Bounded.longest { return (status, text) }
        }
    }

    func testSetupNamesTheServerThatDoesNotAnswer() async throws {
        let url = "nats://127.0.0.1:\(try TestPort.free())"
        let result = try await run(["setup", "--nats", url], awaiting: "accepts a connection")
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.text,
            "indoorloc-fleet: the log doesn't answer: no NATS server at \(url) accepts a connection; start it, or "
                + "check the URL")
    }

    func testSetupReportsAServerWithoutJetStream() async throws {
        let server = try NATSServer(folder: try temporaryFolder(), hasJetStream: false)
        defer { server.kill() }
        let result = try await run(["setup", "--nats", server.url], awaiting: "has no JetStream")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.text.contains("has no JetStream; start it with -js"), result.text)
    }

    func testSetupCreatesThePartsOnceAndRefusesOtherSettings() async throws {
        let server = try natsServer()
        let first = try await run(["setup", "--nats", server.url])
        XCTAssertEqual(
            first.text,
            """
            stream READINGS: ready, 1 replica, keeps 3600 s
            stream POSITIONS: ready, 1 replica, keeps 3600 s
            bucket indoorloc-leases: ready, 1 replica, values expire after 3 s
            bucket indoorloc-state: ready, 1 replica
            bucket indoorloc-receivers: ready, 1 replica, values expire after 60 s
            partitioning: stored, 64 partitions, 16 groups of gateways
            """)
        let again = try await run(["setup", "--nats", server.url])
        XCTAssertEqual(again.status, 0)
        XCTAssertTrue(again.text.hasSuffix("partitioning: exists, 64 partitions, 16 groups of gateways"), again.text)
        let other = try await run(["setup", "--nats", server.url, "--partitions", "8"])
        XCTAssertEqual(other.status, 1)
        XCTAssertTrue(other.text.contains("the fleet has 64 partitions"), other.text)
        let stream = try await run(["setup", "--nats", server.url, "--max-age", "600"])
        XCTAssertEqual(stream.status, 1)
        XCTAssertTrue(stream.text.contains("READINGS exists with other settings"), stream.text)
        let outputs = try await run(["setup", "--nats", server.url, "--output-age", "600"])
        XCTAssertEqual(outputs.status, 1)
        XCTAssertTrue(outputs.text.contains("POSITIONS exists with other settings"), outputs.text)
        let replicas = try await run(["setup", "--nats", server.url, "--replicas", "3"])
        XCTAssertEqual(replicas.status, 1)
        XCTAssertTrue(replicas.text.contains("requires as many servers in a cluster"), replicas.text)
    }

    func testWorkReportsThatSetupIsMissing() async throws {
        let server = try natsServer()
        let result = try await run(["work", "--nats", server.url, "--venue", try FleetStage.venue()])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.text.contains("run 'indoorloc-fleet setup' first"), result.text)
    }

    func testAURLWithAPasswordIsRefusedWithoutPrintingIt() async throws {
        let result = try await run(["setup", "--nats", "nats://me:secret@127.0.0.1"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.text.contains("put user and password into --nats-user-file"), result.text)
        XCTAssertFalse(result.text.contains("secret"), result.text)
    }

    func testTheUserOfAFileConnectsOverTLSAndAnotherOneIsRefused() async throws {
        let folder = try temporaryFolder()
        let authority = try TestAuthority(in: folder)
        let server = try natsServer(
            configuration: """
                tls {
                    cert_file: "\(authority.identity.certificate)", key_file: "\(authority.identity.key)", timeout: 60
                }
                authorization { timeout: 60, users: [
                    { user: "fleet", password: "a-password" }
                    { user: "reader", password: "a-password", permissions: { publish: ["$JS.API.INFO"] } }
                ] }

                """)
        func setup(_ user: String, authority: String?) async throws -> (status: Int32?, text: String) {
            let file = folder + "/user"
            try SecretText.write(user, to: file)
            let url = "tls://127.0.0.1:\(server.port)"
            return try await run(
                ["setup", "--nats", url, "--nats-user-file", file] + (authority.map { ["--nats-ca", $0] } ?? []))
        }
        let accepted = try await setup("fleet:a-password", authority: authority.certificate)
        XCTAssertEqual(accepted.status, 0, accepted.text)
        let refused = try await setup("fleet:another", authority: authority.certificate)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.text.contains("refuses the credentials"), refused.text)
        let untrusted = try await setup("fleet:a-password", authority: nil)
        XCTAssertEqual(untrusted.status, 1)
        XCTAssertTrue(untrusted.text.contains("TLS"), untrusted.text)
        let restricted = try await setup("reader:a-password", authority: authority.certificate)
        XCTAssertEqual(restricted.status, 1)
        XCTAssertTrue(restricted.text.contains("not permitted"), restricted.text)
    }

    func testAServerWithoutATrustedCertificateForItsHostIsRefused() async throws {
        let trusted = try TestAuthority(in: try temporaryFolder())
        let other = try TestAuthority(in: try temporaryFolder())
        for (identity, defect) in [(other.identity, "another authority"), (try trusted.stranger(), "another host")] {
            let server = try natsServer(
                configuration: "tls { cert_file: \"\(identity.certificate)\", key_file: \"\(identity.key)\", "
                    + "timeout: 60 }\n")
            let result = try await run(
                ["setup", "--nats", "tls://127.0.0.1:\(server.port)", "--nats-ca", trusted.certificate])
            XCTAssertEqual(result.status, 1, defect)
            XCTAssertTrue(result.text.contains("TLS"), "\(defect): \(result.text)")
        }
    }

    func testAStateAboveTheLimitOfTheServerIsRefusedWithItsSize() async throws {
        let stage = try await FleetStage([try natsServer(configuration: "max_payload: 100000\n")], partitions: 1)
        let bytes = [UInt8](repeating: 7, count: 100_001)
        do {
            _ = try await stage.snapshots.store(bytes, partition: 0, replacing: nil)
            XCTFail("the state was stored")
        } catch {
            XCTAssertEqual(
                error, .tooLarge(key: "indoorloc-state/partition.0", bytes: 100_001, limit: 100_000))
        }
    }
}
