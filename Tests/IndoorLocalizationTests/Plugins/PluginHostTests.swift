import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Plugins coming and going at a host.
final class PluginHostTests: XCTestCase {
    private let stage = LocalizerStage()

    /// A host whose clock stands still: on a busy machine, a plugin could exceed the time limit, and a pause before
    /// another attempt to connect could end during a test.
    private func host(sharing: ScriptedSharing? = nil, capacity: Int? = 256) -> PluginHost {
        PluginHost(localizer: stage.localizer, sharing: sharing, queueCapacity: capacity, clock: ManualClock())
    }

    func testAPluginThatInitializesIsKeptAndReturned() async {
        let (host, plugin) = (host(), ProbePlugin())
        let kept = await host.add(plugin)
        XCTAssertTrue(kept === plugin)
        XCTAssertEqual(plugin.calls.value, ["initialize"])
        let count = await host.count
        XCTAssertEqual(count, 1)
        let id = await host.id(of: plugin)
        XCTAssertEqual(id?.rawValue, 1)
    }

    func testAPluginThatRefusesIsStoppedOnceAndNotReturned() async throws {
        let host = host()
        for error in [nil, ProbePlugin.Broken()] {
            let plugin = ProbePlugin(.init(initializes: false, stops: false, stopError: error))
            let failures = host.failures
            let kept = await host.add(plugin)
            XCTAssertNil(kept)
            XCTAssertEqual(plugin.calls.value, ["initialize", "stop"])
            let count = await host.count
            XCTAssertEqual(count, 0, "whatever its stop returned or threw")
            guard error != nil else { continue }
            let failure = try await Bounded.first(1, of: failures).first
            XCTAssertEqual(failure?.occasion, .stopping)
        }
    }

    /// `add` returns nil.
    func testAPluginThatThrowsInInitializeIsReportedAndNotStopped() async throws {
        let (host, plugin) = (host(), ProbePlugin(.init(initializeError: .init())))
        let failures = host.failures
        let kept = await host.add(plugin)
        XCTAssertNil(kept)
        XCTAssertEqual(plugin.calls.value, ["initialize"])
        let count = await host.count
        XCTAssertEqual(count, 0)
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(
            failure,
            PluginFailure(
                plugin: PluginID(rawValue: 1), name: "ProbePlugin", occasion: .initializing, cause: "broken"))
        XCTAssertEqual(
            failure?.description, "ProbePlugin (plugin 1) failed to initialize and is not kept: broken")
    }

    func testAPluginIsNotAddedTwice() async throws {
        let (host, plugin) = (host(), ProbePlugin())
        let failures = host.failures
        await host.add(plugin)
        let again = await host.add(plugin)
        XCTAssertNil(again)
        XCTAssertEqual(plugin.calls.value, ["initialize"])
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(failure?.occasion, .adding)
    }

    /// False or an error keeps the plugin, true removes it, and an unknown one is refused.
    func testAPluginMayRefuseToStop() async {
        let (host, plugin) = (host(), ProbePlugin(.init(stops: false)))
        await host.add(plugin)
        var isGone = await host.stop(plugin)
        XCTAssertFalse(isGone)
        plugin.change { $0.stopError = .init() }
        isGone = await host.stop(plugin)
        XCTAssertFalse(isGone, "an error is a refusal")
        var count = await host.count
        XCTAssertEqual(count, 1)
        plugin.change { ($0.stops, $0.stopError) = (true, nil) }
        isGone = await host.stop(plugin)
        XCTAssertTrue(isGone)
        count = await host.count
        XCTAssertEqual(count, 0)
        isGone = await host.stop(plugin)
        XCTAssertFalse(isGone, "it is unknown now")
        XCTAssertEqual(plugin.count("stop"), 3)
    }

    func testAPluginThatIsBeingStoppedIsNotStoppedTwice() async throws {
        let (host, plugin) = (host(), ProbePlugin())
        await host.add(plugin)
        plugin.change { $0.isHeldAtEnds = true }
        let first = Task { await host.stop(plugin) }
        try await plugin.wait(for: "stop")
        let second = await host.stop(plugin)
        XCTAssertFalse(second)
        plugin.release()
        let isGone = await first.value
        XCTAssertTrue(isGone)
        XCTAssertEqual(plugin.count("stop"), 1)
    }

