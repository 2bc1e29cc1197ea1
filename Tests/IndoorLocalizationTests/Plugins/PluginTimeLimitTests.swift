import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
