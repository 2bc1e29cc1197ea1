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
    /// The number of delivered sightings and advertisements that were discarded because the reader was too slow.
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
                onLoss: { [self] reading in if reading.isReception { state.withLock { $0.lost += 1 } } },
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

/// A fault of a scan, with its time.
///
///     ScanFault(.duplicates(share: 0.5), at: .seconds(15), for: .seconds(10))
///     ScanFault(.suspension(.seconds(8 * 3600), isCounted: true), at: .seconds(15))
public struct ScanFault: Hashable, Sendable {
    /// The effect on the readings.
    public enum Kind: Hashable, Sendable {
        /// A share of the readings, in [0, 1], arrives twice.
        case duplicates(share: Double)
        /// Half of the readings arrive later than the following ones, by up to a duration.
        case reordering(longest: Duration)
        /// The instants differ from the correct ones by a duration, negative for earlier instants.
        case instantJump(by: Duration)
        /// The wall clock differs from the correct time by a duration, negative for an earlier time. Instants are
        /// correct.
        case wallClockJump(by: Duration)
        /// The machine was suspended for a duration, at the start of the fault. If `isCounted` is true, the instants
        /// include that time; otherwise they stop during the suspension. The wall clock includes it in both cases.
        case suspension(Duration, isCounted: Bool)
        /// No reading arrives.
        case silence
        /// Sightings of foreign beacons arrive, `rate` per second, each with one of `identities` random identities.
        case flood(rate: Double, identities: UInt64)
        /// The adapter is removed, and plugged in again at the end of the fault. The source reports both, as the
        /// sources of `BlueZScanning` do, and its scan continues.
        case unplugging
        /// The scan ends with an error. Until the end of the fault, each new scan also ends at its first reading.
        case failure
    }

    /// The effect on the readings.
    package var kind: Kind
    /// The start, counted from the first reading of the source.
    package var start: Duration
    /// The duration of the fault; nil for a fault that lasts until the end of the readings.
    package var duration: Duration?

    /// Creates a fault from its parts.
    public init(_ kind: Kind, at start: Duration, for duration: Duration? = nil) {
        (self.kind, self.start, self.duration) = (kind, start, duration)
    }

    /// The error of ``Kind/failure``: a session starts the scan again after a pause.
    public static let failure = LocalizationError(
        code: .generic, message: "the Bluetooth adapter was removed during the scan; plug it in again",
        kind: .sensorFailed)

    /// Returns whether the fault is active at a time since the first reading.
    func isActive(at time: Duration) -> Bool { time >= start && !isOver(at: time) }

    func isOver(at time: Duration) -> Bool { duration.map { time >= start + $0 } ?? false }
}

/// The injection of faults into readings: a value whose only inputs are the undisturbed readings.
///
/// It measures time only by the instants of the undisturbed readings. The same readings, faults and seed give the same
/// outputs.
struct FaultInjection: Hashable, Sendable {
    /// An element that a reader of the disturbed source receives.
    enum Output: Hashable, Sendable {
        case reading(SensorReading)
        /// The end of the scan, by an error.
        case failure
    }

    /// A reading that arrives late.
    private struct Held: Hashable, Sendable {
        var due: Duration
        var reading: SensorReading
    }

    /// The longest interval that is flooded at once after a pause of the undisturbed readings.
    private static let floodLimit = Duration.seconds(1)
    /// The levels of foreign beacons in dBm.
    private static let foreignRSSI = -95.0 ... -60.0
    private static let identitiesOfUUID: UInt64 = 1 << 32

    private let faults: [ScanFault]
    private var generator: SeededGenerator
    /// The instant of the first reading; nil before it.
    private var origin: Instant?
    /// The time of the latest reading, since the first one.
    private var latest = Duration.zero
    /// The held readings, the earliest due first.
    private var held: [Held] = []
    private var isUnplugged = false
    /// The current error of the wall clock.
    private(set) var wallShift = Duration.zero

    init(_ faults: [ScanFault], seed: UInt64) {
        self.faults = faults
        generator = SeededGenerator(seed: seed)
    }