    func testAPluginThatRemovesItselfWhileItStopsIsGone() async {
        let (host, plugin) = (host(), ProbePlugin(.init(stops: false, removesItself: true)))
        await host.add(plugin)
        let isGone = await host.stop(plugin)
        XCTAssertTrue(isGone)
        await host.remove(plugin)
        let count = await host.count
        XCTAssertEqual(count, 0)
    }

    /// One plugin that refuses to stop keeps the host running.
    func testAHostDoesNotStopWhileItHasAPlugin() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        let (first, second) = (ProbePlugin(), ProbePlugin(.init(stops: false)))
        await host.add(first)
        await host.add(second)
        try await host.startServices()
        var isStopped = await host.stop()
        XCTAssertFalse(isStopped)
        isStopped = await host.stopAll()
        XCTAssertFalse(isStopped)
        let state = await stage.localizer.state
        XCTAssertNotEqual(state, .idle, "the plugin that stays keeps its session")
        XCTAssertEqual(sharing.calls.value, ["connect"])
        var count = await host.count
        XCTAssertEqual(count, 1, "the one that agreed is gone")
        second.change { $0.stops = true }
        isStopped = await host.stopAll()
        XCTAssertTrue(isStopped)
        XCTAssertEqual(sharing.calls.value, ["connect", "disconnect"])
        let end = await stage.localizer.state
        XCTAssertEqual(end, .idle)
        count = await host.count
        XCTAssertEqual(count, 0)
        XCTAssertEqual(first.count("stop"), 1)
    }

    func testAPluginThatIsBeingInitializedKeepsTheHostFromStopping() async throws {
        let (host, plugin) = (host(), ProbePlugin(.init(isHeldAtEnds: true)))
        let adding = Task { await host.add(plugin) }
        try await plugin.wait(for: "initialize")
        let isStopped = await host.stop()
        XCTAssertFalse(isStopped)
        plugin.release()
        let kept = await adding.value
        XCTAssertNotNil(kept)
    }

    // MARK: - Services

    func testServicesStartOnlyOnRequestAndOnce() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        await host.add(ProbePlugin(.all))
        var state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        XCTAssertEqual(sharing.calls.value, [])
        try await host.startServices()
        try await host.startServices()
        try await stage.source.waitUntilScanning()
        state = await stage.localizer.state
        XCTAssertNotEqual(state, .idle)
        XCTAssertEqual(stage.source.scanCount, 1)
        XCTAssertEqual(sharing.calls.value, ["connect"])
    }

    func testAFailedOrBrokenConnectionIsTriedAgainOnRequest() async throws {
        let sharing = ScriptedSharing()
        sharing.failing.update { $0 = ["connect"] }
        let host = host(sharing: sharing)
        let plugin = ProbePlugin(.networkData)
        await host.add(plugin)
        do {
            try await host.startServices()
            XCTFail("it is out of reach")
        } catch {
            XCTAssertEqual(error as? ScriptedSharing.Failure, .init())
        }
        let state = await stage.localizer.state
        XCTAssertNotEqual(state, .idle, "the session is on nevertheless")
        sharing.failing.update { $0 = [] }
        try await host.startServices()
        XCTAssertEqual(sharing.calls.value.count, 2)
        sharing.happen(.disconnected(reason: "gone"))
        try await plugin.wait(for: "network data \(SharingEvent.disconnected(reason: "gone"))")
        try await host.startServices()
        XCTAssertEqual(sharing.calls.value.count, 3)
    }

    func testWithoutAConnectionTheHostTriesAgainWithGrowingPauses() async throws {
        let sharing = ScriptedSharing()
        sharing.failing.update { $0 = ["connect"] }
        let clock = ManualClock()
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, timeLimit: nil, clock: clock)
        let plugin = ProbePlugin(.networkData)
        await host.add(plugin)
        do {
            try await host.startServices()
            XCTFail("it is out of reach")
        } catch {}
        for attempt in 2...5 {
            let due = try await Bounded.wait(for: "a pause") { try await clock.waitForSleeper() }
            let longest = Double(1 << (attempt - 2))
            let pause = clock.now.duration(to: due)
            XCTAssertTrue(pause >= .seconds(longest / 2) && pause <= .seconds(longest), "\(attempt): \(pause)")
            if attempt == 5 { sharing.failing.update { $0 = [] } }
            clock.advance(to: due)
            try await sharing.wait(for: attempt, "connect")
        }
        try await plugin.wait(for: "network data connected")
        XCTAssertEqual(clock.deadlines, [], "that was the last attempt")
        XCTAssertEqual(sharing.calls.value.count, 5)
    }

    func testAConnectionThatBreaksWithoutAnyPluginIsDetected() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        try await host.startServices()
        sharing.happen(.disconnected(reason: "gone"))
        try await Bounded.wait(for: "another connection") {
            while sharing.calls.value.count < 2 {
                try await pause()
                try await host.startServices()
            }
        }
    }

    func testAStoppedHostDoesNotTryToConnect() async throws {
        let sharing = ScriptedSharing()
        sharing.failing.update { $0 = ["connect"] }
        let clock = ManualClock()
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, timeLimit: nil, clock: clock)
        do {
            try await host.startServices()
            XCTFail("it is out of reach")
        } catch {}
        try await Bounded.wait(for: "a pause") { _ = try await clock.waitForSleeper() }
        await host.stopAll()
        try await Bounded.wait(for: "its end") { try await clock.waitUntilNobodySleeps() }
        XCTAssertEqual(sharing.calls.value, ["connect", "disconnect"])
    }

    /// Such as after two presses of a button, each of which begins a task.
    func testServicesThatAreStartedDuringTheirEndStartAfterIt() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        try await host.startServices()
        sharing.isHeldAtEnd.update { $0 = true }
        let stopping = Task { await host.stop() }
        try await sharing.wait(for: 1, "disconnect")
        let starting = Task { try await host.startServices() }
        // Many more turns than a start needs that doesn't wait.
        for _ in 0..<1_000 {
            _ = await host.count
            await Task.yield()
        }
        XCTAssertEqual(sharing.calls.value, ["connect", "disconnect"])
        sharing.isHeldAtEnd.update { $0 = false }
        let hasStopped = await stopping.value
        XCTAssertTrue(hasStopped)
        try await Bounded.wait(for: "the start") { try await starting.value }
        XCTAssertEqual(sharing.calls.value, ["connect", "disconnect", "connect"])
        let state = await stage.localizer.state
        XCTAssertNotEqual(state, .idle)
    }

    func testAStopEndsAStartThatStillWaits() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        try await host.startServices()
        sharing.isHeldAtEnd.update { $0 = true }
        let first = await host.beginStopping()
        let start = await host.beginStarting()
        let last = await host.beginStopping()
        sharing.isHeldAtEnd.update { $0 = false }
        for stop in [first, last] {
            let hasStopped = try await Bounded.wait(for: "the end") { await stop.value }
            XCTAssertTrue(hasStopped)
        }
        do {
            try await Bounded.wait(for: "the start") { try await start.value }
            XCTFail("it started after the last stop")
        } catch is CancellationError {}
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        XCTAssertEqual(sharing.calls.value, ["connect", "disconnect", "disconnect"])
    }

    /// Whether the attempt fails or not.
    func testAStopEndsAStartThatConnects() async throws {
        for failing in [Set<String>(), ["connect"]] {
            let (sharing, clock) = (ScriptedSharing(), ManualClock())
            sharing.failing.update { $0 = failing }
            sharing.isHeldAtConnection.update { $0 = true }
            let host = PluginHost(localizer: stage.localizer, sharing: sharing, timeLimit: nil, clock: clock)
            let start = await host.beginStarting()
            try await sharing.wait(for: 1, "connect")
            let hasStopped = await host.stop()
            XCTAssertTrue(hasStopped)
            do {
                try await Bounded.wait(for: "the start") { try await start.value }
                XCTFail("it has not started")
            } catch is CancellationError {}
            // If the attempt succeeds, the connection may have begun after the first end.
            let ends = failing.isEmpty ? ["disconnect", "disconnect"] : ["disconnect"]
            XCTAssertEqual(sharing.calls.value, ["connect"] + ends)
            XCTAssertEqual(clock.deadlines, [], "there is no other attempt")
            let plugin = ProbePlugin([.networkData, .pluginData])
            await host.add(plugin)
            await host.broadcast("mark")
            try await plugin.wait(for: "data mark 1")
            XCTAssertEqual(plugin.calls.value, ["initialize", "data mark 1"], "there is no connection")
        }
    }

    func testALateSubscriberToNetworkDataReceivesTheConnectionOnce() async throws {
        let sharing = ScriptedSharing()
        let host = host(sharing: sharing)
        let (early, late) = (ProbePlugin(.networkData), ProbePlugin(.networkData))
        await host.add(early)
        try await host.startServices()
        await host.add(late)
        await host.subscribe(late, to: [.networkData, .errors])
        sharing.happen(.connected)
        sharing.happen(.occupancy(room: "hall", devices: 1))
        let last = "network data \(SharingEvent.occupancy(room: "hall", devices: 1))"
        for plugin in [early, late] {
            try await plugin.wait(for: last)
            XCTAssertEqual(plugin.calls.value, ["initialize", "network data connected", last])
        }
    }

    // MARK: - Settings

    func testARequestedSettingTakesEffectOnlyWhenApplied() async throws {
        let host = host()
        try await host.request("positionInterval", 0.1)
        try await host.request("positionInterval", 0.4)
        try await host.override("areaDwell", 7)
        var settings = await stage.localizer.settings.resolved.localization
        XCTAssertEqual(settings.positionInterval, .milliseconds(500))
        await host.applySettings()
        settings = await stage.localizer.settings.resolved.localization
        XCTAssertEqual(settings.positionInterval, .milliseconds(100), "the better of two requests")
        XCTAssertEqual(settings.areaDwell, .seconds(7))
        try await host.override("positionInterval", nil)
        try await host.request("areaDwell", 3)
        await host.applySettings()
        settings = await stage.localizer.settings.resolved.localization
        XCTAssertEqual(settings.positionInterval, .milliseconds(500), "back to the default")
        XCTAssertEqual(settings.areaDwell, .seconds(7), "an override counts more than a request")
    }

    func testAnInvalidSettingIsReportedAtOnceAndTheOthersStay() async throws {
        let host = host()
        try await host.request("positionInterval", 0.1)
        do {
            try await host.request("positionIntervall", 0.1)
            XCTFail("there is no such key")
        } catch {
            XCTAssertEqual(error.reason, .unknownKey(nearest: "positionInterval"))
        }
        await host.applySettings()
        let interval = await stage.localizer.settings.resolved.localization.positionInterval
        XCTAssertEqual(interval, .milliseconds(100))
    }

    func testASettingOfTheProgramBetweenRequestAndApplicationStays() async throws {
        let host = host()
        try await host.request("positionInterval", 0.1)
        var own = await stage.localizer.settings
        try own.override("areaDwell", 9)
        own.apply()
        await stage.localizer.setSettings(own)
        await host.applySettings()
        let settings = await stage.localizer.settings.resolved.localization
        XCTAssertEqual(settings.positionInterval, .milliseconds(100))
        XCTAssertEqual(settings.areaDwell, .seconds(9))
    }
}

