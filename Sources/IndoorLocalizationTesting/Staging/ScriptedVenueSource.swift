import IndoorLocalization

/// A venue source with answers from a test: their content, their time, and the number of failures before them.
public final class ScriptedVenueSource: VenueSource {
    /// A request to the source.
    public enum Request: Hashable, Sendable {
        /// The list of venues.
        case catalogue
        /// The data of one venue.
        case packet(VenueID)
    }

    /// The answers to requests.
    public struct Script: Sendable {
        /// The venues of the catalogue.
        public var venues: [Venue]
        /// The progress fractions that are reported before each packet.
        public var progress: [Double] = [1]
        /// The errors of the next catalogue requests, one each.
        public var catalogueFailures: [any Error] = []
        /// The errors of the next packet requests, one each.
        public var packetFailures: [any Error] = []
        /// Whether requests wait for `release()` or `release(_:)`.
        public var isHeld = false
        /// Whether a cancelled request is still answered, such as by a server that receives the cancellation too late.
        public var answersWhenCancelled = false

        /// Creates a script that answers immediately and never fails.
        public init(venues: [Venue]) { self.venues = venues }
    }

    private struct State: Sendable {
        var script: Script
        var requests: [Request] = []
        var answered = 0
        var released: Set<Int> = []

        func isHeld(_ number: Int) -> Bool { script.isHeld && !released.contains(number) }
    }

    private let state: WatchedState<State>

    /// Creates a source of these venues that answers immediately and never fails.
    public convenience init(_ venues: [Venue]) { self.init(Script(venues: venues)) }

    /// Creates a source that follows a script.
    public init(_ script: Script) { state = WatchedState(State(script: script)) }

    /// Changes the answers to all requests from now on.
    public func change(_ body: (inout Script) -> Void) { state.update { body(&$0.script) } }

    /// Allows the answers to all waiting and later requests.
    public func release() { change { $0.isHeld = false } }

    /// Allows the answer to one request; the first has number 1.
    public func release(_ number: Int) { state.update { _ = $0.released.insert(number) } }

    /// All requests so far, in order.
    public var requests: [Request] { state.value.requests }

    /// The number of requests that were answered, including failures.
    public var answerCount: Int { state.value.answered }

    /// Waits until the given number of requests have arrived.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func waitForRequests(_ count: Int) async throws {
        try await state.wait { $0.requests.count >= count }
    }

    /// Waits until the given number of requests were answered, including failures.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func waitForAnswers(_ count: Int) async throws {
        try await state.wait { $0.answered >= count }
    }

    /// Returns the catalogue, or throws the next of its failures.
    public func catalogue() async throws -> [VenueSummary] {
        defer { state.update { $0.answered += 1 } }
        try await arrive(.catalogue)
        let failure = state.update { state in
            state.script.catalogueFailures.isEmpty ? nil : state.script.catalogueFailures.removeFirst()
        }
        if let failure { throw failure }
        return state.value.script.venues.map(VenueSummary.init)
    }

    /// Reports the progress and returns the packet, or throws the next of its failures.
    public func packet(for id: VenueID, progress: @escaping @Sendable (Double) -> Void) async throws -> Venue {
        defer { state.update { $0.answered += 1 } }
        try await arrive(.packet(id))
        for fraction in state.value.script.progress { progress(fraction) }
        let failure = state.update { state in
            state.script.packetFailures.isEmpty ? nil : state.script.packetFailures.removeFirst()
        }
        if let failure { throw failure }
        return try VenueLibrary(state.value.script.venues).packet(for: id) { _ in }
    }

    private func arrive(_ request: Request) async throws {
        let number = state.update { state in
            state.requests.append(request)
            return state.requests.count
        }
        guard state.value.script.answersWhenCancelled else { return try await state.wait { !$0.isHeld(number) } }
        // The cancellation of the request does not reach a separate task.
        let held = Task { [state] in try await state.wait { !$0.isHeld(number) } }
        try await held.value
    }
}