    /// Adds an undisturbed reading; passes the readings that arrive now to `deliver`, in order, until a failure.
    mutating func add(_ reading: SensorReading, deliver: (Output) -> Void) {
        let first = origin ?? reading.instant
        origin = first
        let time = first.duration(to: reading.instant)
        let before = latest
        latest = max(latest, time)
        wallShift = shift(at: time) { kind in
            switch kind {
            case .wallClockJump(let jump): jump
            case .suspension(let pause, isCounted: false): pause
            default: .zero
            }
        }
        let active = faults.filter { $0.isActive(at: time) }.map(\.kind)
        if active.contains(.failure) {
            held = []
            return deliver(.failure)
        }
        let status: RadioEvent.Status = active.contains(.unplugging) ? .unplugged : .scanning
        if isUnplugged != (status == .unplugged) {
            isUnplugged.toggle()
            let event = RadioEvent(instant: displaced(first.advanced(by: time)), status: status, adapter: "hci0")
            deliver(.reading(.radio(event)))
        }
        guard !isUnplugged, !active.contains(.silence) else { return }
        for case .flood(let rate, let identities) in active {
            flood(rate, identities, from: max(before, time - Self.floodLimit), to: time, deliver)
        }
        release(upTo: time, deliver)
        var moved = reading
        moved.instant = displaced(reading.instant)
        for case .reordering(let longest) in active where generator.uniform() < 0.5 {
            let due = time + .seconds(longest.seconds * generator.uniform())
            let place = held.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
            return held.insert(Held(due: due, reading: moved), at: place)
        }
        deliver(.reading(moved))
        for case .duplicates(let share) in active where generator.uniform() < share { deliver(.reading(moved)) }
    }

    /// Passes the readings that are still held to `deliver`, at the end of the source.
    mutating func end(deliver: (Output) -> Void) {
        for next in held { deliver(.reading(next.reading)) }
        held = []
    }

    /// Returns the sum of a shift over all faults that are active.
    private func shift(at time: Duration, _ shift: (ScanFault.Kind) -> Duration) -> Duration {
        faults.reduce(.zero) { $0 + ($1.isActive(at: time) ? shift($1.kind) : .zero) }
    }

    /// Returns the instant that a reading gets instead of its undisturbed instant.
    private func displaced(_ instant: Instant) -> Instant {
        let time = (origin ?? instant).duration(to: instant)
        return instant.advanced(
            by: shift(at: time) { kind in
                switch kind {
                case .instantJump(let jump): jump
                case .suspension(let pause, isCounted: true): pause
                default: .zero
                }
            })
    }

    private mutating func release(upTo time: Duration, _ deliver: (Output) -> Void) {
        let count = held.firstIndex { $0.due > time } ?? held.count
        for next in held.prefix(count) { deliver(.reading(next.reading)) }
        held.removeFirst(count)
    }

    /// Delivers foreign sightings, evenly between two times.
    private mutating func flood(
        _ rate: Double, _ identities: UInt64, from first: Duration, to last: Duration, _ deliver: (Output) -> Void
    ) {
        guard let origin, rate > 0, identities > 0 else { return }
        // Rounding both ends in the same way makes the counts of adjacent intervals add up to the rate.
        let (begin, end) = (Int((first.seconds * rate).rounded(.up)), Int((last.seconds * rate).rounded(.up)))
        for number in begin..<max(begin, end) {
            let instant = displaced(origin.advanced(by: .seconds(Double(number) / rate)))
            let identity = generator.next() % identities
            let beacon = BeaconIdentity(
                uuid: BeaconUUID(high: 0xF100_D000_0000_4000, low: identity / Self.identitiesOfUUID),
                major: UInt16(truncatingIfNeeded: identity >> 16), minor: UInt16(truncatingIfNeeded: identity))
            let span = Self.foreignRSSI.upperBound - Self.foreignRSSI.lowerBound
            let rssi = Self.foreignRSSI.lowerBound + generator.uniform() * span
            deliver(.reading(.sighting(Sighting(instant: instant, beacon: beacon, rssi: rssi))))
        }
    }
}
