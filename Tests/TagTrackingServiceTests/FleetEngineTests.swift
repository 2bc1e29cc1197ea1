import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// Messages of gateways in, outputs of tags out, with one partition and with several.
final class FleetEngineTests: XCTestCase {
    private static let start = Instant(seconds: 1_700_000_000)

    /// A hall with six gateways.
    static let venue: Venue = {
        let receivers = (0..<6).map { index in
            let id = "gateway-\(index)"
            return VenueReceiver(
                id: id, identity: VenueReceiver.identity(for: id), mapID: 1,
                point: MapPoint(x: 5 + 10 * Double(index % 3), y: 5 + 10 * Double(index / 3)))
        }
        let map = VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 20)
        return Venue(id: 7, name: "Hall", maps: [map], receivers: receivers)
    }()

    /// The messages of gateways, as OpenMQTTGateway sends them, in the order of their arrival.
    private func messages(tags: Int, seconds: Int) -> [GatewayMessage] {
        var settings = SimulatedFleetSettings()
        settings.tagCount = tags
        var fleet = SimulatedFleet(venue: Self.venue, settings: settings, start: Self.start)
        return fleet.readings(until: Self.start.advanced(by: .seconds(seconds))).map { reading in
            let tag = "C0000000000" + String(reading.tag, radix: 16, uppercase: true)
            let payload = #"{"id":"\#(tag)","rssi":\#(Int(reading.rssi.rounded()))}"#
            return GatewayMessage(
                topic: "home/gateway-\(reading.receiver)/BTtoMQTT/\(tag)", payload: Array(payload.utf8),
                arrival: reading.instant)
        }
    }

    /// Returns the outputs of each tag.
    private func outputs(
        of messages: [GatewayMessage], seconds: Int, partitions: Int
    ) async throws -> [TagKey: [FleetOutput]] {
        var settings = FleetSettings()
        settings.classes["standard"] = .light
        let setup = FleetEngine.Setup(
            model: FleetModel(venue: Self.venue, settings: settings), seed: 3, partitionCount: partitions)
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        var (outputs, index) = ([FleetOutput](), 0)
        for step in 1...2 * seconds {
            let now = Self.start.advanced(by: .milliseconds(500 * step))
            let end = messages[index...].firstIndex { $0.arrival >= now } ?? messages.count
            outputs += await engine.step(Array(messages[index..<end]), to: now).outputs
            index = end
        }
        return Dictionary(grouping: outputs, by: \.tag)
    }

    func testTheActivityHasTheLatestMessagesAndTheSimilarNamesOfUnknownGateways() async throws {
        var settings = FleetSettings()
        settings.unknownTags = .none
        let setup = FleetEngine.Setup(
            model: FleetModel(venue: Self.venue, settings: settings), seed: 3, partitionCount: 2)
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        let messages = ["gateway-1", "Gateway_2", "gatewy-3", "porch", "AA:BB:CC:DD:EE:01"].map { name in
            GatewayMessage(
                topic: "home/\(name)/BTtoMQTT/C0", payload: Array(#"{"id":"C00000000001","rssi":-60}"#.utf8),
                arrival: Self.start)
        }
        let step = await engine.step(messages, to: Self.start.advanced(by: .seconds(1)))
        let activity = try XCTUnwrap(step.activity)
        // No tag is located, and the gateways send all the same.
        XCTAssertEqual(activity.latest, ["gateway-1": Self.start, "gateway-2": Self.start])
        XCTAssertEqual(
            activity.unknownGateways.map(\.text),
            [
                #"unknown gateway "AA:BB:CC:DD:EE:01""#, #"unknown gateway "gatewy-3": is it "gateway-3"?"#,
                #"unknown gateway "porch""#,
            ])
        let idle = await engine.step([], to: Self.start.advanced(by: .seconds(2)))
        XCTAssertNil(idle.activity)
    }

    func testSeveralPartitionsGiveTheOutputsOfOne() async throws {
        let messages = messages(tags: 12, seconds: 12)
        let one = try await outputs(of: messages, seconds: 13, partitions: 1)
        XCTAssertEqual(one.count, 12)
        XCTAssertTrue(one.values.allSatisfy { $0.count > 3 }, "\(one.mapValues(\.count))")
        for partitions in [2, 5] {
            let several = try await outputs(of: messages, seconds: 13, partitions: partitions)
            let used = Set(one.keys.map { Partitioning(partitions: partitions).partition(of: $0) })
            XCTAssertEqual(used.count, partitions, "each partition has a tag")
            for (tag, expected) in one { XCTAssertEqual(several[tag], expected, "\(tag), \(partitions) partitions") }
            XCTAssertEqual(several.count, one.count)
        }
    }
}

