import IndoorLocalization

/// A scan source with readings from a test: all at once from an array, or one at a time while it runs.
///
///     let source = ScriptedSource()                       // live: nothing until `send`
///     let replayed = ScriptedSource(readings)             // recorded: all of them, then the end
///     let broken = ScriptedSource(readings, failure: e)   // recorded: all of them, then an error
public final class ScriptedSource: ScanSource {
    private struct State: Sendable {
        var scans: [Int: AsyncThrowingStream<SensorReading, any Error>.Continuation] = [:]
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
            state.begun += 1
            state.scans[state.begun] = continuation
            return state.begun
        }
        continuation.onTermination = { [state] _ in
            state.update { state in
                state.scans[number] = nil
                state.ended += 1
            }
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