final class PluginHandshakeTests: XCTestCase {
    private let first = PluginID(rawValue: 1)
    private let second = PluginID(rawValue: 2)
    private let third = PluginID(rawValue: 3)

    func testTwoPluginsKnowEachOtherOnceTheSecondIsAdded() throws {
        var early = PluginHandshake(tag: "maps", own: first)
        var late = PluginHandshake(tag: "maps", own: second)
        let greeting = late.greeting
        XCTAssertEqual(greeting.operation, .initialize)
        XCTAssertEqual(greeting.operation.rawValue, 0)
        let answer = try XCTUnwrap(early.handle(greeting))
        XCTAssertEqual(answer.operation.rawValue, -1)
        XCTAssertEqual(answer.value(as: PluginID.self), second, "the newcomer's number")
        XCTAssertNil(late.handle(answer))
        XCTAssertEqual(early.peers, [second])
        XCTAssertEqual(late.peers, [first])
        let farewell = late.farewell
        XCTAssertEqual(farewell.operation.rawValue, -2)
        XCTAssertNil(early.handle(farewell))
        XCTAssertEqual(early.peers, [])
    }

    func testAnAnswerToAnotherPluginIsIgnored() throws {
        var early = PluginHandshake(tag: "maps", own: first)
        var bystander = PluginHandshake(tag: "maps", own: third)
        let answer = try XCTUnwrap(early.handle(PluginHandshake(tag: "maps", own: second).greeting))
        XCTAssertNil(bystander.handle(answer))
        XCTAssertEqual(bystander.peers, [])
    }