/// The subscription to gateways' messages, with a real broker.
final class FleetInputTests: XCTestCase {
    /// An input in a task, whose events a test awaits.
    private struct RunningInput: Sendable {
        let events: AsyncStream<FleetInput.Event>
        let task: Task<Void, Never>

        init(_ input: FleetInput) {
            let (events, continuation) = AsyncStream.makeStream(of: FleetInput.Event.self)
            self.events = events
            task = Task { await input.run { continuation.yield($0) } }
        }

        /// Waits for the next event for which `value` returns a value.
        func next<Value: Sendable>(
            _ awaited: String, _ value: @escaping @Sendable (FleetInput.Event) -> Value?
        ) async throws -> Value {
            let events = events
            return try await Bounded.wait(for: awaited) {
                for await event in events { if let value = value(event) { return value } }
                throw Bounded.Expired(awaited: awaited)
            }
        }

        func connected() async throws -> [String] {
            try await next("connection") { if case .connected(let refused) = $0 { refused } else { nil } }
        }

        func message() async throws -> GatewayMessage {
            try await next("message") { if case .message(let message) = $0 { message } else { nil } }
        }
    }

    private func input(
        _ broker: MosquittoBroker, filters: [String] = ["ruuvi/#"],
        arrival: @escaping @Sendable (MQTTMessage) -> Instant? = { _ in Instant(nanoseconds: 7) }
    ) -> FleetInput {
        FleetInput(
            MQTTBroker(host: "127.0.0.1", port: broker.port), filters: filters, firstPause: .milliseconds(10),
            arrival: arrival)
    }

