import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The rules of a host, without its calls.
final class PluginRegistryTests: XCTestCase {
    private final class Thing {}

    private let things = (0..<3).map { _ in Thing() }

    private func object(_ index: Int) -> ObjectIdentifier { ObjectIdentifier(things[index]) }

    private func error(_ message: String = "") -> PluginDelivery {
        .error(LocalizationError(code: .generic, message: message))
    }

    /// A registry with a running plugin that has subscribed to errors.
    private func running(_ count: Int = 1, capacity: Int? = 3) throws -> (PluginRegistry, [PluginID]) {
        var registry = PluginRegistry(capacity: capacity)
        var ids: [PluginID] = []
        for index in 0..<count {
            let id = try XCTUnwrap(registry.admit(object(index)))
            registry.subscribe(id, to: .errors)
            XCTAssertEqual(registry.finishInitializing(id, .accepted), .kept)
            ids.append(id)
        }
        return (registry, ids)
    }

    private func messages(_ registry: inout PluginRegistry, _ id: PluginID) -> [String] {
        var messages: [String] = []
        while case .error(let error)? = registry.next(for: id) { messages.append(error.message) }
        return messages
    }

    /// The messages and tags that wait for a plugin.
    private func told(_ registry: inout PluginRegistry, _ id: PluginID) -> [String] {
        var told: [String] = []
        while let delivery = registry.next(for: id) {
            switch delivery {
            case .error(let error): told.append(error.message)
            case .pluginData(let data): told.append(data.tag)
            case .position, .motion, .networkPosition, .networkData: XCTFail("\(delivery)")
            }
        }
        return told
    }

    func testPluginsAreNumberedInTheOrderOfAdditionWithoutReuse() throws {
        var registry = PluginRegistry(capacity: 1)
        let first = try XCTUnwrap(registry.admit(object(0)))
        XCTAssertNil(registry.admit(object(0)), "it is there")
        registry.remove(first)
        let again = try XCTUnwrap(registry.admit(object(0)))
        let second = try XCTUnwrap(registry.admit(object(1)))
        XCTAssertEqual([first, again, second].map(\.rawValue), [1, 2, 3])
        XCTAssertEqual(registry.identities, [again, second])
    }

    func testEachResultOfInitializeHasItsOwnAdmission() throws {
        let ends: [(PluginRegistry.Outcome, PluginRegistry.Admission, PluginRegistry.Phase?)] = [
            (.accepted, .kept, .running), (.refused, .stopOnce, .refused), (.failed, .dropped, nil),
        ]
        for (outcome, admission, phase) in ends {
            var registry = PluginRegistry(capacity: 1)
            let id = try XCTUnwrap(registry.admit(object(0)))
            XCTAssertEqual(registry.phase(of: id), .initializing)
            XCTAssertEqual(registry.finishInitializing(id, outcome), admission, "\(outcome)")
            XCTAssertEqual(registry.phase(of: id), phase, "\(outcome)")
        }
    }

    func testAPluginThatRemovesItselfWhileItInitializesIsNotKept() throws {
        var registry = PluginRegistry(capacity: 1)
        let id = try XCTUnwrap(registry.admit(object(0)))
        registry.remove(id)
        XCTAssertEqual(registry.finishInitializing(id, .accepted), .dropped)
        XCTAssertTrue(registry.isEmpty)
    }

    func testAPluginStopsOnceItAgrees() throws {
        var (registry, ids) = try running()
        XCTAssertTrue(registry.beginStopping(ids[0]))
        XCTAssertFalse(registry.beginStopping(ids[0]), "it is being stopped")
        registry.finishStopping(ids[0], false)
        XCTAssertEqual(registry.phase(of: ids[0]), .running)
        XCTAssertTrue(registry.beginStopping(ids[0]))
        registry.finishStopping(ids[0], true)
        XCTAssertTrue(registry.isEmpty)
        XCTAssertFalse(registry.beginStopping(ids[0]), "it is gone")
    }

