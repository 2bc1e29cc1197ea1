import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A live session in accelerated time: a walker repeats a walk of about four minutes in the office.
struct SimulatedDay {
    /// The results.
    struct Report: Codable {
        var hours: Double
        var seconds: Double
        var rounds: Int
        var readings: Int
        var positions: Int
        /// After a tenth of the rounds.
        var before: Usage
        var after: Usage
        /// The slope of the allocated bytes from there on, in bytes per hour of the walk.
        var heapBytesPerHour: Double
        var droppedElements: Int
        /// The median error of the positions in metres in the first rounds and in the last ones.
        var firstError: Double
        var lastError: Double
        var firstPercentile90: Double
        var lastPercentile90: Double
        /// The descriptions of the errors that the session emitted.
        var errors: [String]
    }

    /// The numbers of positions that have reached the readers of the streams.
    private struct Received: Sendable {
        var positions = 0
        var outputs = 0
    }

    private let hours: Double
    private let settings: LocalizationSettings
    private let venue: Venue
    private let readings: [SensorReading]
    private let truths: [Truth]
    /// The duration of a round in seconds.
    private let round: Double

    /// - Parameter particles: the number of particles; nil for that of the packet.
    init(hours: Double, particles: Int?) throws {
        self.hours = hours
        var settings = LocalizationSettings()
        if let particles { settings.positioning.particleCount = particles }
        self.settings = settings
        let office = try FixtureFolder("office")
        venue = try VenuePacketReader().read(office.path).venue
        var script = try WalkScript(json: Data(contentsOf: URL(filePath: try office.file("paths/track-upper.json"))))
        let there = script.path.points
        let circle = there + there.dropFirst().dropLast().reversed()
        script.path.points = (0..<2).flatMap { _ in circle } + circle.prefix(1)
        let walk = try WalkSimulator(venue: venue, script: script, seed: 3)
        round = walk.duration.seconds.rounded(.up)
        var (readings, truths): ([SensorReading], [Truth]) = ([], [])
        for entry in walk.entries() {
            switch entry {
            case .measurement(let reading): readings.append(reading)
            case .truth(let truth): truths.append(truth)
            default: break
            }
        }
        (self.readings, self.truths) = (readings, truths)
    }

    func run() async throws -> Report {
        let begin = ContinuousClock.now
        let (clock, source) = (ManualClock(), ScriptedSource())
        // The history of events grows up to its capacity, by default for some hours. A small one is full at the beginning.
        let localizer = Localizer(
            source: source, venues: VenueLibrary([venue]), settings: settings, clock: clock, seed: 1,
            eventHistory: EventHistory(capacity: 10))
        let (positions, outputs, errors) = (localizer.positions, localizer.outputs, localizer.errors)
        let score = Guarded<[Int: [Double]]>([:])
        let received = WatchedState(Received())
        let scorer = Task { [truths, round] in
            for await position in positions {
                let seconds = position.instant.seconds - 1
                let error = Self.error(of: position, at: seconds.truncatingRemainder(dividingBy: round), truths)
                score.withLock { $0[Int(seconds / round), default: []].append(error) }
                received.update { $0.positions += 1 }
            }
        }
        let reader = Task {
            for await output in outputs {
                if case .position = output.content { received.update { $0.outputs += 1 } }
            }
        }
        let failures = Task {
            var descriptions: [String] = []
            for await error in errors { descriptions.append(String(describing: error)) }
            return descriptions
        }
        await localizer.start()
        try await source.waitForScans()
        try await waitUntilHandled(0, by: localizer, received)

        let rounds = max(2, Int((hours * 3600 / round).rounded()))
        let warm = max(1, rounds / 10)
        var samples: [Usage] = []
        var quantiles: [(median: Double, percentile90: Double)] = []
        var sent = 0
        for index in 0..<rounds {
            try await play(index, to: localizer, source, clock, received, &sent)
            // Only two numbers of each round stay, so that the measurement itself needs no memory.
            let errors = score.withLock { score in (score.removeValue(forKey: index) ?? []).sorted() }
            guard !errors.isEmpty else { throw CycleError("round \(index) has no position") }
            quantiles.append((errors[errors.count / 2], errors[errors.count * 9 / 10]))
            if index >= warm - 1 { samples.append(try Usage()) }
        }
        let counts = await localizer.activityCounts
        await localizer.stop()
        localizer.finishStreams()
        let dropped = localizer.droppedElements
        _ = await (scorer.value, reader.value)
        func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        let (first, last) = (quantiles.prefix(min(6, rounds / 2)), quantiles.suffix(min(6, rounds / 2)))
        return Report(
            hours: Double(rounds) * round / 3600, seconds: begin.duration(to: .now).seconds, rounds: rounds,
            readings: counts.readings, positions: counts.positions, before: samples[0],
            after: samples[samples.count - 1], heapBytesPerHour: Self.slope(samples.map(\.heapBytes)) * 3600 / round,
            droppedElements: dropped, firstError: middle(first.map(\.median)), lastError: middle(last.map(\.median)),
            firstPercentile90: middle(first.map(\.percentile90)), lastPercentile90: middle(last.map(\.percentile90)),
            errors: await failures.value)
    }

