import IndoorLocalization
import MQTTSharing
import XCTest

/// The decisions of the sharing machine, in virtual time.
final class SharingMachineTests: XCTestCase {
    private let lost = MQTTSharingError.connectionLost(host: "broker", reason: "the broker is gone")

    func testTheDeviceIsConnectedWhenItReceivesItsOwnPresence() throws {
        var stage = try MachineStage()
        XCTAssertEqual(stage.handle(.connect(1)).count, 1, "opens the link")
        let entering = stage.acceptLink()
        XCTAssertEqual(entering.published.map(\.topic), ["indoorloc/v1/devices/cart/presence"])
        XCTAssertEqual(entering.published.map(\.isRetained), [true])
        XCTAssertFalse(stage.machine.isUp)
        XCTAssertEqual(stage.echo([]), [.emit(.connected), .answer(1, nil)])
        XCTAssertTrue(stage.machine.isUp)
        XCTAssertEqual(stage.handle(.connect(5)), [.answer(5, nil)], "the device is already connected")
    }

    func testAPresenceOfAnEarlierSessionIsIgnored() throws {
        var stage = try MachineStage()
        stage.handle(.connect(1))
        stage.acceptLink()
        XCTAssertEqual(stage.echo([], session: "earlier"), [])
        XCTAssertFalse(stage.machine.isUp)
    }

    func testAFailedFirstConnectionIsNotRetried() throws {
        var stage = try MachineStage()
        stage.handle(.connect(1))
        XCTAssertEqual(stage.handle(.link(.ended(lost))), [.answer(1, lost)])
        XCTAssertNil(stage.machine.nextWake)
    }

    func testEachStepOfConnectingHasATimeLimit() throws {
        for steps in 0..<3 {
            var stage = try MachineStage()
            stage.handle(.connect(1))
            if steps == 1 { stage.handle(.link(.accepted)) }
            if steps == 2 { stage.acceptLink() }
            var directives = try stage.wake()
            // While it waits for its presence, the device asks the broker for it.
            while case .subscribe? = directives.first { directives = try stage.wake() }
            XCTAssertEqual(stage.now.instant, Instant(seconds: 1010), "step \(steps)")
            XCTAssertEqual(directives.first, .abandon, "step \(steps)")
            guard case .answer(1, .some) = directives.last else { return XCTFail("step \(steps): \(directives)") }
        }
    }