    func testAPluginThatIsNotInitializedCannotStop() throws {
        var registry = PluginRegistry(capacity: 1)
        let id = try XCTUnwrap(registry.admit(object(0)))
        XCTAssertFalse(registry.beginStopping(id))
        _ = registry.finishInitializing(id, .refused)
        XCTAssertFalse(registry.beginStopping(id))
    }

    /// Unsubscribing removes streams again.
    func testSubscriptionsAddUpAndUndefinedStreamsAreIgnored() throws {
        var (registry, ids) = try running()
        registry.subscribe(ids[0], to: .positions)
        XCTAssertEqual(registry.streams(of: ids[0]), [.positions, .errors])
        registry.subscribe(ids[0], to: PluginStreams(rawValue: 192))
        XCTAssertEqual(registry.streams(of: ids[0]), [.positions, .errors])
        registry.unsubscribe(ids[0], from: [.errors, .pluginData])
        XCTAssertEqual(registry.streams(of: ids[0]), .positions)
        XCTAssertEqual(registry.streams(of: PluginID(rawValue: 99)), .nothing)
    }

    func testAFullQueueLosesTheOldestAndCountsThem() throws {
        var (registry, ids) = try running()
        for number in 0..<1000 { _ = registry.enqueue(error("\(number)")) }
        XCTAssertEqual(registry.dropped(of: ids[0]), 997)
        XCTAssertEqual(messages(&registry, ids[0]), ["997", "998", "999"])
        XCTAssertNil(registry.dropped(of: PluginID(rawValue: 99)))
    }

    func testAQueueWithoutALimitLosesNothing() throws {
        var (registry, ids) = try running(capacity: nil)
        for number in 0..<1000 { _ = registry.enqueue(error("\(number)")) }
        XCTAssertEqual(messages(&registry, ids[0]), (0..<1000).map { "\($0)" })
        XCTAssertEqual(registry.dropped(of: ids[0]), 0)
    }

    func testAFloodedStreamDisplacesNothingOfTheOthers() throws {
        var (registry, ids) = try running(2)
        registry.subscribe(ids[0], to: .pluginData)
        _ = registry.enqueue(error("1"))
        for number in 0..<2000 { _ = registry.enqueue(.pluginData(PluginData(tag: "\(number)", sender: ids[1]))) }
        _ = registry.enqueue(error("2"))
        XCTAssertEqual(told(&registry, ids[0]), ["1", "1997", "1998", "1999", "2"], "in the order of coming")
        XCTAssertEqual(registry.dropped(of: ids[0]), 1997)
    }

    func testAPluginThatSendsTooMuchDisplacesNothingOfOtherSenders() throws {
        var (registry, ids) = try running(3)
        registry.subscribe(ids[0], to: .pluginData)
        let gone = PluginID(rawValue: 99)
        _ = registry.enqueue(.pluginData(PluginData(tag: "hello", sender: ids[2])))
        for number in 0..<100 { _ = registry.enqueue(.pluginData(PluginData(tag: "\(number)", sender: ids[1]))) }
        for number in 0..<100 {
            let sender = PluginID(rawValue: gone.rawValue + UInt64(number))
            _ = registry.enqueue(.pluginData(PluginData(tag: "nobody's \(number)", sender: sender)))
        }
        XCTAssertEqual(
            told(&registry, ids[0]),
            ["hello", "97", "98", "99", "nobody's 97", "nobody's 98", "nobody's 99"],
            "those who are not there share one queue")
    }

    func testElementsOfSeveralStreamsAreDeliveredInTheOrderOfArrival() throws {
        var (registry, ids) = try running(capacity: nil)
        registry.subscribe(ids[0], to: .pluginData)
        for number in 0..<50 {
            _ = registry.enqueue(
                number % 3 == 0 ? error("\(number)") : .pluginData(PluginData(tag: "\(number)", sender: ids[0])))
        }
        XCTAssertEqual(told(&registry, ids[0]), (0..<50).map { "\($0)" })
        XCTAssertFalse(registry.wake(ids[0]), "nothing is left")
    }

