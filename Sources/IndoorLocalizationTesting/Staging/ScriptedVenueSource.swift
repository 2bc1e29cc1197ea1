import IndoorLocalization

/// A venue source whose answers a test writes: what, when, and after how many failures.
public final class ScriptedVenueSource: VenueSource {
    /// Something that was asked of the source.
    public enum Request: Hashable, Sendable {
        /// Which venues there are.
        case catalogue
        /// The data of a venue.
        case packet(VenueID)
    }

    /// How requests are answered, unless told otherwise.
    public struct Script: Sendable {
        /// The venues of the catalogue.
        public var venues: [Venue]
        /// Fractions that are told before each packet.
        public var progress: [Double] = [1]
        /// The errors of the next catalogue requests, one each.
        public var catalogueFailures: [any Error] = []
        /// The errors of the next packet requests, one each.
        public var packetFailures: [any Error] = []
        /// Whether requests wait for `release()` or `release(_:)`.
        public var isHeld = false
        /// Whether a request that was cancelled is answered nevertheless, as by a server that hears too late.
        public var answersWhenCancelled = false

        /// Creates a script that answers at once and never fails.
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

    /// Creates a source of these venues that answers at once and never fails.
    public convenience init(_ venues: [Venue]) { self.init(Script(venues: venues)) }

    /// Creates a source that follows a script.
    public init(_ script: Script) { state = WatchedState(State(script: script)) }

    /// Changes how requests are answered from now on.
    public func change(_ body: (inout Script) -> Void) { state.update { body(&$0.script) } }

    /// Lets the requests that wait, and all later ones, be answered.
    public func release() { change { $0.isHeld = false } }

    /// Lets one request be answered: the first is number 1.
    public func release(_ number: Int) { state.update { _ = $0.released.insert(number) } }

    /// All that was asked, in order.
    public var requests: [Request] { state.value.requests }

    /// How many requests were answered, with whatever.
    public var answerCount: Int { state.value.answered }

    /// Returns as soon as so many requests have arrived.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before that.
    public func waitForRequests(_ count: Int) async throws {
        try await state.wait { $0.requests.count >= count }
    }

    /// Returns as soon as so many requests were answered, with whatever.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before that.
    public func waitForAnswers(_ count: Int) async throws {
        try await state.wait { $0.answered >= count }
    }

    /// The catalogue, or the next of its failures.
    public func catalogue() async throws -> [VenueSummary] {
        defer { state.update { $0.answered += 1 } }
        try await arrive(.catalogue)
        let failure = state.update { state in
            state.script.catalogueFailures.isEmpty ? nil : state.script.catalogueFailures.removeFirst()
        }
        if let failure { throw failure }
        return state.value.script.venues.map(VenueSummary.init)
    }

    /// The packet after its progress, or the next of the failures.
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
        // A task of its own does not hear that the request was cancelled.
        let held = Task { [state] in try await state.wait { !$0.isHeld(number) } }
        try await held.value
    }
}