    /// Delivers the readings of a round, each at its instant.
    ///
    /// The session handles each wake-up and each reading before time passes, so that a slow machine changes no result.
    private func play(
        _ index: Int, to localizer: Localizer, _ source: ScriptedSource, _ clock: ManualClock,
        _ received: WatchedState<Received>, _ sent: inout Int
    ) async throws {
        // The first instant is 1 s, as in a recording.
        let offset = Duration.seconds(Double(index) * round + 1)
        for reading in readings {
            let reading = shifted(reading, by: offset)
            clock.advance(to: reading.instant)
            try await waitUntilHandled(sent, by: localizer, received)
            source.send(reading)
            sent += 1
            try await waitUntilHandled(sent, by: localizer, received)
        }
        clock.advance(to: Instant(seconds: round).advanced(by: offset))
        try await waitUntilHandled(sent, by: localizer, received)
    }

    /// Waits until the session has handled the readings and all wake-ups that are due, and waits for no venue; and until
    /// the readers have its positions, because a stream drops elements if its reader is late.
    private func waitUntilHandled(
        _ readings: Int, by localizer: Localizer, _ received: WatchedState<Received>
    ) async throws {
        let end = ContinuousClock.now + Bounded.longest
        while ContinuousClock.now < end {
            if await localizer.hasHandled(readings) {
                let positions = await localizer.activityCounts.positions
                let read = received.value
                if min(read.positions, read.outputs) >= positions { return }
            }
            await Task.yield()
        }
        throw CycleError("the session does not handle its readings")
    }

    private func shifted(_ reading: SensorReading, by offset: Duration) -> SensorReading {
        var shifted = reading
        shifted.instant = reading.instant.advanced(by: offset)
        return shifted
    }

    /// Returns the distance in metres from a position to the truth at an instant of the round.
    private static func error(of position: Position, at seconds: Double, _ truths: [Truth]) -> Double {
        let after = truths.firstIndex { $0.instant.seconds > seconds } ?? truths.count - 1
        let (first, second) = (truths[max(0, after - 1)], truths[after])
        guard let from = first.point, let to = second.point, second.mapID == position.mapID else { return 50 }
        let span = second.instant.seconds - first.instant.seconds
        let share = span > 0 ? min(1, max(0, (seconds - first.instant.seconds) / span)) : 0
        let (x, y) = (from.x + share * (to.x - from.x), from.y + share * (to.y - from.y))
        return hypot(position.x - x, position.y - y)
    }

    /// Returns the least-squares slope of values over their indices.
    private static func slope(_ values: [Int]) -> Double {
        guard values.count > 1 else { return 0 }
        let mean = Double(values.reduce(0, +)) / Double(values.count)
        let middle = Double(values.count - 1) / 2
        let deviations = values.enumerated().map { (Double($0) - middle, Double($1) - mean) }
        return deviations.reduce(0) { $0 + $1.0 * $1.1 } / deviations.reduce(0) { $0 + $1.0 * $1.0 }
    }
}

extension Localizer {
    fileprivate func hasHandled(_ readings: Int) -> Bool {
        guard activityCounts.readings >= readings, !isTickDue else { return false }
        return switch state {
        case .started, .getPacket: false
        case .idle, .searchVenue, .findFloor, .localizationRunning, .error: true
        }
    }
}
