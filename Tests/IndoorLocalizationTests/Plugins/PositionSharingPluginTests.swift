import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The clock of each host stands still, so that a plugin can take its time on a busy machine.
final class PositionSharingPluginTests: XCTestCase {
    private let stage = LocalizerStage()
    private let sharing = ScriptedSharing()

    private func plugin(
        rooms: [String] = ["hall"], interval: Duration = .seconds(1)
    ) async throws -> (host: PluginHost, plugin: PositionSharingPlugin) {
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: rooms, interval: interval))
        let plugin = try XCTUnwrap(kept)
        try await host.startServices()
        try await wait(for: rooms, plugin)
        return (host, plugin)
    }

    /// Returns once the plugin is in these rooms.
    private func wait(for rooms: [String], _ plugin: PositionSharingPlugin) async throws {
        try await Bounded.wait(for: "\(rooms)") {
            while await plugin.rooms != rooms { try await pause() }
        }
    }

    private func position(of device: String, in room: String = "hall", x: Double = 1) throws -> SharedPosition {
        SharedPosition(
            device: try DeviceID(device), room: room, venueID: 1, mapID: 10, x: x, y: 2, radius: 3, sentAt: 4)
    }

    /// Emits a sharing event, and returns once the plugin has handled it.
    private func happen(_ event: SharingEvent, _ plugin: PositionSharingPlugin, mark: Int = 1) async throws {
        sharing.happen(event)
        sharing.happen(.occupancy(room: "mark", devices: mark))
        try await Bounded.wait(for: "\(event)") {
            while await plugin.occupancies["mark"] != mark { try await pause() }
        }
    }

    func testThePluginJoinsItsRoomsOnlyAfterTheServicesHaveConnected() async throws {
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall", "yard"]))
        let plugin = try XCTUnwrap(kept)
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        XCTAssertEqual(sharing.calls.value, [])
        try await host.startServices()
        try await wait(for: ["hall", "yard"], plugin)
        XCTAssertEqual(sharing.calls.value, ["connect", "join hall", "join yard"])
        try await plugin.join("hall")
        XCTAssertEqual(sharing.calls.value.count, 3, "it is there already")
    }

    func testThePluginIsNotKeptWithoutASharingService() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall"]))
        XCTAssertNil(kept)
    }

    func testAFailedJoinIsReportedAndTriedAgainWithTheNextConnection() async throws {
        sharing.failing.update { $0 = ["join hall"] }
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
        let failures = host.failures
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall", "yard"]))
        let plugin = try XCTUnwrap(kept)
        try await host.startServices()
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(failure?.occasion, .receiving(.networkData))
        XCTAssertEqual(failure?.cause, "out of reach")
        try await wait(for: ["yard"], plugin)
        sharing.failing.update { $0 = [] }
        sharing.happen(.disconnected(reason: "gone"))
        sharing.happen(.connected)
        try await wait(for: ["yard", "hall"], plugin)
        XCTAssertEqual(sharing.calls.value, ["connect", "join hall", "join yard", "join hall"])
    }

    func testThePluginWaitsForAMissingBroker() async throws {
        sharing.failing.update { $0 = ["connect"] }
        let clock = ManualClock()
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, timeLimit: nil, clock: clock)
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall"]))
        let plugin = try XCTUnwrap(kept)
        do {
            try await host.startServices()
            XCTFail("it is out of reach")
        } catch {}
        try await plugin.join("yard")
        XCTAssertEqual(sharing.calls.value, ["connect"], "there is nobody to ask yet")
        sharing.failing.update { $0 = [] }
        clock.advance(to: try await Bounded.wait(for: "a pause") { try await clock.waitForSleeper() })
        try await wait(for: ["hall", "yard"], plugin)
        XCTAssertEqual(sharing.calls.value, ["connect", "connect", "join hall", "join yard"])
    }

    /// A room and a network rate that a plugin requests count once they are applied.
    func testThePluginUsesTheRoomAndTheIntervalOfTheSettings() async throws {
        let (host, plugin) = try await plugin(rooms: ["hall"], interval: .zero)
        try await host.request("sharing.room", "yard")
        try await host.request("sharing.interval", 3600)
        XCTAssertEqual(sharing.calls.value, ["connect", "join hall"], "nothing before it is applied")
        await host.applySettings()
        try await stage.run()
        try await wait(for: ["hall", "yard"], plugin)
        try await Bounded.wait(for: "a position") { [sharing] in
            try await sharing.calls.wait { calls in calls.contains { $0.hasPrefix("share ") } }
        }
        try await host.override("sharing.room", "loft")
        await host.applySettings()
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning + 6, for: 2) { stage.source.send(reading) }
        try await wait(for: ["hall", "loft"], plugin)
        XCTAssertTrue(sharing.calls.value.contains("leave yard"))
        XCTAssertEqual(sharing.calls.value.filter { $0.hasPrefix("share ") }.count, 1, "one an hour")
    }

    func testARoomThatIsLeftWhileThePluginJoinsItsRoomsIsNotJoined() async throws {
        sharing.isHeldAtJoin.update { $0 = true }
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall", "yard", "loft"]))
        let plugin = try XCTUnwrap(kept)
        try await host.startServices()
        try await sharing.wait(for: 1, "join hall")
        try await plugin.leave("hall")
        try await plugin.leave("yard")
        sharing.isHeldAtJoin.update { $0 = false }
        try await wait(for: ["loft"], plugin)
        XCTAssertEqual(sharing.calls.value, ["connect", "join hall", "leave hall", "join loft"])
    }

    func testAnInvalidRoomNameIsReportedAtOnce() async throws {
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
        let failures = host.failures
        let kept = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall", "a/b"]))
        XCTAssertNil(kept)
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(failure?.occasion, .initializing)
        XCTAssertEqual(failure?.cause, SharingNameError(of: "a/b")?.description)
    }

    func testThePluginJoinsItsRoomsAgainAfterADisconnection() async throws {
        let (host, plugin) = try await plugin(rooms: ["hall", "yard"])
        for event in [SharingEvent.left(room: "hall"), .left(room: "yard"), .disconnected(reason: "left on request")] {
            sharing.happen(event)
        }
        try await wait(for: [], plugin)
        sharing.happen(.connected)
        try await wait(for: ["hall", "yard"], plugin)
        await host.stopAll()
    }

    func testPositionsAreSharedOnceASecond() async throws {
        let (host, _) = try await plugin()
        try await stage.run()
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning + 5.6, for: 5) { stage.source.send(reading) }
        try await Bounded.wait(for: "three positions") { [sharing] in
            try await sharing.calls.wait { $0.filter { $0.hasPrefix("share") }.count >= 3 }
        }
        XCTAssertTrue(sharing.levels.value.allSatisfy { $0 == 0 }, "\(sharing.levels.value)")
        // The session emits one every half second.
        let told = sharing.calls.value.compactMap { $0.hasPrefix("share ") ? Double($0.dropFirst(6)) : nil }
        for (earlier, later) in zip(told, told.dropFirst()) { XCTAssertGreaterThanOrEqual(later - earlier, 1) }
        await host.stopAll()
    }

    func testEveryPositionIsSharedWithoutAnInterval() async throws {
        let (_, plugin) = try await plugin(interval: .zero)
        for tick in 0..<5 {
            try await plugin.receive(
                position: Position(
                    instant: Instant(seconds: Double(tick) / 10), venueID: 1, mapID: 10, point: MapPoint(x: 1, y: 1),
                    radius: 1))
        }
        XCTAssertEqual(sharing.calls.value.filter { $0.hasPrefix("share") }.count, 5)
        XCTAssertEqual(sharing.levels.value, [nil, nil, nil, nil, nil], "no venue is known")
    }

    /// Such as after `requestLocation()`, which ends the session as soon as there is a position.
    func testAPositionKeepsItsLevelAfterTheEndOfTheSession() async throws {
        sharing.isHeldAtJoin.update { $0 = true }
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
        await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["hall"]))
        let witness = ProbePlugin(.positions)
        await host.add(witness)
        try await host.startServices()
        // Until then, the plugin receives no position.
        try await sharing.wait(for: 1, "join hall")
        try await stage.run()
        try await Bounded.wait(for: "a position") {
            try await witness.calls.wait { calls in calls.contains { $0.hasPrefix("position ") } }
        }
        await stage.localizer.stop()
        sharing.isHeldAtJoin.update { $0 = false }
        try await Bounded.wait(for: "a shared position") { [sharing] in
            try await sharing.levels.wait { !$0.isEmpty }
        }
        XCTAssertTrue(sharing.levels.value.allSatisfy { $0 == 0 }, "\(sharing.levels.value)")
    }

    func testNothingIsSharedWithoutARoom() async throws {
        let (_, plugin) = try await plugin(rooms: [])
        try await plugin.receive(
            position: Position(instant: .zero, venueID: 1, mapID: 10, point: MapPoint(x: 1, y: 1), radius: 1))
        XCTAssertEqual(sharing.calls.value, ["connect"])
    }

    func testThePluginStoresTheLatestPositionOfEachOtherDevice() async throws {
        let (host, plugin) = try await plugin(rooms: ["hall", "yard"])
        let witness = ProbePlugin(.networkPositions)
        await host.add(witness)
        for position in try [
            position(of: "cart"), position(of: "crane", in: "yard"), position(of: "cart", x: 9),
        ] { sharing.happen(.position(position)) }
        try await happen(.occupancy(room: "hall", devices: 3), plugin)
        try await witness.wait(for: "network position crane")
        let devices = await plugin.devices
        XCTAssertEqual(devices.mapValues(\.x), [try DeviceID("cart"): 9, try DeviceID("crane"): 1])
        let occupancies = await plugin.occupancies
        XCTAssertEqual(occupancies["hall"], 3)
        try await plugin.leave("hall")
        let left = await plugin.devices
        XCTAssertEqual(left.mapValues(\.room), [try DeviceID("crane"): "yard"])
        XCTAssertEqual(sharing.calls.value.last, "leave hall")
        await host.stopAll()
    }

    func testThePluginLeavesAFullRoomAndAFullServer() async throws {
        let (host, plugin) = try await plugin(rooms: ["hall", "yard"])
        try await happen(.roomFull(room: "hall", capacity: 2), plugin)
        let rooms = await plugin.rooms
        XCTAssertEqual(rooms, ["yard"])
        try await happen(.serverFull, plugin, mark: 2)
        XCTAssertEqual(sharing.calls.value.last, "disconnect")
        await host.stopAll()
    }

    func testATextIsSentToAllRooms() async throws {
        let (_, plugin) = try await plugin(rooms: ["hall", "yard"])
        try await plugin.send("hello", tag: "greeting")
        XCTAssertEqual(sharing.calls.value.suffix(2), ["send hello greeting hall", "send hello greeting yard"])
    }

    func testThePluginLeavesItsRoomsWhenItStops() async throws {
        let (host, plugin) = try await plugin(rooms: ["hall", "yard"])
        let isGone = await host.stop(plugin)
        XCTAssertTrue(isGone)
        XCTAssertEqual(sharing.calls.value.suffix(2), ["leave hall", "leave yard"])
    }
}