    func testOtherDataIsNoHandshake() {
        var handshake = PluginHandshake(tag: "maps", own: first)
        XCTAssertNil(handshake.handle(handshake.greeting), "its own")
        XCTAssertNil(handshake.handle(PluginHandshake(tag: "routes", own: second).greeting), "another tag")
        XCTAssertNil(handshake.handle(PluginData(tag: "maps", operation: .initialize)), "nobody's")
        XCTAssertNil(handshake.handle(PluginData(tag: "maps", operation: 1, sender: second)), "data")
        XCTAssertNil(
            handshake.handle(PluginData(tag: "maps", operation: .acknowledge, sender: second, payload: "one")))
        XCTAssertEqual(handshake.peers, [])
    }
}

final class PluginPlacementTests: XCTestCase {
    private let running = LocalizationState.localizationRunning(RunningState(venue: SessionStage.office, mapID: 10))

    func testAPlaceInMetresNeedsOnlyTheNumberOfItsMap() throws {
        let placement = PluginPlacement(mapID: 11, place: .point(MapPoint(x: 1, y: 2)), radius: 3)
        for state in [LocalizationState.idle, .searchVenue, .findFloor(SessionStage.office), running] {
            XCTAssertEqual(
                try placement.fix(in: state),
                Fix(instant: .zero, mapID: 11, point: MapPoint(x: 1, y: 2), radius: 3), state.name)
        }
    }

