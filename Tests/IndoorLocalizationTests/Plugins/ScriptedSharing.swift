import IndoorLocalization
import IndoorLocalizationTesting

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
    private let broadcast = Broadcast<SharingEvent>(.bufferingNewest(1024))

    private func call(_ call: String) throws(Failure) {
        calls.update { $0.append(call) }
        if failing.value.contains(call) { throw Failure() }
    }

    func connect() async throws(Failure) { try call("connect") }
    func disconnect() async { calls.update { $0.append("disconnect") } }
    func join(_ room: String) async throws(Failure) { try call("join \(room)") }
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
