import IndoorLocalization

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