    func testALostConnectionIsRestoredWithGrowingPausesAndTheRoomsAreRejoined() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.join("hall")
        stage.advance(1)
        XCTAssertEqual(stage.handle(.link(.ended(lost))).events, [.disconnected(reason: lost.description)])
        var pauses: [Double] = []
        for attempt in 0..<9 {
            let before = stage.now.instant
            let directives = try stage.wake()
            pauses.append(before.duration(to: stage.now.instant).seconds)
            guard case .open = directives.first else { return XCTFail("\(directives)") }
            let events = stage.handle(.link(.ended(lost))).events
            XCTAssertEqual(events, [], "attempt \(attempt): the same error is not reported again")
        }
        for (index, pause) in pauses.enumerated() {
            let longest = min(60, Double(1 << index))
            XCTAssertTrue((longest / 2...longest).contains(pause), "\(pauses)")
        }
        _ = try stage.wake()
        XCTAssertEqual(try presence(stage.acceptLink()).rooms, ["hall"])
        XCTAssertEqual(
            stage.echo(["hall"]).events,
            [.connected, .joined(room: "hall"), .occupancy(room: "hall", devices: 1)])
    }

    private func presence(_ directives: [SharingMachine.Directive]) throws -> SharingPayload.Presence {
        let message = try XCTUnwrap(directives.published.first { $0.topic.hasSuffix("/presence") })
        return try SharingPayload.presence(message.payload, of: try DeviceID("cart"))
    }

    func testDisconnectingRemovesThePresenceFirst() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.join("hall")
        let directives = stage.handle(.disconnect)
        XCTAssertEqual(directives.prefix(2), [.publish(stage.machine.will), .close])
        XCTAssertEqual(directives.events, [.left(room: "hall"), .disconnected(reason: "left on request")])
        XCTAssertEqual(stage.machine.will.payload, [])
        XCTAssertTrue(stage.machine.will.isRetained)
        XCTAssertEqual(stage.handle(.disconnect), [])
    }

    func testTheNewestPositionWithinTheIntervalIsPublished() throws {
        var stage = try MachineStage { $0.interval = .seconds(2) }
        stage.connect()
        stage.join("hall")
        XCTAssertEqual(try stage.handle(.share(.at(x: 1), level: nil)).places(), [1])
        for x in [2.0, 3, 4] {
            stage.advance(0.5)
            XCTAssertEqual(try stage.handle(.share(.at(x: x), level: nil)).places(), [])
        }
        XCTAssertEqual(try stage.wake().places(), [4])
        XCTAssertEqual(stage.now.instant, Instant(seconds: 1002))
        XCTAssertEqual(stage.machine.nextWake, Instant(seconds: 1300), "only to publish the presence again")
    }

    func testALatePositionKeepsItsOriginalTime() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.join("hall")
        stage.handle(.share(.at(x: 1), level: 4))
        stage.advance(100)
        let directives = try stage.presence(of: "fork", ["hall"])
        let message = try XCTUnwrap(directives.positions.first, "a device that enters receives the latest position")
        let position = try SharingPayload.position(message.payload, of: try DeviceID("cart"), in: "hall")
        XCTAssertEqual(position.sentAt, 1_800_000_000)
        XCTAssertEqual(position.level, 4)
        XCTAssertFalse(message.isRetained)
    }

    func testOnlyOnePositionInAMinuteIsConfirmedSoThatTheBrokerCanRefuseIt() throws {
        var stage = try MachineStage { $0.interval = .zero }
        stage.connect()
        stage.join("hall")
        var qualities: [MQTTMessage.Quality] = []
        for x in 1...5 {
            qualities += stage.handle(.share(.at(x: Double(x)), level: nil)).positions.map(\.quality)
            stage.advance(25)
        }
        XCTAssertEqual(qualities, [.atLeastOnce, .atMostOnce, .atMostOnce, .atLeastOnce, .atMostOnce])
    }

    func testOnlyEarlierDevicesCountTowardsTheCapacity() throws {
        var stage = try MachineStage { $0.roomCapacity = 2 }
        stage.connect()
        try stage.presence(of: "one", ["cell"])
        stage.ask("cell")
        XCTAssertTrue(stage.echo(["cell"]).contains(.answer(2, nil)))
        try stage.presence(of: "three", ["cell"])
        stage.echo(["cell"])
        XCTAssertTrue(stage.machine.isIn("cell"))
    }

    func testTheDeviceLeavesARoomThatFilledUpInTheMeantime() throws {
        var stage = try MachineStage { $0.roomCapacity = 1 }
        stage.connect()
        stage.ask("cell")
        try stage.presence(of: "one", ["cell"])
        let directives = stage.echo(["cell"])
        XCTAssertEqual(directives.events, [.roomFull(room: "cell", capacity: 1)])
        XCTAssertTrue(directives.contains(.answer(2, .roomFull("cell", capacity: 1))))
        XCTAssertEqual(try presence(directives).rooms, [], "the other devices are informed")
    }

    /// The device reports the exceeded capacity.
    func testTheDeviceLeavesAFullServer() throws {
        var stage = try MachineStage { $0.serverCapacity = 1 }
        stage.handle(.connect(1))
        stage.acceptLink()
        try stage.presence(of: "one", [])
        let directives = stage.echo([])
        XCTAssertEqual(directives.events, [.serverFull])
        XCTAssertTrue(directives.contains(.publish(stage.machine.will)))
        XCTAssertTrue(directives.contains(.close))
        XCTAssertTrue(directives.contains(.answer(1, .serverFull(capacity: 1))))
        XCTAssertNil(stage.machine.nextWake, "the machine doesn't retry")
    }

    func testOccupancyIsReportedAtMostTwiceASecondAndOnlyIfItChanged() throws {
        var stage = try MachineStage()
        stage.handle(.track("hall"))
        stage.connect()
        stage.advance(1)
        XCTAssertEqual(try stage.presence(of: "a", ["hall"]).events, [.occupancy(room: "hall", devices: 1)])
        stage.advance(0.1)
        XCTAssertEqual(try stage.presence(of: "b", ["hall"]).events, [])
        XCTAssertEqual(try stage.presence(of: "c", ["hall", "yard"]).events, [])
        XCTAssertEqual(try stage.wake().events, [.occupancy(room: "hall", devices: 3)])
        XCTAssertEqual(stage.now.instant, Instant(seconds: 1001.5))
        stage.advance(1)
        XCTAssertEqual(try stage.presence(of: "b", ["hall", "yard"]).events, [], "as many as before")
        XCTAssertEqual(try stage.presence(of: "b", nil).events, [.occupancy(room: "hall", devices: 2)])
    }

    func testARefreshRequiresAConnectionAndHalfASecondSinceTheLastOne() throws {
        var stage = try MachineStage()
        XCTAssertNil(stage.refresh())
        stage.handle(.track("hall"))
        stage.connect()
        XCTAssertEqual(stage.refresh()?.events, [.occupancy(room: "hall", devices: 0)])
        stage.advance(0.499)
        XCTAssertNil(stage.refresh())
        stage.advance(0.001)
        XCTAssertEqual(stage.refresh()?.events, [.occupancy(room: "hall", devices: 0)])
        stage.handle(.link(.ended(lost)))
        stage.advance(0.6)
        XCTAssertNil(stage.refresh())
    }

    func testAPresenceRemovedByAnEarlierWillIsPublishedAgain() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.join("hall")
        XCTAssertEqual(stage.receive(.presence(try DeviceID("cart")), []), [])
        XCTAssertEqual(try presence(stage.wake()).rooms, ["hall"])
        XCTAssertTrue((1000.5...1001).contains(stage.now.instant.seconds), "\(stage.now)")
    }

    func testMalformedMessagesAreCountedAndReportedOnceASecond() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.join("hall")
        let topic = SharingTopic.position(room: "hall", try DeviceID("fork"))
        XCTAssertEqual(stage.receive(topic, Array("{".utf8)).events.count, 1)
        for _ in 0..<100 { XCTAssertEqual(stage.receive(topic, Array("[]".utf8)), []) }
        XCTAssertEqual(stage.machine.malformedCount, 101)
        stage.advance(1)
        XCTAssertEqual(stage.receive(topic, Array("[]".utf8)).events.count, 1)
    }

    func testTheMachineHandlesAnyEventAtAnyTime() throws {
        let seed = UInt64(0x5EED)
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            var stage = try MachineStage { settings in
                settings.homeAssistantPrefix = "homeassistant"
                settings.roomCapacity = 2
            }
            var wakes = 0
            for _ in 0..<60 {
                let topics = ["devices/a/presence", "devices/cart/presence", "limits", "rooms/hall/devices/a/position"]
                let payloads = [
                    "", "{}", #"{"device":"a","session":"s","rooms":["hall"],"sentAt":0}"#, #"{"roomCapacity":1}"#,
                ]
                let message = MQTTMessage(
                    topic: "indoorloc/v1/" + (topics.randomElement(using: &random) ?? ""),
                    payload: Array((payloads.randomElement(using: &random) ?? "").utf8))
                let filters = [
                    "indoorloc/v1/devices/+/presence", "indoorloc/v1/limits", "homeassistant/status",
                    "indoorloc/v1/rooms/hall/devices/+/+",
                ]
                let filter = filters.randomElement(using: &random) ?? ""
                let events: [SharingMachine.Event] = [
                    .connect(1), .disconnect, .join("hall", 2), .leave("hall"), .track("hall"), .untrack("hall"),
                    .share(.at(x: 1), level: nil), .withdrawFromHomeAssistant, .link(.accepted), .tick, .tick,
                    .link(.subscribed(filter: filter, isGranted: Bool.random(using: &random))),
                    .link(.subscribed(filter: filter, isGranted: true)), .link(.received(message)),
                    .link(.received(message)), .link(.ended(lost)),
                ]
                stage.handle(events.randomElement(using: &random) ?? .tick)
                if Bool.random(using: &random) { stage.echo(["hall"]) }
                stage.advance(random.uniform() * 3)
            }
            // After any events, the machine becomes idle or waits for an instant in the future.
            while let next = stage.machine.nextWake, next <= stage.now.instant, wakes < 10 {
                stage.handle(.tick)
                wakes += 1
            }
            XCTAssertLessThan(wakes, 10, "seed \(seed), round \(round): the machine doesn't become idle")
        }
    }

    func testTheConfigurationIsPublishedAgainAfterHomeAssistantStarts() throws {
        var stage = try MachineStage {
            $0.homeAssistantPrefix = "homeassistant"
            $0.interval = .zero
        }
        stage.handle(.connect(1))
        stage.acceptLink()
        let configured = stage.echo([]).published
        XCTAssertEqual(configured.count, 2)
        let location = stage.handle(.share(.at(x: 1), level: nil)).published
        XCTAssertEqual(location.map(\.topic), ["indoorloc/v1/devices/cart/location"])
        let birth = MQTTMessage(topic: "homeassistant/status", payload: Array("online".utf8))
        XCTAssertEqual(stage.handle(.link(.received(birth))).published, configured + location)
        let end = MQTTMessage(topic: "homeassistant/status", payload: Array("offline".utf8))
        XCTAssertEqual(stage.handle(.link(.received(end))), [])
        let removed = stage.handle(.withdrawFromHomeAssistant).published
        XCTAssertEqual(removed.map(\.topic), configured.map(\.topic) + location.map(\.topic))
        XCTAssertTrue(removed.allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }
}
