import IndoorLocalization

/// A scan source with readings from a test: all at once from an array, or one at a time while it runs.
///
///     let source = ScriptedSource()                       // live: nothing until `send`
///     let replayed = ScriptedSource(readings)             // recorded: all of them, then the end
///     let broken = ScriptedSource(readings, failure: e)   // recorded: all of them, then an error
public final class ScriptedSource: ScanSource {
    private struct State: Sendable {
        var scans: [Int: AsyncThrowingStream<SensorReading, any Error>.Continuation] = [:]
        var latestNumber = 0
        var begun = 0
        var ended = 0
        var wallClock: WallClock?
    }

    private enum Ending: Sendable {
        case open
        case finish
        case failure(any Error)
    }

    public let pace: ScanPace
    private let script: [SensorReading]
    private let ending: Ending
    private let state = WatchedState(State())

    /// Creates a source that delivers the readings that the test sends, until `finish()` or `fail(_:)`.
    public init(pace: ScanPace = .live) {
        self.pace = pace
        script = []
        ending = .open
    }

    /// Creates a source each of whose scans delivers these readings and then ends, optionally with an error.
    public init(_ readings: [SensorReading], pace: ScanPace = .recorded, failure: (any Error)? = nil) {
        self.pace = pace
        script = readings
        ending = failure.map(Ending.failure) ?? .finish
    }

    /// The relation of its instants to Unix time; initially nil, for a source without a wall clock.
    ///
    /// A test can set it at any time, as a user sets the clock of a machine.
    public var wallClock: WallClock? {
        get { state.value.wallClock }
        set { state.update { $0.wallClock = newValue } }
    }

    /// Begins a scan, which delivers the script and then the readings that are sent while it runs.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: SensorReading.self, throwing: (any Error).self)
        let number = state.update { state in
            state.latestNumber += 1
            return state.latestNumber
        }
        // Set before the scan counts as begun, because a test that waits for it may end it at once.
        continuation.onTermination = { [state] _ in
            state.update { state in
                state.scans[number] = nil
                state.ended += 1
            }
        }
        state.update { state in
            state.scans[number] = continuation
            state.begun += 1
        }
        for reading in script { continuation.yield(reading) }
        switch ending {
        case .open: break
        case .finish: continuation.finish()
        case .failure(let error): continuation.finish(throwing: error)
        }
        return stream
    }

    /// Delivers a reading to all running scans.
    public func send(_ reading: SensorReading) {
        for scan in state.value.scans.values { scan.yield(reading) }
    }

    /// Ends all running scans.
    public func finish() {
        for scan in state.value.scans.values { scan.finish() }
    }

    /// Ends all running scans with an error.
    public func fail(_ error: any Error) {
        for scan in state.value.scans.values { scan.finish(throwing: error) }
    }

    /// The number of scans that have begun, including those that have ended.
    public var scanCount: Int { state.value.begun }
    /// The number of running scans.
    public var runningScanCount: Int { state.value.begun - state.value.ended }

    /// Waits until the given number of scans have begun.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func waitForScans(_ count: Int = 1) async throws {
        try await state.wait { $0.begun >= count }
    }

    /// Waits until no scan runs.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func waitUntilNothingRuns() async throws {
        try await state.wait { $0.begun == $0.ended }
    }
}

/// As a GNSS receiver beside another source, the source delivers only its GNSS positions.
extension ScriptedSource: GNSSSource {
    /// Begins a scan that delivers only the GNSS positions.
    public func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        let readings = readings()
        return .produced { continuation in
            for try await case .gnss(let fix) in readings { continuation.yield(fix) }
        }
    }
}

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

// These functions let a test send single readings to a state machine without a decoder.

extension LocalizationMachine.Event {
    /// Returns the event of a reading without earlier readings.
    package static func reading(_ reading: SensorReading) -> Self { .reading(DecodedReading(first: reading)) }
}

extension FloorPlanLocalizerMachine.Event {
    /// Returns the event of a reading without earlier readings.
    package static func reading(_ reading: SensorReading, delay: Duration) -> Self {
        .reading(DecodedReading(first: reading), delay: delay)
    }
}

extension ScanMachine.Event {
    /// Returns the event of a reading without earlier readings.
    package static func reading(_ reading: SensorReading) -> Self { .reading(DecodedReading(first: reading)) }
}

extension DecodedReading {
    fileprivate init(first reading: SensorReading) {
        var decoder = ReadingDecoder()
        self = decoder.decode(reading)
    }
}