    func testAFullQueueOfOnePluginDoesNotAffectAnother() throws {
        var (registry, ids) = try running(2)
        for number in 0..<5 {
            _ = registry.enqueue(error("\(number)"))
            XCTAssertEqual(messages(&registry, ids[1]), ["\(number)"])
        }
        XCTAssertEqual(registry.dropped(of: ids[0]), 2)
        XCTAssertEqual(registry.dropped(of: ids[1]), 0)
    }

    func testADeliveryStartsOnceAndAgainAfterTheQueueWasEmpty() throws {
        var (registry, ids) = try running()
        XCTAssertEqual(registry.enqueue(error("1")), ids)
        XCTAssertEqual(registry.enqueue(error("2")), [], "somebody does already")
        XCTAssertEqual(messages(&registry, ids[0]), ["1", "2"])
        XCTAssertEqual(registry.enqueue(error("3")), ids)
    }

    func testNothingIsDeliveredBeforeAPluginIsInitialized() throws {
        var registry = PluginRegistry(capacity: 3)
        let id = try XCTUnwrap(registry.admit(object(0)))
        registry.subscribe(id, to: .errors)
        XCTAssertEqual(registry.enqueue(error("1")), [])
        XCTAssertNil(registry.next(for: id))
        _ = registry.finishInitializing(id, .accepted)
        XCTAssertTrue(registry.wake(id))
        XCTAssertEqual(messages(&registry, id), ["1"])
    }

    func testARefusedPluginReceivesNothingAndCannotSubscribe() throws {
        var registry = PluginRegistry(capacity: 3)
        let id = try XCTUnwrap(registry.admit(object(0)))
        registry.subscribe(id, to: .errors)
        _ = registry.enqueue(error("1"))
        _ = registry.finishInitializing(id, .refused)
        registry.subscribe(id, to: .all)
        XCTAssertEqual(registry.enqueue(error("2")), [])
        XCTAssertFalse(registry.wake(id))
        XCTAssertNil(registry.next(for: id))
    }

    func testAStoppingPluginReceivesElementsUntilItAgrees() throws {
        var (registry, ids) = try running()
        XCTAssertTrue(registry.beginStopping(ids[0]))
        XCTAssertEqual(registry.enqueue(error("1")), ids)
        XCTAssertEqual(messages(&registry, ids[0]), ["1"])
        _ = registry.enqueue(error("2"))
        registry.finishStopping(ids[0], true)
        XCTAssertNil(registry.next(for: ids[0]), "it is gone with what waited")
    }

    func testAStreamWithoutASubscriptionIsNotDelivered() throws {
        var (registry, ids) = try running()
        XCTAssertEqual(registry.enqueue(.pluginData(PluginData(tag: "x"))), [])
        _ = registry.enqueue(error("waits"))
        registry.unsubscribe(ids[0], from: .errors)
        XCTAssertNil(registry.next(for: ids[0]), "nor what waited when the plugin unsubscribed")
        XCTAssertEqual(registry.dropped(of: ids[0]), 0, "it was not lost by being slow")
    }

    func testASecondRemovalHasNoEffect() throws {
        var (registry, ids) = try running(2)
        registry.remove(ids[0])
        registry.remove(ids[0])
        XCTAssertEqual(registry.identities, [ids[1]])
    }
}

/// Tests of deliveries to plugins, through a host with a real session.
final class PluginDeliveryTests: XCTestCase {
    private let stage = LocalizerStage()

    /// A host whose clock stands still: on a busy machine, a plugin could exceed the time limit, and a pause before
    /// another attempt to connect could end during a test.
    private func host(sharing: ScriptedSharing? = nil, capacity: Int? = 256) -> PluginHost {
        PluginHost(localizer: stage.localizer, sharing: sharing, queueCapacity: capacity, clock: ManualClock())
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
        let limit = ContinuousClock.now + Bounded.longest
        while gone != nil, ContinuousClock.now < limit { await Task.yield() }
        XCTAssertNil(gone)
    }
}

