import IndoorLocalization
import IndoorLocalizationTesting

/// Lets others go on, in a wait for what cannot be awaited; throws once the wait is over its bound.
func pause() async throws {
    try Task.checkCancellation()
    await Task.yield()
}

/// A plugin that notes what it is called with, and answers what a test says.
actor ProbePlugin: LocalizationPlugin {
    struct Script: Sendable {
        var streams = PluginStreams.nothing
        var initializes = true
        var initializeError: Broken?
        var stops = true
        var stopError: Broken?
        /// What it throws whenever it receives something.
        var receiveError: Broken?
        /// Whether receivers wait for `release()`.
        var isHeld = false
        /// Whether `initialize` and `stop` wait for `release()`.
        var isHeldAtEnds = false
        /// Whether it removes itself while it stops.
        var removesItself = false
    }

    struct Broken: Error, Hashable, CustomStringConvertible {
        var description: String { "broken" }
    }

    /// All calls, in order: `initialize`, `stop`, `position 5.0`, `data tag 1 payload`, ….
    nonisolated let calls = WatchedState<[String]>([])
    nonisolated let data = WatchedState<[PluginData]>([])
    nonisolated let script: WatchedState<Script>
    private weak var host: PluginHost?

    init(_ script: Script = Script()) { self.script = WatchedState(script) }

    init(_ streams: PluginStreams) { script = WatchedState(Script(streams: streams)) }

    nonisolated func change(_ body: @Sendable (inout Script) -> Void) { script.update { body(&$0) } }

    nonisolated func release() {
        script.update { script in
            script.isHeld = false
            script.isHeldAtEnds = false
        }
    }

    private nonisolated func note(_ call: String) { calls.update { $0.append(call) } }

    func initialize(host: PluginHost, arguments: Void) async throws -> Bool {
        self.host = host
        note("initialize")
        await host.subscribe(self, to: script.value.streams)
        try await script.wait { !$0.isHeldAtEnds }
        if let error = script.value.initializeError { throw error }
        return script.value.initializes
    }

    func stop() async throws -> Bool {
        note("stop")
        try await script.wait { !$0.isHeldAtEnds }
        if script.value.removesItself { await host?.remove(self) }
        if let error = script.value.stopError { throw error }
        return script.value.stops
    }

    private func receive(_ call: String) async throws {
        note(call)
        try await script.wait { !$0.isHeld }
        if let error = script.value.receiveError { throw error }
    }

    func receive(position: Position) async throws { try await receive("position \(position.instant.seconds)") }

    func receive(networkPosition: SharedPosition) async throws {
        try await receive("network position \(networkPosition.device)")
    }

    func receive(networkData: SharingEvent) async throws { try await receive("network data \(networkData)") }

    func receive(pluginData: PluginData) async throws {
        data.update { $0.append(pluginData) }
        try await receive("data \(pluginData.tag) \(pluginData.operation.rawValue)")
    }

    func receive(error: LocalizationError) async throws { try await receive("error \(error.code)") }

    /// Returns as soon as that was called; throws if that does not happen.
    nonisolated func wait(for call: String) async throws {
        try await Bounded.wait(for: call) { [calls] in try await calls.wait { $0.contains(call) } }
    }

    nonisolated func count(_ call: String) -> Int { calls.value.filter { $0 == call }.count }
}

/// A way to other devices that are all in the hands of a test.
final class ScriptedSharing: PositionSharing {
    struct Failure: Error, Hashable, CustomStringConvertible {
        var description: String { "out of reach" }
    }

    /// All calls, in order: `connect`, `join hall`, `share 5.0`, ….
    let calls = WatchedState<[String]>([])
    /// Calls that fail.
    let failing = WatchedState<Set<String>>([])
    /// The levels of the shared positions, in order.
    let levels = WatchedState<[Int?]>([])
    /// Whether a call of `connect` waits, and fails only after that.
    let isHeldAtConnection = WatchedState(false)
    /// Whether a call of `join` waits.
    let isHeldAtJoin = WatchedState(false)
    /// Whether a call of `disconnect` waits.
    let isHeldAtEnd = WatchedState(false)
    private let broadcast = Broadcast<SharingEvent>(.bufferingNewest(1024))

    private func call(_ call: String) throws(Failure) {
        calls.update { $0.append(call) }
        if failing.value.contains(call) { throw Failure() }
    }

    func connect() async throws(Failure) {
        calls.update { $0.append("connect") }
        try? await isHeldAtConnection.wait { !$0 }
        if failing.value.contains("connect") { throw Failure() }
    }
    func disconnect() async {
        calls.update { $0.append("disconnect") }
        try? await isHeldAtEnd.wait { !$0 }
    }
    func join(_ room: String) async throws(Failure) {
        try call("join \(room)")
        try? await isHeldAtJoin.wait { !$0 }
    }
    func leave(_ room: String) async throws(Failure) { try call("leave \(room)") }
    func share(_ position: Position) async throws(Failure) { try call("share \(position.instant.seconds)") }
    func share(_ position: Position, level: Int?) async throws(Failure) {
        levels.update { $0.append(level) }
        try await share(position)
    }
    func send(_ text: String, tag: String, to room: String) async throws(Failure) {
        try call("send \(text) \(tag) \(room)")
    }

    var events: AsyncStream<SharingEvent> { broadcast.subscribe() }

    /// Returns as soon as that was called so often; throws if that does not happen.
    func wait(for count: Int = 1, _ call: String) async throws {
        try await Bounded.wait(for: "\(count) times \(call)") { [calls] in
            try await calls.wait { calls in calls.filter { $0 == call }.count >= count }
        }
    }

    /// Lets something happen among the devices.
    func happen(_ event: SharingEvent) { broadcast.send(event) }
}