    func testMessagesArriveInTheirOrderWithTheTimeOfArrival() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(input(broker, filters: ["ruuvi/#", "home/+/BTtoMQTT/+"]))
        let refused = try await running.connected()
        XCTAssertEqual(refused, [])
        let gateway = try await GatewayPublisher(port: broker.port)
        gateway.publish("other/topic", "0")
        gateway.publish("ruuvi/a/b", "1")
        gateway.publish("home/g/BTtoMQTT/m", [0, 255])
        let first = try await running.message()
        let second = try await running.message()
        XCTAssertEqual(
            first, GatewayMessage(topic: "ruuvi/a/b", payload: Array("1".utf8), arrival: Instant(nanoseconds: 7)))
        XCTAssertEqual(second.topic, "home/g/BTtoMQTT/m")
        XCTAssertEqual(second.payload, [0, 255])
        running.task.cancel()
        await running.task.value
    }

    func testARetainedMessageIsMarked() async throws {
        let broker = try gatewayBroker()
        let gateway = try await GatewayPublisher(port: broker.port)
        try await gateway.deliver("ruuvi/a/b", "old", isRetained: true)
        let running = RunningInput(input(broker))
        let old = try await running.message()
        XCTAssertTrue(old.isRetained)
        // Published after the subscription, the same topic isn't old.
        gateway.publish("ruuvi/a/b", "new", isRetained: true)
        let new = try await running.message()
        XCTAssertFalse(new.isRetained)
        running.task.cancel()
    }

    func testTheInputReconnectsAfterTheBrokerRestarts() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(input(broker))
        _ = try await running.connected()
        broker.kill()
        let pause = try await running.next("loss") {
            if case .disconnected(_, let pause) = $0 { pause } else { nil }
        }
        XCTAssertTrue((.milliseconds(5) ... .milliseconds(10)).contains(pause), "\(pause)")
        // Further attempts fail as well, and their pauses double.
        for attempt in 1...4 {
            let longer = try await running.next("loss \(attempt + 1)") {
                if case .disconnected(.unreachable, let pause) = $0 { pause } else { nil }
            }
            let longest = Duration.milliseconds(10 << attempt)
            XCTAssertTrue((longest / 2...longest).contains(longer), "\(longer)")
        }
        try broker.restart()
        _ = try await running.connected()
        let gateway = try await GatewayPublisher(port: broker.port)
        gateway.publish("ruuvi/a/b", "again")
        let message = try await running.message()
        XCTAssertEqual(message.payload, Array("again".utf8))
        running.task.cancel()
    }

    func testAMessageWithoutArrivalIsDiscarded() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(
            input(broker) { $0.payload == Array("clock".utf8) ? nil : Instant(nanoseconds: 1) })
        _ = try await running.connected()
        let gateway = try await GatewayPublisher(port: broker.port)
        gateway.publish("ruuvi/a/b", "clock")
        gateway.publish("ruuvi/a/b", "reading")
        let message = try await running.message()
        XCTAssertEqual(message.payload, Array("reading".utf8))
        running.task.cancel()
    }

    func testACancelledInputDisconnects() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(input(broker))
        _ = try await running.connected()
        running.task.cancel()
        try await Bounded.wait(for: "end of the input") { await running.task.value }
        let deadline = ContinuousClock.now + Bounded.longest
        while !broker.log.contains("Received DISCONNECT from indoorloc"), ContinuousClock.now < deadline {
            // Each connection proves that the broker has gone on.
            try await GatewayPublisher(port: broker.port).close()
        }
        XCTAssertTrue(broker.log.contains("Received DISCONNECT from indoorloc"), broker.log)
    }
}

/// The queue of messages and the topic filters.
final class GatewayInputTests: XCTestCase {
    private func message(_ payload: [UInt8]) -> GatewayMessage {
        GatewayMessage(topic: "", payload: payload, arrival: .zero)
    }

    func testMessagesThatDoNotFitAreCounted() {
        let queue = MessageQueue(capacity: 260)
        for payload: [UInt8] in [[1, 1], [2, 2, 2], [3]] { queue.append(message(payload)) }
        let first = queue.drain()
        XCTAssertEqual(first.messages.map(\.payload), [[1, 1], [3]])
        XCTAssertEqual(first.lost, 1)
        queue.append(message([4, 4, 4, 4]))
        let second = queue.drain()
        XCTAssertEqual(second.messages.map(\.payload), [[4, 4, 4, 4]])
        XCTAssertEqual(second.lost, 0)
    }

    func testAnOfferedMessageThatDoesNotFitIsRefusedAndNotLost() {
        let queue = MessageQueue(capacity: 130)
        XCTAssertTrue(queue.offer(message([1, 1])))
        XCTAssertFalse(queue.offer(message([2])))
        XCTAssertEqual(queue.drain().lost, 0)
        XCTAssertTrue(queue.offer(message([2])))
    }

    func testAFilterMayNameItsFormat() throws {
        XCTAssertEqual(try GatewayFilter(text: "minew/office=minewLong"), GatewayFilter("minew/office", .minewLong))
        XCTAssertEqual(try GatewayFilter(text: "home/+/#"), GatewayFilter("home/+/#"))
    }