/// Plugins that follow the device's motion, whether it is in a venue or in none.
final class PluginMotionTests: XCTestCase {
    private actor Reckoning: LocalizationPlugin {
        nonisolated let estimates = WatchedState<[MotionEstimate]>([])
        nonisolated let positions = WatchedState<Int>(0)

        func initialize(host: PluginHost, arguments: PluginStreams) async -> Bool {
            await host.subscribe(self, to: arguments)
            return true
        }

        func receive(motion: MotionEstimate) { estimates.update { $0.append(motion) } }
        func receive(position: Position) { positions.update { $0 += 1 } }
    }

    private func walk() -> [SensorReading] {
        var device = CarriedDevice()
        return device.samples(10, steps: 2)
    }

    func testADeadReckoningPluginReceivesEveryEstimateWithoutAVenue() async throws {
        let localizer = Localizer(source: ScriptedSource(walk()), venues: VenueLibrary([]))
        let told = localizer.motion
        let host = PluginHost(localizer: localizer, queueCapacity: nil, clock: ManualClock())
        let kept = await host.add(Reckoning(), arguments: .motion)
        let plugin = try XCTUnwrap(kept)
        try await host.startServices()
        let all = try await Bounded.elements(of: told, until: "the last estimate") { $0.instant.seconds > 9.85 }
        XCTAssertGreaterThan(all.count, 90)
        try await Bounded.wait(for: "all estimates") { try await plugin.estimates.wait { $0.count >= all.count } }
        XCTAssertEqual(Array(plugin.estimates.value.prefix(all.count)), all)
        let last = try XCTUnwrap(all.last)
        XCTAssertEqual(last.kind, .walking)
        XCTAssertGreaterThan(last.position.length, 8)
        XCTAssertEqual(plugin.positions.value, 0)
    }

    func testMotionIsAStreamOfItsOwn() async throws {
        let localizer = Localizer(source: ScriptedSource(walk()), venues: VenueLibrary([]))
        let host = PluginHost(localizer: localizer, queueCapacity: nil, clock: ManualClock())
        let (other, plugin) = (Reckoning(), Reckoning())
        await host.add(other, arguments: .all)
        await host.add(plugin, arguments: [.all, .motion])
        let streams = await host.streams(of: plugin)
        XCTAssertEqual(streams.rawValue, 63)
        try await host.startServices()
        try await Bounded.wait(for: "estimates") { try await plugin.estimates.wait { $0.count >= 50 } }
        XCTAssertEqual(other.estimates.value, [], "the five of NavisensCore have no motion of their own")
    }
}

final class PluginStreamsTests: XCTestCase {
    func testTheStreamsHaveTheValuesOfTheReference() {
        let values: [(PluginStreams, Int)] = [
            (.nothing, 0), (.positions, 1), (.networkPositions, 2), (.networkData, 4), (.pluginData, 8), (.errors, 16),
            (.all, 31),
        ]
        for (streams, value) in values { XCTAssertEqual(streams.rawValue, value) }
    }

    func testExclusiveOrRemovesAStreamFromAll() {
        XCTAssertEqual(.all ^ .pluginData, [.positions, .networkPositions, .networkData, .errors] as PluginStreams)
        XCTAssertEqual((PluginStreams.all ^ .pluginData).rawValue, 23)
        XCTAssertEqual(PluginStreams.all ^ .all, .nothing)
        XCTAssertEqual(PluginStreams.nothing ^ .errors, .errors)
        XCTAssertEqual(PluginStreams.positions | .errors, [.positions, .errors])
        XCTAssertEqual((PluginStreams.positions | .errors).rawValue, 17)
        XCTAssertEqual(PluginStreams.all.subtracting(.pluginData), .all ^ .pluginData)
    }
}
