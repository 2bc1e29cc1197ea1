import Foundation
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

    func testADeniedPresenceEndsTheConnectionAttemptAtOnceAndAnotherRefusalDoesNot() throws {
        let topic = "indoorloc/v1/devices/cart/presence"
        var stage = try MachineStage()
        stage.handle(.connect(1))
        stage.acceptLink()
        let overQuota = MQTTLinkEvent.refused(topic: topic, reason: .quotaExceeded, isAwaited: false)
        XCTAssertEqual(stage.handle(.link(overQuota)), [])
        let denied = MQTTLinkEvent.refused(topic: topic, reason: .notAuthorized, isAwaited: false)
        XCTAssertEqual(stage.handle(.link(denied)), [.abandon, .answer(1, .forbidden(topic: topic))])
        XCTAssertFalse(stage.machine.isKept)
        XCTAssertEqual(stage.machine.refusedCount, 2)
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

    /// A broker that refuses the positions can say so only of a message that it has to confirm.
    func testTheConfirmationOfAPositionIsRequestedOnceAMinute() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.join("hall")
        try stage.presence(of: "fork", ["hall"])
        var qualities: [MQTTMessage.Quality] = []
        for turn in 0..<13 {
            let positions = try stage.handle(.share(.at(x: Double(turn)), level: nil)).positions
            qualities += positions.map(\.quality)
            stage.advance(10)
        }
        let checked = qualities.indices.filter { qualities[$0] == .atLeastOnce }
        XCTAssertEqual(qualities.count, 13)
        XCTAssertEqual(checked, [0, 6, 12])
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

/// The recovery of the sharing machine from what other clients publish, in virtual time.
final class SharingHealingTests: XCTestCase {
    private let lost = MQTTSharingError.connectionLost(host: "broker", reason: "the broker is gone")

    private func inHall(_ change: (inout MQTTSharingSettings) -> Void = { _ in }) throws -> MachineStage {
        var stage = try MachineStage("cart", change)
        stage.connect()
        stage.join("hall")
        return stage
    }

    private func presences(_ directives: [SharingMachine.Directive]) throws -> [SharingPayload.Presence] {
        try directives.published.filter { $0.topic.hasSuffix("cart/presence") && !$0.payload.isEmpty }.map {
            try SharingPayload.presence($0.payload, of: try DeviceID("cart"))
        }
    }

    func testAReplacedPresenceIsPublishedAgainWithGrowingPausesAndReportedOnce() throws {
        var stage = try inHall()
        var pauses: [Double] = []
        var errors: [String] = []
        for _ in 0..<12 {
            let before = stage.now.instant
            for case .failed(let error) in stage.echo([], session: "other").events { errors.append(error.message) }
            XCTAssertTrue(stage.machine.isUp)
            let restated = try presences(stage.wake())
            XCTAssertEqual(restated.map(\.rooms), [["hall"]])
            pauses.append(before.duration(to: stage.now.instant).seconds)
            stage.echo(["hall"])
        }
        for (index, pause) in pauses.enumerated() {
            let longest = min(60, Double(1 << index))
            XCTAssertTrue((longest / 2...longest).contains(pause), "\(pauses)")
        }
        XCTAssertEqual(errors, [MQTTSharingError.deviceTaken(try DeviceID("cart")).description])
        // After a calm time, the pauses are short again.
        stage.advance(200)
        stage.handle(.tick)
        stage.echo(["hall"])
        let before = stage.now.instant
        stage.echo([], session: "other")
        _ = try stage.wake()
        XCTAssertLessThanOrEqual(before.duration(to: stage.now.instant).seconds, 1)
    }

    func testAFloodOfForgedPresencesCausesOneAnswer() throws {
        var stage = try inHall()
        for _ in 0..<1000 { XCTAssertEqual(stage.echo([], session: "other"), []) }
        XCTAssertEqual(try presences(stage.wake()).count, 1)
    }

    func testACopiedSessionWithOtherRoomsIsReplaced() throws {
        var stage = try inHall()
        // The presence of this session before it joined the room, which another client repeats.
        XCTAssertEqual(stage.echo([]), [])
        XCTAssertEqual(try presences(stage.wake()).map(\.rooms), [["hall"]])
        XCTAssertEqual(stage.receive(.presence(try DeviceID("cart")), Array("{".utf8)), [])
        XCTAssertEqual(try presences(stage.wake()).map(\.rooms), [["hall"]])
    }

    func testAPresenceReplacedBeforeTheDeviceIsConnectedIsPublishedAgain() throws {
        var stage = try MachineStage()
        stage.handle(.connect(1))
        stage.acceptLink()
        stage.echo([], session: "other")
        XCTAssertFalse(stage.machine.isUp)
        XCTAssertEqual(try presences(stage.wake()).count, 1)
        XCTAssertEqual(stage.echo([]), [.emit(.connected), .answer(1, nil)])
    }

    func testThePresenceIsPublishedAgainEveryFiveMinutes() throws {
        var stage = try inHall()
        for minute in [5.0, 10, 15] {
            XCTAssertEqual(try presences(stage.wake()).map(\.rooms), [["hall"]])
            XCTAssertEqual(stage.now.instant, Instant(seconds: 1000 + minute * 60))
            stage.echo(["hall"])
        }
    }

    func testTheDeviceAsksForAPresenceThatTheBrokerDropped() throws {
        var stage = try inHall()
        stage.ask("yard")
        XCTAssertEqual(try stage.wake(), [.subscribe("indoorloc/v1/devices/cart/presence", .atLeastOnce)])
        XCTAssertEqual(stage.now.instant, Instant(seconds: 1002))
        XCTAssertTrue(stage.echo(["hall", "yard"]).contains(.answer(2, nil)))
        XCTAssertEqual(stage.machine.nextWake, Instant(seconds: 1300))
    }

    func testAFullServerIsTriedAgainAfterALostConnection() throws {
        var stage = try inHall()
        stage.handle(.link(.ended(lost)))
        let limits = SharingPayload.bytes(SharingPayload.Limits(serverCapacity: 1))
        var events: [SharingEvent] = []
        for _ in 0..<4 {
            _ = try stage.wake()
            stage.acceptLink()
            stage.receive(.limits, limits, isRetained: true)
            try stage.presence(of: "junk", [])
            let directives = stage.echo(["hall"])
            XCTAssertTrue(directives.contains(.close))
            events += directives.events
        }
        let error = MQTTSharingError.serverFull(capacity: 1)
        XCTAssertEqual(events.filter { $0 == .serverFull }.count, 1)
        XCTAssertTrue(stage.machine.isKept)
        // The limits are gone.
        _ = try stage.wake()
        stage.acceptLink()
        XCTAssertEqual(
            stage.echo(["hall"]).events.prefix(2), [.connected, .joined(room: "hall")], "after \(error)")
    }

    func testARoomThatWasFullAfterALostConnectionIsJoinedLater() throws {
        var stage = try inHall()
        stage.handle(.link(.ended(lost)))
        _ = try stage.wake()
        stage.acceptLink()
        stage.receive(.limits, SharingPayload.bytes(SharingPayload.Limits(rooms: ["hall": 1])), isRetained: true)
        try stage.presence(of: "junk", ["hall"])
        let directives = stage.echo(["hall"])
        XCTAssertEqual(directives.events, [.connected, .roomFull(room: "hall", capacity: 1)])
        stage.echo([])
        for full in [true, false] {
            XCTAssertEqual(
                try stage.wake(), [.subscribe("indoorloc/v1/rooms/hall/devices/+/+", .atLeastOnce)])
            if !full { stage.receive(.limits, []) }
            stage.handle(
                .link(.subscribed(filter: "indoorloc/v1/rooms/hall/devices/+/+", isGranted: true)))
            let events = stage.echo(["hall"]).events
            XCTAssertEqual(events.contains(.joined(room: "hall")), !full)
            XCTAssertFalse(events.contains(.roomFull(room: "hall", capacity: 1)), "reported once")
            if full { stage.echo([]) }
        }
        XCTAssertTrue(stage.machine.isIn("hall"))
    }

    func testInvalidLimitsLeaveTheEarlierOnes() throws {
        var stage = try MachineStage()
        stage.connect()
        stage.receive(.limits, Array(#"{"roomCapacity":1}"#.utf8))
        for text in [#"{"roomCapacity":0}"#, #"{"serverCapacity":0}"#, #"{"rooms":{"cell":0}}"#, "[]"] {
            stage.receive(.limits, Array(text.utf8))
        }
        XCTAssertEqual(stage.machine.malformedCount, 4)
        try stage.presence(of: "one", ["cell"])
        XCTAssertTrue(stage.handle(.join("cell", 3)).contains(.answer(3, .roomFull("cell", capacity: 1))))
    }

    func testTheSettingsCanIgnoreTheBrokersLimits() throws {
        var stage = try MachineStage { $0.obeysBrokerLimits = false }
        stage.connect()
        stage.receive(.limits, Array(#"{"roomCapacity":1}"#.utf8))
        try stage.presence(of: "one", ["cell"])
        stage.join("cell")
        XCTAssertTrue(stage.machine.isIn("cell"))
    }
}

/// A machine with a simulated broker, in virtual time.
struct MachineStage {
    private(set) var machine: SharingMachine
    private(set) var now = SharingMachine.Moment(instant: Instant(seconds: 1000), date: 1_800_000_000)
    private var session = ""
    private let topics = SharingTopics(prefix: "indoorloc/v1")
    private let name: DeviceID

    init(_ name: String = "cart", _ change: (inout MQTTSharingSettings) -> Void = { _ in }) throws {
        var settings = MQTTSharingSettings()
        change(&settings)
        self.name = try DeviceID(name)
        machine = SharingMachine(
            MQTTBroker(host: "broker"), device: self.name, name: nil, settings: settings, seed: 1)
    }

    @discardableResult mutating func handle(_ event: SharingMachine.Event) -> [SharingMachine.Directive] {
        let directives = machine.handle(event, at: now)
        for case .open(let session) in directives { self.session = session }
        return directives
    }

    mutating func advance(_ seconds: Double) {
        now.instant = now.instant.advanced(by: .nanoseconds(Int64(seconds * 1e9)))
        now.date += seconds
    }

    /// Sets the device's date back; the monotonic time isn't affected.
    mutating func setClock(back seconds: Double) { now.date -= seconds }

    /// Advances the clock to the next wake-up of the machine, and sends it a tick.
    mutating func wake() throws -> [SharingMachine.Directive] {
        let next = try XCTUnwrap(machine.nextWake, "the machine needs no tick")
        advance(max(0, now.instant.duration(to: next).seconds))
        now.instant = max(now.instant, next)
        return handle(.tick)
    }

    mutating func refresh() -> [SharingMachine.Directive]? { machine.refresh(at: now) }

    /// Delivers a message from the broker.
    @discardableResult mutating func receive(
        _ topic: SharingTopic, _ payload: [UInt8], isRetained: Bool = false
    ) -> [SharingMachine.Directive] {
        handle(.link(.received(MQTTMessage(topic: topics.name(topic), payload: payload, isRetained: isRetained))))
    }

    /// Delivers another device's presence.
    @discardableResult mutating func presence(of other: String, _ rooms: [String]?) throws -> [SharingMachine.Directive]
    {
        let bytes = rooms.map { rooms in
            SharingPayload.bytes(
                SharingPayload.Presence(device: other, name: nil, session: "of " + other, rooms: rooms, sentAt: 0))
        }
        return receive(.presence(try DeviceID(other)), bytes ?? [])
    }

    /// Delivers this device's own presence.
    @discardableResult mutating func echo(_ rooms: [String], session: String? = nil) -> [SharingMachine.Directive] {
        receive(
            .presence(name),
            SharingPayload.bytes(
                SharingPayload.Presence(
                    device: name.rawValue, name: nil, session: session ?? self.session, rooms: rooms, sentAt: 0)))
    }

    /// Accepts the link and grants the subscriptions.
    @discardableResult mutating func acceptLink() -> [SharingMachine.Directive] {
        var last: [SharingMachine.Directive] = []
        for case .subscribe(let filter, _) in handle(.link(.accepted)) {
            last = handle(.link(.subscribed(filter: filter, isGranted: true)))
        }
        return last
    }

    mutating func connect() {
        handle(.connect(1))
        acceptLink()
        echo([])
    }

    mutating func join(_ room: String) {
        ask(room)
        echo([room])
    }

    /// Joins a room, up to the published presence.
    mutating func ask(_ room: String) {
        handle(.join(room, 2))
        handle(.link(.subscribed(filter: topics.filter(ofRoom: room), isGranted: true)))
    }
}

extension [SharingMachine.Directive] {
    var events: [SharingEvent] { compactMap { if case .emit(let event) = $0 { event } else { nil } } }
    var published: [MQTTMessage] { compactMap { if case .publish(let message) = $0 { message } else { nil } } }
    var positions: [MQTTMessage] { published.filter { $0.topic.hasSuffix("/position") } }

    /// Returns the x of each published position.
    func places() throws -> [Double] {
        try positions.map { message in
            let object = try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
            return try XCTUnwrap(object?["x"] as? Double)
        }
    }
}
