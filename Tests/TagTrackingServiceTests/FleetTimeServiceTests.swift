import BeaconScanning
import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import TagTracking
import VenueModel
import XCTest
@testable import TagTrackingService

/// A fleet whose clock is set, and whose broker is unreachable for a while.
final class FleetTimeServiceTests: XCTestCase {
    private static let start = Instant(seconds: 1_700_000_000)
    private static let cart = TagKey.address(DeviceAddress(rawValue: 0xC300_0012_AB01))

    private var setup: FleetEngine.Setup {
        var settings = FleetSettings()
        settings.classes["standard"] = .light
        return FleetEngine.Setup(
            model: FleetModel(venue: FleetEngineTests.venue, settings: settings), seed: 3, partitionCount: 2)
    }

    private static func at(_ seconds: Double) -> Instant { start.advanced(by: .seconds(seconds)) }

    /// What the gateways send about the cart within a second.
    private static func messages(at seconds: Double) -> [GatewayMessage] {
        (0..<6).map { receiver in
            GatewayMessage(
                topic: "home/gateway-\(receiver)/BTtoMQTT/C3000012AB01",
                payload: Array(#"{"id":"C3:00:00:12:AB:01","rssi":\#(-60 - 3 * receiver - Int(seconds) % 3)}"#.utf8),
                arrival: at(seconds))
        }
    }

    /// Lets gateways send for some seconds, and returns the outputs.
    private func outputs(of engine: FleetEngine, during seconds: Range<Int>) async -> [FleetOutput] {
        var outputs: [FleetOutput] = []
        for second in seconds {
            let messages = Self.messages(at: Double(second))
            outputs += await engine.step(messages, to: Self.at(Double(second) + 0.5)).outputs
        }
        return outputs
    }

    // MARK: Restarts

    func testTagsAreLocatedAfterAStartBehindTheTimeOfTheState() async throws {
        let (path, ahead) = (try stateFolder(), 3 * 86_400)
        do {
            let folder = try StateFolder(path)
            let engine = try FleetEngine.start(setup, in: folder, at: Self.at(Double(ahead))).engine
            let early = await outputs(of: engine, during: ahead..<ahead + 10)
            try await engine.store(in: folder)
            var latest = LatestOutputs()
            for output in early { latest.add(output) }
            try folder.write(places: latest.tags.values.flatMap(\.outputs))
        }
        let started = try FleetEngine.start(setup, in: try StateFolder(path), at: Self.start)
        XCTAssertEqual(started.restoredTags, 1)
        XCTAssertEqual(
            started.problems,
            [
                "the clock is 259209 s behind the time of the state: the tags continue at the present time; check the clock of "
                    + "this machine"
            ])
        XCTAssertFalse(started.places.isEmpty)
        XCTAssertTrue(started.places.allSatisfy { $0.instant <= Self.start }, "\(started.places.map(\.instant))")
        var outputs = await outputs(of: started.engine, during: 1..<10)
        XCTAssertGreaterThan(outputs.count { if case .position = $0.content { true } else { false } }, 5)
        XCTAssertFalse(
            outputs.contains { $0.content == .present || $0.content == .away }, "it was present all the time")
        let statistics = await started.engine.statistics
        XCTAssertEqual(statistics.expiredReadings, 0)
        outputs = await started.engine.step([], to: Self.at(71)).outputs
        XCTAssertEqual(outputs.last?.content, .away)
        XCTAssertEqual(outputs.last?.instant, Self.at(69))
    }

    func testAStartAfterTheTimeOfTheStateHasNoProblem() async throws {
        let path = try stateFolder()
        do {
            let folder = try StateFolder(path)
            let engine = try FleetEngine.start(setup, in: folder, at: Self.start).engine
            _ = await outputs(of: engine, during: 0..<5)
            try await engine.store(in: folder)
        }
        XCTAssertEqual(try FleetEngine.start(setup, in: try StateFolder(path), at: Self.at(5)).problems, [])
    }

    func testATagInATrainedRoomIsAwayAfterItsTimeoutDespiteAStateOfTheFuture() async throws {
        let path = try stateFolder()
        var setup = setup
        setup.rooms = RoomTrainingSet()
        let room = TagRoom(instant: Self.at(1_000_000), label: "Attic", rooms: [], none: 0)
        try StateFolder(path).write(places: [
            FleetOutput(tag: Self.cart, epoch: 1, sequence: 1, instant: room.instant, content: .room(room))
        ])
        let started = try FleetEngine.start(setup, in: try StateFolder(path), at: Self.start)
        XCTAssertTrue(
            started.problems.first?.hasPrefix("the clock is 1000000 s behind") ?? false, "\(started.problems)")
        let early = await started.engine.step([], to: Self.at(59)).outputs
        XCTAssertEqual(early, [])
        let late = await started.engine.step([], to: Self.at(61)).outputs
        XCTAssertEqual(late.last?.content, .away)
    }

    // MARK: The clock is set forward

    func testAClockThatIsSetForwardRaisesNoAlertAndNoOutput() async throws {
        let step = 7_200.0
        let now = Guarded(Self.start)
        let steps = Guarded(Duration.zero)
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        let register = TagRegister([.init(key: Self.cart, name: "Cart")])
        let rules = try AlertRules(
            json: Array(
                #"""
                [{"name": "Silent", "when": "silent", "silence": 900, "tags": "*"},
                 {"name": "Left", "when": "leaves", "map": "Hall", "tags": "*"}]
                """#.utf8), venue: FleetEngineTests.venue, register: register)
        let destination = AlertedSink()
        let alerts = try await AlertService(
            .init(rules: rules, register: register, epoch: 1), to: [destination], hearings: engine, isListening: true,
            now: { now.withLock { $0 } }, steps: { steps.withLock { $0 } }, report: { _ in })
        var contents: [FleetOutput.Content] = []
        func advance(_ seconds: Double, _ messages: [GatewayMessage]) async {
            now.withLock { $0 = Self.at(seconds + 0.5) }
            let outputs = await engine.step(messages, to: Self.at(seconds + 0.5)).outputs
            contents += outputs.map(\.content)
            await alerts.write(outputs)
            await alerts.tick()
            await alerts.pass()
        }
        // The tag is heard every five seconds.
        for second in 0..<23 { await advance(Double(second), second % 5 == 0 ? Self.messages(at: Double(second)) : []) }
        steps.withLock { $0 = .seconds(step) }
        await engine.move(by: .seconds(step))
        for second in 23..<60 {
            let time = Double(second) + step
            await advance(time, second % 5 == 0 ? Self.messages(at: time) : [])
        }
        XCTAssertEqual(destination.events.value.map(\.rule), [])
        XCTAssertEqual(contents.count { $0 == .present }, 1)
        XCTAssertFalse(contents.contains(.away))
        // From the last reading at 55 s on, the times count as always.
        for second in [60.0, 113, 116, 124, 128, 954, 956] { await advance(second + step, []) }
        XCTAssertEqual(destination.events.value.map(\.rule), ["Left", "Silent"])
        XCTAssertEqual(destination.events.value.map(\.instant), [128.5, 956.5].map { Self.at($0 + step) })
    }

    func testTheServiceReportsASetClockOnceAndMovesTheTags() async throws {
        let clock = Guarded((FleetClock(), wall: Self.start.nanoseconds, uptime: Int64(0)))
        let reports = WatchedState<[String]>([])
        // Each reading of the time belongs to a step.
        let readings = WatchedState(0)
        let queue = MessageQueue()
        let sink = AlertedSink()
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        let service = FleetService(
            input: nil, queue: queue, engine: engine, state: nil, sinks: [sink],
            now: {
                let now = clock.withLock { $0.0.now(wall: $0.wall, uptime: $0.uptime) }
                readings.update { $0 += 1 }
                return now
            }, clock: { clock.withLock { $0.0 } }
        ) { report in
            switch report {
            case .clockSetForward(let step): reports.update { $0.append("forward \(Int(step.seconds))") }
            case .clockSetBack(let lead): reports.update { $0.append("back \(Int(lead.seconds))") }
            case .listening(let isListening): reports.update { $0.append("listening \(isListening)") }
            default: break
            }
        }
        let running = Task { await service.run() }
        for message in Self.messages(at: 0) { queue.append(message) }
        clock.withLock { ($0.wall, $0.uptime) = (Self.at(2).nanoseconds, 2_000_000_000) }
        try await Bounded.wait(for: "a position") { try await sink.outputs.wait { $0.count > 1 } }
        clock.withLock { $0.wall += 7_200_000_000_000 }
        try await Bounded.wait(for: "the step") { try await reports.wait { $0.contains("forward 7200") } }
        let before = sink.outputs.value.count
        for message in Self.messages(at: 7_203) { queue.append(message) }
        clock.withLock { ($0.wall, $0.uptime) = ($0.wall + 3_000_000_000, $0.uptime + 3_000_000_000) }
        // A step that began before has read the earlier time. The next one reads this time, and ends before the third.
        let steps = readings.value
        try await Bounded.wait(for: "steps") { try await readings.wait { $0 > steps + 2 } }
        XCTAssertGreaterThan(sink.outputs.value.count, before)
        clock.withLock { $0.wall -= 60_000_000_000 }
        try await Bounded.wait(for: "the return") { try await reports.wait { $0.contains("back 60") } }
        running.cancel()
        await running.value
        XCTAssertEqual(reports.value, ["listening true", "forward 7200", "back 60"])
        XCTAssertFalse(sink.outputs.value.contains { $0.content == .away })
    }

    // MARK: The broker is unreachable

    func testNoTagIsAwayWhileTheBrokerIsUnreachable() async throws {
        let broker = try gatewayBroker()
        let time = Guarded(Self.start)
        // Each reading of the time belongs to a step or a message.
        let readings = WatchedState(0)
        let listening = WatchedState<[Bool]>([])
        let (queue, sink) = (MessageQueue(), AlertedSink())
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        let input = FleetInput(
            MQTTBroker(host: "127.0.0.1", port: broker.port), filters: ["home/+/BTtoMQTT/+"],
            firstPause: .milliseconds(10)
        ) { _ in time.withLock { $0 } }
        let service = FleetService(
            input: input, queue: queue, engine: engine, state: nil, sinks: [sink],
            now: {
                readings.update { $0 += 1 }
                return time.withLock { $0 }
            }
        ) { report in
            if case .listening(let isListening) = report { listening.update { $0.append(isListening) } }
        }
        /// Sets the time, and waits for two steps that begin after it.
        func advance(to seconds: Double) async throws {
            time.withLock { $0 = Self.at(seconds) }
            let before = readings.value
            try await Bounded.wait(for: "steps") { try await readings.wait { $0 > before + 2 } }
        }
        let running = Task { await service.run() }
        try await Bounded.wait(for: "the connection") { try await listening.wait { $0.last == true } }
        let gateway = try await GatewayPublisher(port: broker.port)
        let messages = Self.messages(at: 0)
        for message in messages { gateway.publish(message.topic, message.payload) }
        // If the time went on before they arrive, it could be after the times below.
        try await Bounded.poll(for: "the messages") { queue.count == messages.count }
        while sink.outputs.value.isEmpty {
            try await advance(to: Self.start.duration(to: time.withLock { $0 }).seconds + 0.5)
        }
        broker.kill()
        try await Bounded.wait(for: "the loss") { try await listening.wait { $0.last == false } }
        try await advance(to: 50)
        try await advance(to: 600)
        XCTAssertFalse(sink.outputs.value.contains { $0.content == .away })
        try broker.restart()
        try await Bounded.wait(for: "the connection") { try await listening.wait { $0.last == true } }
        try await advance(to: 655)
        XCTAssertFalse(sink.outputs.value.contains { $0.content == .away })
        try await advance(to: 665)
        try await Bounded.wait(for: "the absence") {
            try await sink.outputs.wait { $0.last?.content == .away }
        }
        running.cancel()
        await running.value
    }

    func testMessagesOverHTTPCountIfNoneComesFromTheBroker() {
        let queue = MessageQueue()
        XCTAssertFalse(queue.hasOnlyOffers)
        XCTAssertTrue(queue.offer(Self.messages(at: 0)[0]))
        _ = queue.drain()
        XCTAssertTrue(queue.hasOnlyOffers)
        queue.append(Self.messages(at: 0)[1])
        _ = queue.drain()
        XCTAssertFalse(queue.hasOnlyOffers)
    }

    // MARK: Invalid messages over HTTP

    func testAnInvalidMessageOverHTTPIsCountedForEachSender() async throws {
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        let error = GatewayError(format: .minewLong, offset: 3, message: "no gateway")
        for sender in ["192.0.2.1", "192.0.2.1", "192.0.2.2", nil] {
            let message = GatewayMessage(topic: "http/minewLong", payload: [1], arrival: Self.start)
            await engine.refuse(message, from: sender, error)
        }
        let problems = await engine.problems
        XCTAssertEqual(problems.map(\.sender), ["192.0.2.1", "192.0.2.2", nil])
        XCTAssertEqual(problems.map(\.count), [2, 1, 1])
        XCTAssertEqual(Set(problems.map(\.topic)), ["http/minewLong"])
        let statistics = await engine.intakeStatistics
        XCTAssertEqual(statistics.invalid, ["minewLong": 4])
        XCTAssertEqual(statistics.messages, 4)
    }
}

/// A sink that keeps outputs and alerts.
private struct AlertedSink: FleetOutputSink {
    let outputs = WatchedState<[FleetOutput]>([])
    let events = WatchedState<[AlertEvent]>([])

    func write(_ outputs: [FleetOutput]) async { self.outputs.update { $0 += outputs } }

    func write(_ alerts: [AlertEvent]) async { events.update { $0 += alerts } }
}
