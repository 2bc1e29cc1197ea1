import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import TagTracking
import TagTrackingService
import XCTest

/// What an ingest appends to the log, with a real broker.
final class FleetIngestLogTests: XCTestCase {
    private static let start = Instant(seconds: 1_700_000_000)
    /// The address of the tag, in the messages and as a key.
    private static let tag = "C30000000001"

    /// A log that keeps the readings.
    private struct KeptLog: ReadingLog {
        let readings = WatchedState<[TagReading]>([])

        func append(_ readings: [TagReading]) async throws(FleetStoreError) { self.readings.update { $0 += readings } }

        func reader(
            ofPartition partition: Int, after sequence: UInt64
        ) async throws(FleetStoreError) -> any ReadingLogReader { throw .misconfigured(reason: "nothing reads") }
    }

    private func ingest(
        _ broker: MosquittoBroker, _ log: KeptLog, patience: Duration = .seconds(5),
        unknownTags: FleetSettings.UnknownTags = .all, newRegister: @escaping @Sendable () -> TagRegister? = { nil },
        arrival: @escaping @Sendable () -> Instant, report: @escaping @Sendable (FleetIngest.Report) -> Void
    ) throws -> FleetIngest {
        var settings = FleetSettings()
        settings.unknownTagMoments = 1
        settings.unknownTags = unknownTags
        return FleetIngest(
            input: FleetInput(
                MQTTBroker(host: "127.0.0.1", port: broker.port), filters: ["minew"], firstPause: .milliseconds(10)
            ) { _ in arrival() }, intake: TagIntake(settings: settings), log: log,
            partitioning: Partitioning(partitions: 1, gatewayGroups: 1), patience: patience, newRegister: newRegister,
            report: report)
    }

    /// Returns a message of a gateway with the RSSI of each advertisement of the tag.
    private func message(_ rssi: Int...) -> String {
        let entries = rssi.map { #"{"mac":"\#(Self.tag)","rssi":\#($0)}"# }.joined(separator: ",")
        return #"[{"type":"Gateway","mac":"AC233FC00001"},\#(entries)]"#
    }

    /// Runs an ingest that owns the gateway, and publishes through a body.
    private func run(
        unknownTags: FleetSettings.UnknownTags = .all, newRegister: @escaping @Sendable () -> TagRegister? = { nil },
        arrival: @escaping @Sendable () -> Instant,
        _ body: (_ gateway: GatewayPublisher, _ log: KeptLog, _ ingest: FleetIngest) async throws -> Void
    ) async throws {
        let broker = try gatewayBroker()
        let (log, connections) = (KeptLog(), WatchedState(0))
        let ingest = try ingest(
            broker, log, unknownTags: unknownTags, newRegister: newRegister, arrival: arrival
        ) { report in
            if case .connected = report { connections.update { $0 += 1 } }
        }
        let gate = LeaseGate(SessionClock(ContinuousClock()), validUntil: Instant(nanoseconds: .max))
        let tasks = [Task { await ingest.own(0, gate) }, Task { _ = try? await ingest.run() }]
        try await Bounded.wait(for: "the connection") { try await connections.wait { $0 > 0 } }
        try await Bounded.poll(for: "the gateway") { ingest.groups == 1 }
        try await body(try await GatewayPublisher(port: broker.port), log, ingest)
        gate.handOver()
        tasks[1].cancel()
        for task in tasks { await task.value }
    }

    func testReadingsBelongToTheOwnerOfTheirGatewayAfterTheClockWasSetBack() async throws {
        let now = Guarded(Self.start)
        try await run(arrival: { now.withLock { $0 } }) { gateway, log, _ in
            gateway.publish("minew", message(-60))
            try await Bounded.wait(for: "a reading") { try await log.readings.wait { $0.count == 1 } }
            now.withLock { $0.move(by: .seconds(-3_600)) }
            gateway.publish("minew", message(-61))
            try await Bounded.wait(for: "a later reading") { try await log.readings.wait { $0.count == 2 } }
            XCTAssertEqual(log.readings.value.map(\.rssi), [-60, -61])
        }
    }

    func testAnotherRegisterDecidesAboutTheMessagesThatArriveAfterIt() async throws {
        let waiting = Guarded<TagRegister?>(nil)
        let take: @Sendable () -> TagRegister? = {
            waiting.withLock { register in
                defer { register = nil }
                return register
            }
        }
        let known = TagRegister([.init(key: try XCTUnwrap(TagKey("C3:00:00:00:00:01")))])
        try await run(unknownTags: .none, newRegister: take, arrival: { Self.start }) { gateway, log, ingest in
            gateway.publish("minew", message(-60))
            try await Bounded.poll(for: "an unknown tag") { ingest.statistics.dropped[.unknownTag] == 1 }
            waiting.withLock { $0 = known }
            gateway.publish("minew", message(-61))
            try await Bounded.wait(for: "the known tag") { try await log.readings.wait { $0.count == 1 } }
            waiting.withLock { $0 = TagRegister() }
            gateway.publish("minew", message(-62))
            try await Bounded.poll(for: "the tag that left") { ingest.statistics.dropped[.unknownTag] == 2 }
            XCTAssertEqual(log.readings.value.map(\.rssi), [-61])
        }
    }

    func testAnIngestWithoutAConnectionCannotReceiveAfterAWhile() async throws {
        let broker = try gatewayBroker()
        let ingest = try ingest(
            broker, KeptLog(), patience: .milliseconds(50), arrival: { Self.start }, report: { _ in })
        try await Bounded.poll(for: "the end of the patience") { !ingest.canReceive }
        let running = Task { _ = try? await ingest.run() }
        try await Bounded.poll(for: "the connection") { ingest.canReceive }
        broker.kill()
        try await Bounded.poll(for: "the loss") { !ingest.canReceive }
        try broker.restart()
        try await Bounded.poll(for: "the next connection") { ingest.canReceive }
        running.cancel()
        await running.value
    }

    func testTheLogTakesNoAdvertisementOfAMessageForOneThatIsSentAgain() async throws {
        try await run(arrival: { Self.start }) { gateway, log, _ in
            gateway.publish("minew", message(-60, -60, -61, -60))
            try await Bounded.wait(for: "the readings") { try await log.readings.wait { $0.count == 4 } }
            let readings = log.readings.value
            XCTAssertEqual(readings.map(\.rssi), [-60, -60, -61, -60])
            XCTAssertEqual(Set(readings.map(\.logID)).count, 4)
            XCTAssertEqual(
                readings.map { Self.start.duration(to: $0.instant) }, [0, 1, 0, 2].map { Duration.nanoseconds($0) })
        }
    }
}
