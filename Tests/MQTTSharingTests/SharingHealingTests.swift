import IndoorLocalization
import MQTTSharing
import XCTest

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