    func testAnInvalidFilterIsReportedWithItsRemedy() {
        for (text, reason) in [
            ("", "1 to 65,535 bytes"), ("a/b#", "must be whole levels"), ("#/a", "must be the last level"),
            ("a/+b", "must be whole levels"), ("a=wifi", "give one of espresense, "), ("a=", "format '' is unknown"),
        ] {
            XCTAssertThrowsError(try GatewayFilter(text: text), text) { error in
                XCTAssertTrue("\(error)".contains(reason), "\(text): \(error)")
            }
        }
    }
}

/// The folder with the state of a fleet.
final class StateFolderTests: XCTestCase {
    func testEachStartHasAGreaterEpochAndTheLatestSnapshots() throws {
        let path = try stateFolder() + "/new/folder"
        do {
            let folder = try StateFolder(path)
            XCTAssertEqual(
                try folder.begin(partitionCount: 2, at: .zero), StateFolder.Start(epoch: 1, snapshots: [nil, nil]))
            try folder.write([1, 2], partition: 1)
            try folder.write([3], partition: 1)
        }
        let start = try StateFolder(path).begin(partitionCount: 8, at: .zero)
        XCTAssertEqual(start, StateFolder.Start(epoch: 2, snapshots: [nil, [3]]), "the folder keeps its partitions")
    }

    func testTheEpochIsAtLeastTheTime() throws {
        let folder = try StateFolder(try stateFolder())
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: Instant(seconds: 1_800_000_000.9)).epoch, 1_800_000_000)
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: Instant(seconds: 5)).epoch, 1_800_000_001)
    }

    func testTheFilesAreReadableByTheirOwnerOnly() throws {
        let path = try stateFolder()
        let folder = try StateFolder(path)
        _ = try folder.begin(partitionCount: 1, at: .zero)
        try folder.write([1], partition: 0)
        try folder.write(receivers: [2])
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        XCTAssertEqual(names, ["fleet.json", "receivers.state", "tags-0.state"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600, name)
        }
    }

    func testTwoProcessesCannotShareAFolder() throws {
        let path = try stateFolder()
        let folder = try StateFolder(path)
        XCTAssertThrowsError(try StateFolder(path)) { error in
            XCTAssertEqual(error as? StateFolderError, .inUse(folder: path))
            XCTAssertTrue("\(error)".contains("give each its own folder"), "\(error)")
        }
        withExtendedLifetime(folder) {}
    }

    func testADamagedEpochIsNotReplacedByOne() throws {
        let path = try stateFolder()
        for text in [
            "", "{}", #"{"format":"indoor-localization-fleet","version":2,"epoch":"1","partitions":1}"#,
            #"{"format":"indoor-localization-fleet","version":1,"epoch":1,"partitions":1}"#,
            #"{"format":"indoor-localization-fleet","version":1,"epoch":"1","partitions":0}"#,
        ] {
            try Data(text.utf8).write(to: URL(filePath: path + "/fleet.json"))
            XCTAssertThrowsError(try StateFolder(path).begin(partitionCount: 1, at: .zero), text) { error in
                guard case StateFolderError.damaged = error else { return XCTFail("\(text): \(error)") }
            }
            XCTAssertEqual(try Data(contentsOf: URL(filePath: path + "/fleet.json")), Data(text.utf8))
        }
    }

    func testALeftoverOfAKilledProcessIsReplaced() throws {
        let path = try stateFolder()
        let folder = try StateFolder(path)
        try Data([9]).write(to: URL(filePath: path + "/tags-0.state.new"))
        try folder.write([1], partition: 0)
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: .zero).snapshots, [[1]])
        XCTAssertEqual(try folder.setAside(partition: 0), path + "/tags-0.state.unusable")
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: .zero), StateFolder.Start(epoch: 2, snapshots: [nil]))
    }
}

/// The clock of a fleet.
final class FleetClockTests: XCTestCase {
    func testTheClockFollowsTheWallClockForward() {
        var clock = FleetClock()
        XCTAssertEqual(clock.now(wall: 1000, uptime: 0).nanoseconds, 1000)
        XCTAssertEqual(clock.now(wall: 1010, uptime: 10).nanoseconds, 1010)
        XCTAssertEqual(clock.now(wall: 9000, uptime: 20).nanoseconds, 9000)
    }

