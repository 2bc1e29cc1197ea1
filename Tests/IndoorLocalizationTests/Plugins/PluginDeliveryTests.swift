import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Tests of deliveries to plugins, through a host with a real session.
final class PluginDeliveryTests: XCTestCase {
    private let stage = LocalizerStage()

    private func host(sharing: ScriptedSharing? = nil, capacity: Int? = 256) -> PluginHost {
        PluginHost(localizer: stage.localizer, sharing: sharing, queueCapacity: capacity)
    }

    private func position(of device: String) throws -> SharedPosition {
        SharedPosition(
            device: try DeviceID(device), room: "hall", venueID: 1, mapID: 10, x: 1, y: 2, radius: 3, sentAt: 4)
    }

    func testEachStreamReachesItsSubscribers() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        let streams: [PluginStreams] = [.positions, .networkPositions, .networkData, .pluginData, .errors]
        let plugins = streams.map { ProbePlugin($0) } + [ProbePlugin(.all), ProbePlugin(.nothing)]
        for plugin in plugins { await host.add(plugin) }
        let failure = LocalizationError(code: .generic, message: "no route to host")
        await stage.localizer.start()
        try await stage.source.waitUntilScanning()
        stage.source.fail(failure)
        try await plugins[5].wait(for: "error generic")
        sharing.happen(.position(try position(of: "cart")))
        sharing.happen(.occupancy(room: "hall", devices: 2))
        await host.broadcast("tag")
        let calls = [
            "network position cart", "network data \(SharingEvent.occupancy(room: "hall", devices: 2))", "data tag 1",
        ]
        for call in calls { try await plugins[5].wait(for: call) }
        for (index, call) in calls.enumerated() { try await plugins[index + 1].wait(for: call) }
        try await plugins[4].wait(for: "error generic")
        XCTAssertEqual(plugins[6].calls.value, ["initialize"])
        for (index, plugin) in plugins[1...4].enumerated() {
            XCTAssertEqual(plugin.calls.value.count, 2, "\(streams[index + 1]): \(plugin.calls.value)")
        }
    }

    func testPositionsOfTheSessionArriveInOrder() async throws {
        let (host, plugin) = (host(), ProbePlugin(.positions))
        await host.add(plugin)
        let positions = stage.localizer.positions
        try await stage.run()
        let told = try await Bounded.elements(of: positions, until: "the last one") { $0.instant.seconds >= 5005 }
        try await plugin.wait(for: "position \(try XCTUnwrap(told.last).instant.seconds)")
        XCTAssertEqual(
            Array(plugin.calls.value.dropFirst().prefix(told.count)), told.map { "position \($0.instant.seconds)" })
    }

    func testAPluginThatThrowsDoesNotAffectDeliveriesToOthers() async throws {
        let host = host()
        let failures = host.failures
        let (broken, sound) = (ProbePlugin(.pluginData), ProbePlugin(.pluginData))
        broken.change { $0.receiveError = .init() }
        await host.add(broken)
        await host.add(sound)
        for number in 1...3 { await host.broadcast("\(number)") }
        try await sound.wait(for: "data 3 1")
        try await broken.wait(for: "data 3 1")
        XCTAssertEqual(broken.calls.value, sound.calls.value, "it is told all the same")
        let told = try await Bounded.first(3, of: failures)
        XCTAssertEqual(Set(told.map(\.occasion)), [.receiving(.pluginData)])
        XCTAssertEqual(told.first?.description, "ProbePlugin (plugin 1) failed on plugin data: broken")
    }

    func testASlowPluginLosesTheOldestAndTheOthersLoseNothing() async throws {
        let host = host(capacity: 4)
        let (slow, quick) = (ProbePlugin(.pluginData), ProbePlugin(.pluginData))
        slow.change { $0.isHeld = true }
        await host.add(slow)
        await host.add(quick)
        for number in 0..<20 {
            await host.broadcast("\(number)")
            try await quick.wait(for: "data \(number) 1")
            if number == 0 { try await slow.wait(for: "data 0 1") }
        }
        let lost = await host.droppedElements(of: slow)
        XCTAssertEqual(lost, 15, "one was being received, four waited")
        let none = await host.droppedElements(of: quick)
        XCTAssertEqual(none, 0)
        slow.release()
        try await slow.wait(for: "data 19 1")
        XCTAssertEqual(
            slow.calls.value.dropFirst(), ["data 0 1", "data 16 1", "data 17 1", "data 18 1", "data 19 1"])
    }

    func testAPluginThatFloodsDisplacesNoPositionsOfOthers() async throws {
        let host = host()
        let (flooder, slow) = (ProbePlugin(), ProbePlugin([.positions, .pluginData, .errors]))
        slow.change { $0.isHeld = true }
        await host.add(slow)
        await host.add(flooder)
        let positions = stage.localizer.positions
        await host.broadcast("first", from: flooder)
        try await slow.wait(for: "data first 1")
        try await stage.run()
        let told = try await Bounded.elements(of: positions, until: "the last one") { $0.instant.seconds >= 5005 }
        for number in 0..<2000 { await host.broadcast("\(number)", from: flooder) }
        slow.release()
        try await slow.wait(for: "data 1999 1")
        try await slow.wait(for: "position \(try XCTUnwrap(told.last).instant.seconds)")
        XCTAssertEqual(
            slow.calls.value.filter { $0.hasPrefix("position") }.prefix(told.count),
            told.map { "position \($0.instant.seconds)" }[...])
        let dropped = await host.droppedElements(of: slow)
        XCTAssertEqual(dropped, 2000 - 256)
    }

    func testASlowPluginCanBeStopped() async throws {
        let (host, slow) = (host(), ProbePlugin(.pluginData))
        slow.change { $0.isHeld = true }
        await host.add(slow)
        await host.broadcast("1")
        await host.broadcast("2")
        try await slow.wait(for: "data 1 1")
        let isGone = await host.stop(slow)
        XCTAssertTrue(isGone)
        slow.release()
        // When another plugin has received it, the slow one would have received it, too.
        let witness = ProbePlugin(.pluginData)
        await host.add(witness)
        await host.broadcast("3")
        try await witness.wait(for: "data 3 1")
        XCTAssertEqual(slow.calls.value, ["initialize", "data 1 1", "stop"])
    }

    func testNothingIsReceivedBeforeInitializeHasReturned() async throws {
        let (host, plugin) = (host(), ProbePlugin(.init(streams: .pluginData, isHeldAtEnds: true)))
        let adding = Task { await host.add(plugin) }
        try await plugin.wait(for: "initialize")
        // It subscribes after the call was noted.
        try await Bounded.wait(for: "the subscription") {
            while await host.streams(of: plugin) != .pluginData { try await pause() }
        }
        await host.broadcast("early")
        XCTAssertEqual(plugin.calls.value, ["initialize"])
        plugin.release()
        _ = await adding.value
        try await plugin.wait(for: "data early 1")
    }

    func testUnsubscribingEndsAStreamAndSubscribingAddsOne() async throws {
        let (host, plugin) = (host(), ProbePlugin(.pluginData))
        await host.add(plugin)
        await host.subscribe(plugin, to: .errors)
        var streams = await host.streams(of: plugin)
        XCTAssertEqual(streams, [.pluginData, .errors])
        await host.unsubscribe(plugin, from: .pluginData)
        streams = await host.streams(of: plugin)
        XCTAssertEqual(streams, .errors)
        await host.broadcast("unheard")
        await host.subscribe(plugin, to: .pluginData)
        await host.broadcast("heard")
        try await plugin.wait(for: "data heard 1")
        XCTAssertEqual(plugin.count("data unheard 1"), 0)
    }

    func testABroadcastReachesAllSubscribersWithItsTagAndTheSenderToo() async throws {
        let host = host()
        let plugins = (0..<3).map { _ in ProbePlugin(.pluginData) }
        for plugin in plugins { await host.add(plugin) }
        await host.broadcast("maps", operation: 7, [1, 2], from: plugins[1])
        for plugin in plugins {
            try await plugin.wait(for: "data maps 7")
            let data = try XCTUnwrap(plugin.data.value.first)
            XCTAssertEqual(data.sender, PluginID(rawValue: 2))
            XCTAssertEqual(data.value(as: [Int].self), [1, 2])
            XCTAssertNil(data.value(as: String.self))
        }
        await host.broadcast("app")
        try await plugins[0].wait(for: "data app 1")
        XCTAssertNil(try XCTUnwrap(plugins[0].data.value.last).sender)
    }

    func testAnErrorThatAPluginReportsIsEmittedAsAFailure() async throws {
        let (host, plugin) = (host(), ProbePlugin())
        let failures = host.failures
        await host.add(plugin)
        await host.report(ProbePlugin.Broken(), by: plugin)
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(failure?.description, "ProbePlugin (plugin 1): broken")
    }

    func testAStoppedHostAcceptsPluginsAgain() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        await host.add(ProbePlugin(.all))
        let isStopped = await host.stopAll()
        XCTAssertTrue(isStopped)
        let plugin = ProbePlugin(.networkPositions)
        await host.add(plugin)
        sharing.happen(.position(try position(of: "cart")))
        try await plugin.wait(for: "network position cart")
        XCTAssertEqual(plugin.count("network position cart"), 1, "and is fed once")
        try await host.startServices()
        XCTAssertEqual(sharing.calls.value, ["disconnect", "connect"])
    }

    func testAReleasedHostReleasesItsPlugins() async throws {
        weak var gone: ProbePlugin?
        var host: PluginHost? = host()
        let failures = try XCTUnwrap(host).failures
        do {
            let plugin = ProbePlugin(.all)
            gone = plugin
            await host?.add(plugin)
        }
        XCTAssertNotNil(gone)
        host = nil
        let rest = try await Bounded.all(failures)
        XCTAssertEqual(rest, [])
        // The task that initialized it may be about to end.
        for _ in 0..<100_000 where gone != nil { await Task.yield() }
        XCTAssertNil(gone)
    }
}
