import IndoorLocalization

/// A scan source with injected faults, for tests of an application's response to faults of its radio.
///
///     let source = FaultySource(radio, [ScanFault(.failure, at: .seconds(15), for: .seconds(10))], seed: 1)
///     let localizer = Localizer(source: source, venues: venues, clock: clock)
///
/// The source wraps any other source. The times of the faults count from the first reading of the wrapped source, in
/// its instants, and continue across scans: a fault that has ended doesn't return. A wrapped recording ends at a
/// ``ScanFault/Kind/failure``, because another scan of the recording would start from its beginning.
///
/// Readings of a live source go through a buffer, as with the sources of `BlueZScanning`. If the session is slower, the
/// oldest readings are lost and counted. Readings of a recording are read one at a time, when the reader requests them.
///
/// A class, because the scans of one source share its faults.
public final class FaultySource: Sendable {
    private struct State: Sendable {
        var injection: FaultInjection
        var received = 0
        var delivered = 0
        var lost = 0
    }

    private let source: any ScanSource
    private let capacity: Int
    private let state: Guarded<State>

    /// Wraps a source, without starting it.
    ///
    /// - Parameters:
    ///   - source: the undisturbed source.
    ///   - faults: the faults; several can exist at the same time.
    ///   - seed: the seed of all random choices. The same readings, faults and seed give the same disturbed readings.
    ///   - capacity: the maximum number of readings that wait for the reader of a live source, from 1; by default, the
    ///     same number as in the sources of `BlueZScanning`.
    public init(_ source: some ScanSource, _ faults: [ScanFault], seed: UInt64 = 0, capacity: Int = 65_536) {
        self.source = source
        self.capacity = max(1, capacity)
        state = Guarded(State(injection: FaultInjection(faults, seed: seed)))
    }

    /// The number of readings of the wrapped source in all scans.
    ///
    /// A reading is counted before the readings that result from it are delivered.
    public var receivedReadings: Int { state.withLock { $0.received } }
    /// The number of delivered sightings and advertisements in all scans, including injected and lost ones.
    public var deliveredReadings: Int { state.withLock { $0.delivered } }
    /// The number of readings that were discarded because the reader was too slow.
    public var lostReadings: Int { state.withLock { $0.lost } }
}

extension FaultySource: WrappingScanSource {
    public var pace: ScanPace { source.pace }

    /// The wall clock of the source with the current error; nil if the source has none.
    public var wallClock: WallClock? {
        guard var clock = source.wallClock else { return nil }
        clock.timeOfZero += state.withLock { $0.injection.wallShift }
        return clock
    }

    package func readings(
        timing: ScanTiming?, reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        let readings = source.beginReadings(timing: timing, reporting: report)
        switch pace {
        case .live:
            return ReadingFeed.readings(
                capacity: capacity,
                onLoss: { [self] in state.withLock { $0.lost += 1 } },
                producedBy: { [self] feed in
                    for try await reading in readings { try deliver(reading) { feed.yield($0) } }
                    for output in end() { feed.yield(output) }
                })
        case .recorded: return pulled(readings)
        }
    }

    /// Passes the disturbed readings to `yield`; throws at a failure.
    private func deliver(_ reading: SensorReading, _ yield: (SensorReading) -> Void) throws {
        // The readings are delivered outside of the lock, because `yield` resumes a waiting reader.
        let outputs = outputs(of: reading)
        for case .reading(let reading) in outputs { yield(reading) }
        if outputs.last == .failure { throw ScanFault.failure }
    }

    private func outputs(of reading: SensorReading) -> [FaultInjection.Output] {
        state.withLock { state in
            var outputs: [FaultInjection.Output] = []
            state.received += 1
            state.injection.add(reading) { outputs.append($0) }
            state.delivered += outputs.count {
                if case .reading(let reading) = $0 { reading.isReception } else { false }
            }
            return outputs
        }
    }

    private func end() -> [SensorReading] {
        state.withLock { state in
            var readings: [SensorReading] = []
            state.injection.end { if case .reading(let reading) = $0 { readings.append(reading) } }
            state.delivered += readings.count { $0.isReception }
            return readings
        }
    }

    /// Returns a stream that reads the source only when its reader requests a reading.
    private func pulled(
        _ readings: AsyncThrowingStream<SensorReading, any Error>
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        let waiting = Guarded<(ready: ArraySlice<SensorReading>, ending: Ending?)>(([], nil))
        return AsyncThrowingStream { [self] in
            while true {
                let (next, ending) = waiting.withLock { ($0.ready.popFirst(), $0.ending) }
                if let next { return next }
                switch ending {
                case .failure: throw ScanFault.failure
                case .finish: return nil
                case nil: break
                }
                // All iterators of a stream share its elements.
                var iterator = readings.makeAsyncIterator()
                if let reading = try await iterator.next() {
                    var ready: [SensorReading] = []
                    let hasFailed = (try? deliver(reading) { ready.append($0) }) == nil
                    waiting.withLock { $0 = (ready[...], hasFailed ? .failure : nil) }
                } else {
                    let ready = end()[...]
                    waiting.withLock { $0 = (ready, .finish) }
                }
            }
        }
    }

    private enum Ending: Sendable {
        case finish
        case failure
    }
}

extension SensorReading {
    /// Whether the reading is one of a radio.
    fileprivate var isReception: Bool {
        switch self {
        case .sighting, .advertisement: true
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio: false
        }
    }
}