    func testAPlacementWithoutAMapUsesTheDevicesMap() throws {
        let placement = PluginPlacement(place: .pixel(PixelPoint(x: 100, y: 200)), radius: 10)
        let fix = try XCTUnwrap(try placement.fix(in: running))
        XCTAssertEqual(fix.mapID, 10)
        XCTAssertEqual(fix.point, MapPoint(x: 10, y: 20), "ten pixels a metre")
        XCTAssertEqual(fix.radius, 1, accuracy: 1e-9)
        XCTAssertThrowsError(try placement.fix(in: .findFloor(SessionStage.office))) {
            XCTAssertEqual($0 as? PluginPlacementError, .noMap)
        }
    }

    func testAPlacementWithOnlyAHeadingGivesNoFix() throws {
        XCTAssertNil(try PluginPlacement(heading: 90).fix(in: .idle))
    }

    func testAPlaceThatIsOnNoMapIsAnError() {
        let pixel = FixPlace.pixel(PixelPoint(x: 1, y: 1))
        let point = FixPlace.point(MapPoint(x: 1, y: 1))
        let cases: [(PluginPlacement, LocalizationState, PluginPlacementError)] = [
            (PluginPlacement(mapID: 10, place: pixel), .searchVenue, .noVenue(pixel)),
            (PluginPlacement(mapID: 99, place: point), running, .unknownMap(99, venue: 1)),
            (PluginPlacement(mapID: 11, place: pixel), running, .fix(.noImageSize(11))),
            (PluginPlacement(mapID: 10, place: point, radius: 0), running, .fix(.invalidRadius(0))),
        ]
        for (placement, state, expected) in cases {
            XCTAssertThrowsError(try placement.fix(in: state), "\(expected)") {
                XCTAssertEqual($0 as? PluginPlacementError, expected)
            }
        }
    }
}

/// Plugins that never come to an end, and what becomes of the others.
final class PluginTimeLimitTests: XCTestCase {
    private let stage = LocalizerStage()
    private let clock = ManualClock()

    /// A plugin that hangs in the given calls, and ignores its cancellation.
    private actor HangingPlugin: LocalizationPlugin {
        private let hangsAtBeginning: Bool
        private let accepts: Bool
        private let gate: WatchedState<Bool>
        nonisolated let calls = WatchedState<[String]>([])

        init(hangsAtBeginning: Bool, accepts: Bool = true, until gate: WatchedState<Bool>) {
            self.hangsAtBeginning = hangsAtBeginning
            self.accepts = accepts
            self.gate = gate
        }

        private func hang() async {
            // A task of its own is not cancelled with this one.
            let gate = gate
            await Task { try? await gate.wait { $0 } }.value
        }

        func initialize(host: PluginHost, arguments: Void) async throws -> Bool {
            calls.update { $0.append("initialize") }
            if hangsAtBeginning { await hang() }
            await host.subscribe(self, to: .all)
            calls.update { $0.append("initialized") }
            return accepts
        }

        func stop() async throws -> Bool {
            calls.update { $0.append("stop") }
            if !hangsAtBeginning { await hang() }
            calls.update { $0.append("stopped") }
            return false
        }
    }

    private let gate = WatchedState(false)

    override func tearDown() { gate.update { $0 = true } }

    private func host(timeLimit: Duration? = .seconds(5)) -> PluginHost {
        PluginHost(localizer: stage.localizer, timeLimit: timeLimit, clock: clock)
    }

