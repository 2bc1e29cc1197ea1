import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import XCTest

/// Random stops, delays and lost answers of several owners of one partition, against a store with compare-and-set.
final class PartitionTakeoverTests: XCTestCase {
    private static let start = Instant(seconds: 1_800_000_000)

    /// A store whose answers can be lost, and whose writes can take effect late.
    private struct Store {
        private(set) var value: StoredSnapshot?
        /// The writes on their way.
        var late: [PartitionRun<CountingMachine>.Write] = []
        private var lastRevision: UInt64 = 0

        /// Returns the new revision; nil if the revision is another one.
        mutating func apply(_ write: PartitionRun<CountingMachine>.Write) -> UInt64? {
            guard write.revision == value?.revision else { return nil }
            lastRevision += 1
            value = StoredSnapshot(bytes: write.bytes, revision: lastRevision)
            return lastRevision
        }
    }

    private struct Simulation {
        var store = Store()
        var runs: [PartitionRun<CountingMachine>] = []
        var emitted: [FleetOutput] = []
        var claims: [UInt64] = []
        let entries: [LogEntry]
        var appended = 0

        init() throws {
            entries = try (1...120).map { number in
                let instant = start.advanced(by: .milliseconds(number * 10))
                let reading = TagReading(
                    tag: try XCTUnwrap(TagKey("tag\(number % 5)")), receiver: "hall", instant: instant, rssi: -60)
                return LogEntry(sequence: UInt64(number) * 3, storedAt: instant, reading: reading)
            }
        }

        mutating func takeOver(_ name: Int) throws {
            runs.append(
                try PartitionRun(
                    partition: 0, continuing: store.value, owner: "\(name)", leastEpoch: 1, at: .zero,
                    unixTime: start, make: CountingMachine.init))
        }

        mutating func step(_ index: Int, using generator: inout SeededGenerator) throws {
            switch runs[index].phase {
            case .claiming: try write(index, using: &generator)
            case .owning where generator.uniform() < 0.3: try write(index, using: &generator)
            case .owning:
                let next = entries.prefix(appended).filter { $0.sequence > runs[index].sequence }
                // The log delivers an entry again now and then.
                let first = entries.prefix(appended).filter { $0.sequence <= runs[index].sequence }.suffix(1)
                let batch = (generator.uniform() < 0.2 ? Array(first) : []) + next.prefix(4)
                emitted += runs[index].observe(batch, isLast: next.count <= 4, unixTime: start)
            case .doubtful:
                if generator.uniform() < 0.5 { try runs[index].reconcile(store.value, at: .zero) }
            case .fenced: break
            }
        }

        private mutating func write(_ index: Int, using generator: inout SeededGenerator) throws {
            let write = runs[index].write()
            let isClaim = runs[index].phase == .claiming
            switch generator.uniform() {
            case ..<0.6:
                guard let revision = store.apply(write) else { return runs[index].recordFailure() }
                runs[index].recordStored(revision: revision, at: .zero)
                if isClaim { claims.append(runs[index].epoch) }
            case ..<0.75:
                // The write takes effect, but the answer is lost.
                _ = store.apply(write)
                runs[index].recordFailure()
            case ..<0.9:
                store.late.append(write)
                runs[index].recordFailure()
            default: runs[index].recordFailure()
            }
        }
    }

    func testEachReadingIsCountedOnceUnderRandomStopsDelaysAndLostAnswers() throws {
        for seed in 0..<100 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var simulation = try Simulation()
            try simulation.takeOver(0)
            for step in 1...400 {
                simulation.appended = min(simulation.entries.count, step / 2)
                if generator.uniform() < 0.03 { try simulation.takeOver(step) }
                if generator.uniform() < 0.05, !simulation.store.late.isEmpty {
                    _ = simulation.store.apply(simulation.store.late.removeFirst())
                }
                // Owners that have lost the partition go on, as stopped processes do when they continue.
                let index = Int(generator.uniform() * Double(simulation.runs.count))
                try simulation.step(min(index, simulation.runs.count - 1), using: &generator)
            }
            try finish(&simulation)
            try check(simulation, seed)
        }
    }

    /// Lets one last owner observe the rest of the log.
    private func finish(_ simulation: inout Simulation) throws {
        simulation.appended = simulation.entries.count
        try simulation.takeOver(-1)
        let last = simulation.runs.count - 1
        for _ in 0..<100 {
            let write = simulation.runs[last].write()
            if let revision = simulation.store.apply(write) {
                simulation.runs[last].recordStored(revision: revision, at: .zero)
            }
            let sequence = simulation.runs[last].sequence
            let rest = simulation.entries.filter { $0.sequence > sequence }
            simulation.emitted += simulation.runs[last].observe(
                Array(rest.prefix(7)), isLast: rest.isEmpty, unixTime: Self.start)
        }
    }

    private func check(_ simulation: Simulation, _ seed: UInt64) throws {
        let stored = try XCTUnwrap(simulation.store.value)
        let state = try PartitionState(stored.bytes, key: "state")
        let machine = try CountingMachine(epoch: 0, snapshot: state.snapshot)
        let expected = Dictionary(grouping: simulation.entries, by: { $0.reading.tag.description })
            .mapValues { $0.map(\.reading.instant.nanoseconds) }
        XCTAssertEqual(machine.seen, expected, "seed \(seed)")
        XCTAssertEqual(state.readings, UInt64(simulation.entries.count), "seed \(seed)")
        // Stored claims increase in their epoch.
        XCTAssertEqual(simulation.claims, Array(Set(simulation.claims)).sorted(), "seed \(seed)")
        // A reader that drops outputs of an earlier epoch or sequence has the counts in increasing order.
        var latest: [TagKey: FleetOutput] = [:]
        for output in simulation.emitted {
            if let last = latest[output.tag], (last.epoch, last.sequence) >= (output.epoch, output.sequence) {
                continue
            }
            latest[output.tag] = output
        }
        for (tag, output) in latest {
            XCTAssertEqual(output.name, "\(expected[tag.description]?.count ?? 0)", "seed \(seed), \(tag)")
        }
        // All runs but the last one are fenced as soon as they write.
        for var run in simulation.runs.dropLast() where run.phase != .claiming {
            run.recordFailure()
            try run.reconcile(stored, at: .zero)
            guard case .fenced = run.phase else { return XCTFail("seed \(seed): \(run.owner) is \(run.phase)") }
        }
    }
}