    func testTheClockRunsAtHalfSpeedWhileTheWallClockIsBehind() {
        var clock = FleetClock()
        XCTAssertEqual(clock.now(wall: 1000, uptime: 0).nanoseconds, 1000)
        XCTAssertEqual(clock.now(wall: 900, uptime: 0).nanoseconds, 1000)
        XCTAssertEqual(clock.now(wall: 1000, uptime: 100).nanoseconds, 1050)
        XCTAssertEqual(clock.now(wall: 1100, uptime: 200).nanoseconds, 1100)
        XCTAssertEqual(clock.now(wall: 1150, uptime: 250).nanoseconds, 1150, "both agree again")
    }

    func testTheClockCountsTheTimesByWhichItWasSet() {
        var clock = FleetClock()
        func now(wall: Double, uptime: Double) -> Double {
            clock.now(wall: Int64(wall * 1e9), uptime: Int64(uptime * 1e9)).seconds
        }
        _ = now(wall: 1_000, uptime: 0)
        // A pause, such as a suspended machine, and small adjustments.
        _ = now(wall: 4_600, uptime: 3_600)
        _ = now(wall: 4_604, uptime: 3_600)
        XCTAssertEqual(clock.steps, .zero)
        XCTAssertEqual(now(wall: 11_804, uptime: 3_610), 11_804)
        XCTAssertEqual(clock.steps, .seconds(7_190))
        XCTAssertEqual(now(wall: 11_784, uptime: 3_620), 11_809)
        XCTAssertEqual(clock.lead, .seconds(25))
        // Forward again, to before the time of the fleet, and beyond it.
        XCTAssertEqual(now(wall: 11_804, uptime: 3_620), 11_809)
        XCTAssertEqual(clock.steps, .seconds(7_190))
        XCTAssertEqual(now(wall: 11_829, uptime: 3_620), 11_829)
        XCTAssertEqual(clock.steps, .seconds(7_210))
        XCTAssertEqual(clock.lead, .zero)
    }
}

extension XCTestCase {
    /// A folder that is removed after the test.
    func stateFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        return folder
    }

    /// A broker that runs until the test ends.
    func gatewayBroker() throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try stateFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}

/// A gateway that publishes messages in order over one connection.
struct GatewayPublisher: Sendable {
    private let link: MQTTLink
    private let events: AsyncStream<MQTTLinkEvent>

    /// Connects, and waits until the broker accepts.
    init(port: UInt16) async throws {
        let name = "gateway" + String(UInt64.random(in: .min ... .max), radix: 36)
        (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: name, will: nil, keepAliveSeconds: 60)
        try await wait(for: "acceptance") { $0 == .accepted }
    }

    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
        link.ask(
            .publish(MQTTMessage(topic: topic, payload: payload, quality: .atMostOnce, isRetained: isRetained)))
    }

    func publish(_ topic: String, _ text: String, isRetained: Bool = false) {
        publish(topic, Array(text.utf8), isRetained: isRetained)
    }

    /// Publishes a message and waits until the broker has it, and with it all earlier ones.
    func deliver(_ topic: String, _ text: String, isRetained: Bool = false) async throws {
        link.ask(.deliver(MQTTMessage(topic: topic, payload: Array(text.utf8), isRetained: isRetained)))
        try await wait(for: "confirmation") { $0 == .confirmed }
    }

    func close() { link.ask(.close) }

    private func wait(
        for awaited: String, _ isAwaited: @escaping @Sendable (MQTTLinkEvent) -> Bool
    ) async throws {
        let events = events
        try await Bounded.wait(for: awaited) {
            for await event in events where isAwaited(event) { return }
            throw Bounded.Expired(awaited: "\(awaited): the link ended")
        }
    }
}
