import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// Devices that share through a real broker on loopback.
final class SharingOverABrokerTests: XCTestCase {
    func testTwoDevicesInARoomSeeEachOther() async throws {
        let broker = try broker()
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        let (fork, forkHears) = try await device("fork", in: "hall", broker)
        try await cart.share(.at(x: 1, coordinate: Coordinate(latitude: 48.5, longitude: -9.25), label: "Lab"))
        let position = try await forkHears.hearsPosition(of: "cart", x: 1)
        XCTAssertEqual(position.room, "hall")
        XCTAssertEqual(position.venueID, 7)
        XCTAssertEqual(position.mapID, 3)
        XCTAssertEqual(position.point, MapPoint(x: 1, y: 2.5))
        XCTAssertEqual(position.radius, 1.5)
        XCTAssertEqual(position.label, "Lab")
        XCTAssertEqual(position.coordinate, Coordinate(latitude: 48.5, longitude: -9.25))
        XCTAssertEqual(position.course, 90)
        XCTAssertLessThan(abs(position.sentAt - Date().timeIntervalSince1970), 120)
        try await fork.share(.at(x: 2))
        _ = try await cartHears.hearsPosition(of: "fork", x: 2)
    }

    func testALaterDeviceReceivesTheLatestPosition() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker)
        try await cart.share(.at(x: 5))
        let (_, forkHears) = try await device("fork", in: "hall", broker)
        _ = try await forkHears.hearsPosition(of: "cart", x: 5)
    }

    func testDevicesInDifferentRoomsDoNotSeeEachOther() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker)
        let (fork, forkHears) = try await device("fork", in: "yard", broker)
        try await cart.share(.at(x: 1))
        // The cart's position for the yard follows its position for the hall.
        try await cart.join("yard")
        try await cart.share(.at(x: 2))
        let first = try await forkHears.hears("any position") {
            if case .position(let position) = $0 { position } else { nil }
        }
        XCTAssertEqual(first.room, "yard")
        XCTAssertTrue([1, 2].contains(first.x))
        _ = fork
    }

    func testATextArrivesWithItsTag() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker)
        let (_, forkHears) = try await device("fork", in: "hall", broker)
        let text = "Gate 3 \"open\" – ✓\n\u{0}"
        try await cart.send(text, tag: "gate/+/#", to: "hall")
        let message = try await forkHears.hearsMessage()
        XCTAssertEqual(message.text, text)
        XCTAssertEqual(message.tag, "gate/+/#")
        XCTAssertEqual(message.device.rawValue, "cart")
        XCTAssertEqual(message.room, "hall")
    }

    func testTextsSentJustBeforeTheDeviceLeavesArrive() async throws {
        let broker = try broker()
        let (_, forkHears) = try await device("fork", in: "hall", broker)
        for round in 0..<5 {
            let (cart, _) = try await device("cart", in: "hall", broker) { $0.closingTime = Bounded.longest }
            let tags = (0..<40).map { "\(round) \($0)" }
            for tag in tags { try await cart.send(String(repeating: "x", count: 1000), tag: tag, to: "hall") }
            await cart.disconnect()
            for tag in tags {
                let message = try await forkHears.hearsMessage()
                XCTAssertEqual(message.tag, tag)
            }
        }
    }

    func testOccupancyIsReportedAsDevicesJoinAndLeave() async throws {
        let broker = try broker()
        let guardian = try device("guard", broker)
        let hears = EventListener(guardian)
        try await guardian.track("hall")
        try await guardian.connect()
        try await hears.hears(.occupancy(room: "hall", devices: 0))
        let (cart, _) = try await device("cart", in: "hall", broker)
        try await hears.hears(.occupancy(room: "hall", devices: 1))
        let (_, _) = try await device("fork", in: "hall", broker)
        try await hears.hears(.occupancy(room: "hall", devices: 2))
        try await cart.leave("hall")
        try await hears.hears(.occupancy(room: "hall", devices: 1))
        let count = await guardian.occupancy(of: "hall")
        XCTAssertEqual(count, 1)
    }

    func testARefreshWithinHalfASecondIsRefused() async throws {
        let broker = try broker()
        let (cart, hears) = try await device("cart", in: "hall", broker)
        try await hears.hears(.occupancy(room: "hall", devices: 1))
        func refreshTwice() async -> (results: [Bool], time: Duration) {
            let start = ContinuousClock.now
            let results = [await cart.refreshOccupancy(), await cart.refreshOccupancy()]
            return (results, start.duration(to: .now))
        }
        var refreshes = await refreshTwice()
        XCTAssertEqual(refreshes.results.first, true)
        // On a busy machine, the calls may be further apart. The first call of a repetition may be too early.
        let end = ContinuousClock.now + Bounded.longest
        while refreshes.time >= MQTTSharingSettings.refreshInterval || refreshes.results.first == false,
            ContinuousClock.now < end
        {
            refreshes = await refreshTwice()
        }
        XCTAssertEqual(refreshes.results, [true, false])
        try await hears.hears(.occupancy(room: "hall", devices: 1))
        await cart.disconnect()
        let afterwards = await cart.refreshOccupancy()
        XCTAssertFalse(afterwards, "without a connection")
    }

    func testADeviceBeyondTheCapacityIsRefused() async throws {
        let broker = try broker()
        let (_, _) = try await device("one", in: "cell", broker) { $0.roomCapacity = 2 }
        let (two, _) = try await device("two", in: "cell", broker) { $0.roomCapacity = 2 }
        let three = try device("three", broker) { $0.roomCapacity = 2 }
        let hears = EventListener(three)
        try await three.connect()
        await assertFails(with: .roomFull("cell", capacity: 2)) { try await three.join("cell") }
        try await hears.hears(.roomFull(room: "cell", capacity: 2))
        await assertFails(with: .notInRoom("cell")) { try await three.send("x", tag: "", to: "cell") }
        // After one device has left, the next may join.
        try await three.track("cell")
        try await two.leave("cell")
        try await hears.hears(.occupancy(room: "cell", devices: 1))
        try await three.join("cell")
    }

    func testSimultaneousDevicesDoNotExceedTheCapacity() async throws {
        let broker = try broker()
        var devices: [MQTTPositionSharing] = []
        for number in 0..<6 {
            let sharing = try device("device-\(number)", broker) { $0.roomCapacity = 3 }
            try await sharing.connect()
            devices.append(sharing)
        }
        let inside = await withTaskGroup(of: Bool.self) { group in
            for sharing in devices { group.addTask { (try? await sharing.join("cell")) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        // Of devices that join at the same time, all but the first may have to leave. The room never exceeds its
        // capacity.
        XCTAssertTrue((1...3).contains(inside), "\(inside) of 6 are in")
        let guardian = try device("guard", broker)
        try await guardian.connect()
        let hears = EventListener(guardian)
        try await guardian.track("cell")
        try await hears.hears(.occupancy(room: "cell", devices: inside))
    }

    func testTheLimitsOfTheBrokerApplyToAllDevices() async throws {
        let broker = try broker()
        let keeper = try await PlainClient(port: broker.port)
        keeper.publish(
            "indoorloc/v1/limits", #"{"roomCapacity":9,"rooms":{"cell":1},"serverCapacity":2}"#, isRetained: true)
        _ = try await keeper.message("indoorloc/v1/limits")
        let (_, _) = try await device("one", in: "cell", broker)
        let two = try device("two", broker)
        try await two.connect()
        await assertFails(with: .roomFull("cell", capacity: 1)) { try await two.join("cell") }
        let three = try device("three", broker)
        let hears = EventListener(three)
        await assertFails(with: .serverFull(capacity: 2)) { try await three.connect() }
        try await hears.hears(.serverFull)
        let isConnected = await three.isConnected
        XCTAssertFalse(isConnected)
    }

    func testDevicesRejoinARestartedBroker() async throws {
        let broker = try broker()
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        let (_, forkHears) = try await device("fork", in: "hall", broker)
        try await cart.share(.at(x: 1))
        _ = try await forkHears.hearsPosition(of: "cart", x: 1)
        broker.kill()
        _ = try await cartHears.hearsDisconnection()
        _ = try await forkHears.hearsDisconnection()
        // A position shared in the meantime waits; the newest replaces earlier ones.
        try await cart.share(.at(x: 2))
        try await cart.share(.at(x: 3))
        try broker.restart()
        for hears in [cartHears, forkHears] {
            try await hears.hears(.connected)
            try await hears.hears(.joined(room: "hall"))
        }
        _ = try await forkHears.hearsPosition(of: "cart", x: 3)
        // The restarted broker had no state: the devices published their presences again.
        let (guardian, hears) = try await device("guard", in: "hall", broker)
        try await hears.hears(.occupancy(room: "hall", devices: 3))
        await guardian.disconnect()
    }

    func testTwoDevicesWithTheSameIDStayConnectedAndAreCountedOnce() async throws {
        let broker = try broker()
        let (older, _) = try await device("cart", in: "hall", broker)
        let (newer, _) = try await device("cart", in: "hall", broker)
        let reader = try await PlainClient(port: broker.port, filter: "indoorloc/v1/devices/cart/presence")
        // Each publishes its presence again after that of the other.
        var sessions: Set<String> = []
        while sessions.count < 2 {
            let message = try await reader.message("indoorloc/v1/devices/cart/presence")
            sessions.insert(try SharingPayload.presence(message.payload, of: try DeviceID("cart")).session)
        }
        let states = [await older.isConnected, await newer.isConnected]
        XCTAssertEqual(states, [true, true])
        let (guardian, guardHears) = try await device("guard", in: "hall", broker)
        try await guardHears.hears(.occupancy(room: "hall", devices: 2))
        for (sharing, x) in [(older, 1.0), (newer, 2)] {
            try await sharing.share(.at(x: x))
            _ = try await guardHears.hearsPosition(of: "cart", x: x)
        }
        await guardian.disconnect()
        reader.close()
    }

    func testMalformedMessagesAreReportedAndIgnored() async throws {
        let broker = try broker()
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        let (fork, _) = try await device("fork", in: "hall", broker)
        let stranger = try await PlainClient(port: broker.port, filter: "none")
        let topic = "indoorloc/v1/rooms/hall/devices/stranger/position"
        stranger.publish(topic, "{\"device\":\"stranger\"")
        let failure = try await cartHears.hearsFailure()
        XCTAssertTrue(failure.message.contains(topic), failure.message)
        stranger.publish(topic, [UInt8](repeating: 0x5B, count: 100_000))
        stranger.publish("indoorloc/v1/rooms/hall/devices/stranger/other", "{}")
        stranger.publish(
            "indoorloc/v1/devices/stranger/presence", "{\"device\":\"cart\",\"session\":\"\",\"rooms\":[],\"sentAt\":0}"
        )
        stranger.publish("indoorloc/v1/limits", "{\"roomCapacity\":-1}")
        stranger.publish("indoorloc/v1/rooms/hall/devices/stranger/message", [0xFF, 0x00, 0xC0])
        // Valid messages still arrive after the malformed ones, which the stranger sends over the same connection.
        stranger.publish(
            "indoorloc/v1/rooms/hall/devices/stranger/message",
            #"{"device":"stranger","room":"hall","tag":"end","text":"","sentAt":0}"#)
        let last = try await cartHears.hearsMessage()
        XCTAssertEqual(last.tag, "end")
        let count = await cart.malformedMessageCount
        XCTAssertEqual(count, 5, "the broker doesn't send the large one")
        try await fork.share(.at(x: 4))
        _ = try await cartHears.hearsPosition(of: "fork", x: 4)
        stranger.close()
    }

    func testNamesWithWildcardsAreRefused() async throws {
        let (cart, _) = try await device("cart", in: "hall", try broker())
        for room in ["", "+", "#", "hall/#", "a/b", "\u{0}", "$SYS", String(repeating: "x", count: 65)] {
            do {
                try await cart.join(room)
                XCTFail("joined '\(room)'")
            } catch { XCTAssertEqual(error, .badRoom(try XCTUnwrap(SharingNameError(of: room))), room) }
        }
    }

    func testSendingRequiresAConnectionAndARoom() async throws {
        let cart = try device("cart", try broker())
        await assertFails(with: .notConnected) { try await cart.join("hall") }
        await assertFails(with: .notConnected) { try await cart.send("x", tag: "", to: "hall") }
        try await cart.connect()
        await assertFails(with: .notInRoom("hall")) { try await cart.send("x", tag: "", to: "hall") }
        try await cart.join("hall")
        let long = String(repeating: "x", count: 4097)
        await assertFails(with: .textTooLong(bytes: 4097, longest: 4096)) {
            try await cart.send(long, tag: "", to: "hall")
        }
        await assertFails(with: .tagTooLong(bytes: 257, longest: 256)) {
            try await cart.send("", tag: String(repeating: "x", count: 257), to: "hall")
        }
        await assertFails(with: .badPosition(.outOfRange(field: "x", value: .infinity))) {
            try await cart.share(.at(x: .infinity))
        }
    }

    func testACancelledTaskDoesNotConnect() async throws {
        let sharing = try MQTTPositionSharing(
            MQTTBroker(host: "127.0.0.1", port: try TestPort.free()), device: DeviceID("x"), settings: .patient)
        let connecting = Task {
            // Ends only by the cancellation.
            try? await WatchedState(false).wait { $0 }
            try await sharing.connectUnlessCancelled()
        }
        connecting.cancel()
        do {
            try await connecting.value
            XCTFail("it connected")
        } catch {
            // An attempt would find no broker on this port.
            XCTAssertEqual(error as? MQTTSharingError, .notConnected)
        }
    }
}

/// Removal of a device from a broker.
final class DeviceRemovalTests: XCTestCase {
    private func address(_ broker: MosquittoBroker) -> MQTTBroker {
        MQTTBroker(host: "127.0.0.1", port: broker.port)
    }

    /// Returns the topics with a retained message.
    private func retained(_ broker: MosquittoBroker) async throws -> Set<String> {
        let reader = try await PlainClient(port: broker.port)
        // Retained messages arrive before new ones.
        reader.publish("the/end", "")
        let topics = try await reader.topics(until: "the/end")
        reader.close()
        return topics.subtracting(["the/end"])
    }

    func testForgettingADeviceClearsAndReturnsItsRetainedTopics() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker) {
            $0.homeAssistantPrefix = "homeassistant"
            // What the device removes when it leaves must not be left to its last will.
            $0.closingTime = Bounded.longest
        }
        try await cart.share(.at(x: 1))
        await cart.disconnect()
        let topics = [
            "homeassistant/device_tracker/indoorloc_cart_position/config",
            "homeassistant/sensor/indoorloc_cart_room/config", "indoorloc/v1/devices/cart/location",
        ]
        let before = try await retained(broker)
        XCTAssertEqual(before, Set(topics))
        let removed = try await MQTTPositionSharing.forget(DeviceID("cart"), on: address(broker), settings: .patient)
        XCTAssertEqual(removed, topics)
        let after = try await retained(broker)
        XCTAssertEqual(after, [])
    }

    func testForgettingAnUnknownDeviceChangesNothing() async throws {
        let broker = try broker()
        for number in 0..<24 {
            let removed = try await MQTTPositionSharing.forget(
                DeviceID("ghost-\(number)"), on: address(broker), settings: .patient)
            XCTAssertEqual(removed, [])
        }
        let topics = try await retained(broker)
        XCTAssertEqual(topics, [])
    }

    func testForgettingWithoutABrokerThrows() async throws {
        let port = try TestPort.free()
        do {
            _ = try await MQTTPositionSharing.forget(
                DeviceID("x"), on: MQTTBroker(host: "127.0.0.1", port: port), settings: .patient)
            XCTFail("no broker listens on this port")
        } catch {
            guard case MQTTSharingError.unreachable = error else { return XCTFail("\(error)") }
        }
    }
}

/// A real broker that is killed and restarted again and again.
final class FlappingBrokerTests: XCTestCase {
    func testSharingComesBackEachTimeAndNothingArrivesTwice() async throws {
        let broker = try broker()
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        let (fork, forkHears) = try await device("fork", in: "hall", broker)
        let all = fork.events
        let rounds = 5
        for round in 1...rounds {
            try await cart.send("round \(round)", tag: "flap", to: "hall")
            let message = try await forkHears.hearsMessage()
            XCTAssertEqual(message.text, "round \(round)")
            broker.kill()
            _ = try await cartHears.hearsDisconnection()
            _ = try await forkHears.hearsDisconnection()
            // Only the newest of all positions waits.
            for number in 1...2000 { try await cart.share(.at(x: Double(round * 10_000 + number))) }
            try broker.restart()
            for hears in [cartHears, forkHears] {
                try await hears.hears(.connected)
                try await hears.hears(.joined(room: "hall"))
            }
            _ = try await forkHears.hearsPosition(of: "cart", x: Double(round * 10_000 + 2000))
        }
        try await cart.send("end", tag: "flap", to: "hall")
        let events = try await Bounded.elements(of: all, until: "the last text") {
            if case .message(let message) = $0 { message.text == "end" } else { false }
        }
        let texts = events.compactMap { if case .message(let message) = $0 { message.text } else { nil } }
        XCTAssertEqual(texts, (1...rounds).map { "round \($0)" } + ["end"], "each text once, in order")
        // A device that subscribes while the newest position arrives also gets the retained one, which is the same.
        let positions = events.compactMap { if case .position(let position) = $0 { position.x } else { nil } }
        let changes = positions.enumerated().filter { $0.offset == 0 || positions[$0.offset - 1] != $0.element }
        XCTAssertEqual(
            changes.map(\.element), (1...rounds).map { Double($0 * 10_000 + 2000) },
            "no position of an outage is queued")
    }
}