    /// Moves the clock to the end of a time limit, once a task waits for it.
    private func passTheLimit(ending end: Instant) async throws {
        try await Bounded.wait(for: "the time limit until \(end)") { [clock] in
            while !clock.deadlines.contains(end) { try await pause() }
        }
        clock.advance(to: end)
    }

    func testAPluginThatHangsInInitializeIsDroppedAfterTheTimeLimit() async throws {
        let (host, plugin) = (host(), HangingPlugin(hangsAtBeginning: true, until: gate))
        let failures = host.failures
        let adding = Task { await host.add(plugin) }
        try await passTheLimit(ending: Instant(seconds: 5))
        let kept = await adding.value
        XCTAssertNil(kept)
        let count = await host.count
        XCTAssertEqual(count, 0)
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(
            failure?.description,
            "HangingPlugin (plugin 1) failed to initialize and is not kept: it took longer than 5.0 seconds")
        gate.update { $0 = true }
        try await Bounded.wait(for: "its late end") { try await plugin.calls.wait { $0.contains("initialized") } }
        let streams = await host.streams(of: plugin)
        XCTAssertEqual(streams, .nothing, "what it says later does not count")
        XCTAssertEqual(plugin.calls.value, ["initialize", "initialized"], "and it is not stopped")
    }

    func testAHostStopsAlthoughAPluginHangsInStop() async throws {
        let (host, plugin) = (host(), HangingPlugin(hangsAtBeginning: false, until: gate))
        let sound = ProbePlugin()
        let failures = host.failures
        await host.add(sound)
        await host.add(plugin)
        try await host.startServices()
        // Alarms of the beginning may still be about to end.
        clock.advance(by: .seconds(1))
        let stopping = Task { await host.stopAll() }
        try await passTheLimit(ending: Instant(seconds: 6))
        let isStopped = await stopping.value
        XCTAssertTrue(isStopped)
        XCTAssertEqual(sound.count("stop"), 1)
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(
            failure?.description, "HangingPlugin (plugin 2) failed to stop: it took longer than 5.0 seconds")
        gate.update { $0 = true }
        try await Bounded.wait(for: "its late end") { try await plugin.calls.wait { $0.contains("stopped") } }
        let count = await host.count
        XCTAssertEqual(count, 0, "that it refuses comes too late")
    }

    func testAPluginThatRefusesAndHangsInStopIsDropped() async throws {
        let (host, plugin) = (host(), HangingPlugin(hangsAtBeginning: false, accepts: false, until: gate))
        let adding = Task { await host.add(plugin) }
        try await Bounded.wait(for: "stop") { try await plugin.calls.wait { $0.contains("stop") } }
        try await Bounded.wait(for: "its end") { [clock] in
            while await host.count > 0 {
                clock.advance(by: .seconds(5))
                try await pause()
            }
        }
        let kept = await adding.value
        XCTAssertNil(kept)
    }

    func testASlowPluginIsKeptWithoutATimeLimit() async throws {
        let (host, plugin) = (host(timeLimit: nil), HangingPlugin(hangsAtBeginning: true, until: gate))
        let adding = Task { await host.add(plugin) }
        try await Bounded.wait(for: "initialize") { try await plugin.calls.wait { $0.contains("initialize") } }
        XCTAssertEqual(clock.deadlines, [])
        gate.update { $0 = true }
        let kept = await adding.value
        XCTAssertNotNil(kept)
    }

    func testAPluginIsCancelledAfterTheTimeLimit() async throws {
        let limit = TimeLimit(.seconds(1), clock: clock)
        let isCancelled = WatchedState(false)
        let running = Task {
            try await limit.run {
                try? await WatchedState(false).wait { $0 }
                isCancelled.update { $0 = Task.isCancelled }
            }
        }
        try await passTheLimit(ending: Instant(seconds: 1))
        do {
            try await running.value
            XCTFail("it was in time")
        } catch {
            XCTAssertEqual((error as? TimeLimit.Exceeded)?.limit, .seconds(1))
        }
        try await Bounded.wait(for: "its end") { try await isCancelled.wait { $0 } }
    }
}

extension PluginHost {
    /// Begins to start the services, and returns once this waits for something.
    fileprivate func beginStarting() -> Task<Void, any Error> { Task.immediate { try await startServices() } }

    /// Begins to stop the services, and returns once this waits for something.
    fileprivate func beginStopping() -> Task<Bool, Never> { Task.immediate { await stop() } }
}
