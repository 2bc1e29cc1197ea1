import IndoorLocalization

/// A scan whose readings a test writes: all at once from an array, or one by one while it runs.
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

    /// Creates a source that delivers what the test sends, until `finish()` or `fail(_:)`.
    public init(pace: ScanPace = .live) {
        self.pace = pace
        script = []
        ending = .open
    }

    /// Creates a source each of whose scans delivers these readings and then ends, with an error if there is one.
    public init(_ readings: [SensorReading], pace: ScanPace = .recorded, failure: (any Error)? = nil) {
        self.pace = pace
        script = readings
        ending = failure.map(Ending.failure) ?? .finish
    }

    /// How its instants relate to Unix time; nil, as it is at first, for a source without a wall clock. A test may set it at
    /// any time, as users set the clock of a machine.
    public var wallClock: WallClock? {
        get { state.value.wallClock }
        set { state.update { $0.wallClock = newValue } }
    }

    /// Begins a scan: first the script, then what is sent while the scan runs.
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

    /// Delivers a reading to all scans that run.
    public func send(_ reading: SensorReading) {
        for scan in state.value.scans.values { scan.yield(reading) }
    }

    /// Ends all scans that run.
    public func finish() {
        for scan in state.value.scans.values { scan.finish() }
    }

    /// Lets all scans that run fail.
    public func fail(_ error: any Error) {
        for scan in state.value.scans.values { scan.finish(throwing: error) }
    }

    /// How many scans have begun, those that have ended included.
    public var scanCount: Int { state.value.begun }
    /// How many scans run now.
    public var runningScanCount: Int { state.value.begun - state.value.ended }

    /// Returns as soon as so many scans have begun.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before that.
    public func waitForScans(_ count: Int = 1) async throws {
        try await state.wait { $0.begun >= count }
    }

    /// Returns as soon as no scan runs.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before that.
    public func waitUntilNothingRuns() async throws {
        try await state.wait { $0.begun == $0.ended }
    }
}

/// As a satellite receiver beside another source, it delivers its satellite positions and nothing else.
extension ScriptedSource: GNSSSource {
    /// Begins a scan, of which only the satellite positions are delivered.
    public func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        let readings = readings()
        return .produced { continuation in
            for try await case .gnss(let fix) in readings { continuation.yield(fix) }
        }
    }
}
