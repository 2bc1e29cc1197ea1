import CBench
import IndoorLocalization
import TagTracking

/// A benchmark with its name. Its data are created when it runs.
struct Benchmark: Sendable {
    let name: String
    let run: @Sendable (_ name: String) async throws -> BenchResult

    /// All benchmarks in the order of the output.
    static let all =
        [
            Benchmark(name: "decode", run: decode), Benchmark(name: "decode-and-stream", run: decodeAndStream),
            Benchmark(name: "decode-espresense") { try await decode($0, GatewayBench(.espresense, messages: 10_000)) },
            Benchmark(name: "decode-openmqttgateway") {
                try await decode($0, GatewayBench(.openMQTTGateway, messages: 10_000))
            },
            Benchmark(name: "decode-ruuvi") { try await decode($0, GatewayBench(.ruuvi, messages: 10_000)) },
            Benchmark(name: "weigh", run: weigh),
        ] + filterSteps + [
            Benchmark(name: "fix-grid") { name in
                let room = BenchVenue(width: 12, height: 10, beacons: 8)
                return try await fix(name, FixBench(room, surveyedEvery: nil, heard: 8)) { $0.grid() }
            },
            Benchmark(name: "fix-least-squares") { name in
                let room = BenchVenue(width: 12, height: 10, beacons: 8)
                return try await fix(name, FixBench(room, surveyedEvery: nil, heard: 8)) { $0.leastSquares() }
            },
            Benchmark(name: "fingerprint-query") { name in
                let hall = BenchVenue(width: 150, height: 150, beacons: 400)
                return try await fix(name, FixBench(hall, surveyedEvery: 10, heard: 20)) { $0.grid() }
            },
            Benchmark(name: "fences-walk") { try await areas($0, finding: 100...10_000) { $0.go() } },
            Benchmark(name: "fences-stay") { try await areas($0, finding: 0...0) { $0.stay() } },
            Benchmark(name: "room-label") { try await areas($0, finding: 500...1_000) { $0.label() } },
            Benchmark(name: "session") { name in
                try await replay(name, SessionBench(rounds: 1, motionRate: 0))
            },
            Benchmark(name: "replay-walk") { try await replay($0, SessionBench(rounds: 10, motionRate: 50)) },
            Benchmark(name: "tag-standard") { try await tags($0, .standard) },
            Benchmark(name: "tag-light") { try await tags($0, .light) },
            Benchmark(name: "first-position") { try await start($0, LargeVenueBench(.open)) },
            Benchmark(name: "first-position-walls") { try await start($0, LargeVenueBench(.walls)) },
            Benchmark(name: "first-position-survey") { try await start($0, LargeVenueBench(.survey)) },
            Benchmark(name: "first-position-largest") { try await start($0, LargeVenueBench(.largest)) },
            Benchmark(name: "route-astar") { try await route($0, .aStar) },
            Benchmark(name: "route-dijkstra") { try await route($0, .dijkstra) },
        ]

    /// The benchmark that replays the longest track of a data set.
    static func dataSet(_ path: String) -> Benchmark {
        Benchmark(name: "replay-data-set") { try await replay($0, SessionBench(dataSet: path)) }
    }

    private static let advertisements = 10_000

    private static func decode(_ name: String) async throws -> BenchResult {
        let bench = try DecodeBench(advertisements: advertisements)
        var sums = (DecodeBench.Sum(), DecodeBench.Sum())
        let result = try await BenchTimer().measure(
            name, unit: "advertisement", count: bench.ranges.count, { sums.0 = bench.decode() },
            reference: { sums.1 = bench.decodeInC() })
        guard sums.0 == sums.1, sums.0.count > 0 else { throw BenchFailure(name: name) }
        return result
    }

    private static func decodeAndStream(_ name: String) async throws -> BenchResult {
        let bench = try DecodeBench(advertisements: advertisements)
        var sum = DecodeBench.Sum()
        let result = try await BenchTimer().measure(name, unit: "advertisement", count: bench.ranges.count) {
            sum = try await bench.decodeThroughStream()
        }
        guard sum == bench.decode() else { throw BenchFailure(name: name) }
        return result
    }

    /// The time per message of a gateway.
    private static func decode(_ name: String, _ bench: GatewayBench) async throws -> BenchResult {
        var sum: Double?
        let result = try await BenchTimer().measure(name, unit: "message", count: bench.payloads.count) {
            sum = bench.decode()
        }
        guard let sum, sum < 0 else { throw BenchFailure(name: name) }
        return result
    }

    private static func weigh(_ name: String) async throws -> BenchResult {
        var bench = WeighBench(particles: 10_000)
        let timer = BenchTimer()
        var reference = bench
        let result = try await timer.measure(
            name, unit: "particle, beacon", count: bench.count, { bench.weigh() }, reference: { reference.weighInC() })
        // The tolerance of two logarithms accurate to 1e-7, five times for each of 8 beacons.
        guard bench.difference(to: reference) < 1e-3 else { throw BenchFailure(name: name) }
        return result
    }

    private static let filterSteps = [(1_000, "1k"), (10_000, "10k"), (100_000, "100k")].map { count, label in
        Benchmark(name: "filter-step-\(label)") { name in
            var bench = FilterBench(particles: count)
            // Each round walks once around the building, so that all rounds do the same work.
            let steps = bench.evidence.count
            var isLost = false
            let result = try await BenchTimer(rounds: count > 10_000 ? 3 : 11).measure(
                name, unit: "step", count: steps
            ) {
                for _ in 0..<steps where bench.step() == nil { isLost = true }
            }
            guard !isLost else { throw BenchFailure(name: name) }
            return result
        }
    }

    private static func fix(
        _ name: String, _ bench: FixBench, _ find: (inout FixBench) -> MapPoint?
    ) async throws -> BenchResult {
        var bench = bench
        let turns = bench.evidence.count
        var isLost = false
        let result = try await BenchTimer().measure(name, unit: "fix", count: turns) {
            for _ in 0..<turns where find(&bench) == nil { isLost = true }
        }
        guard !isLost else { throw BenchFailure(name: name) }
        return result
    }

    /// The time per position with 10,000 areas.
    ///
    /// - Parameter expected: the expected number of changes or places per round.
    private static func areas(
        _ name: String, finding expected: ClosedRange<Int>, _ work: (inout AreaBench) -> Int
    ) async throws -> BenchResult {
        var bench = AreaBench(areas: 10_000)
        var found = 0
        let result = try await BenchTimer().measure(name, unit: "position", count: bench.walk.count) {
            found = work(&bench)
        }
        guard expected.contains(found) else { throw BenchFailure(name: name) }
        return result
    }

    private static func route(_ name: String, _ algorithm: RouteAlgorithm) async throws -> BenchResult {
        var bench = RouteBench(floors: 5, side: 142, algorithm: algorithm)
        var floors = 0
        let result = try await BenchTimer().measure(name, unit: "route", count: 1) {
            floors = Set(bench.route()?.vertices.map(\.mapID) ?? []).count
        }
        guard floors == 5 else { throw BenchFailure(name: name) }
        return result
    }

    private static func replay(_ name: String, _ bench: SessionBench) async throws -> BenchResult {
        var positions = 0
        let seconds = bench.seconds
        var result = try await BenchTimer(rounds: 5).measure(name, unit: "second", count: 1) {
            positions = bench.play()
        }
        guard Double(positions) > seconds else { throw BenchFailure(name: name) }
        result.nanoseconds /= seconds
        result.allocations = result.allocations.map { $0 / seconds }
        result.seconds = 1
        if !BenchTimer.isCounted { result.bytes = bench.memory() }
        return result
    }
}

extension Benchmark {
    /// The time per second of a tag that four receivers receive once a second, and the bytes of its session.
    private static func tags(_ name: String, _ tagClass: FleetSettings.TagClass) async throws -> BenchResult {
        var bench = TagBench(tagClass)
        let count = bench.tags * bench.seconds
        var positions = 0
        var result = try await BenchTimer(rounds: 11).measure(name, unit: "tag second", count: count) {
            positions = bench.go()
        }
        guard positions == count else { throw BenchFailure(name: name) }
        result.seconds = 1
        if !BenchTimer.isCounted { result.bytes = bench.memory() }
        return result
    }

    /// The time to the first position of a session in a large venue.
    private static func start(_ name: String, _ bench: LargeVenueBench) async throws -> BenchResult {
        var last: LargeVenueBench.Start?
        var result = try await BenchTimer(rounds: 5).measure(name, unit: "session", count: 1) { last = bench.start() }
        guard let last, LargeVenueBench.isRight(last.position) else { throw BenchFailure(name: name) }
        result.bytes = last.bytes
        return result
    }
}

/// The error of a benchmark whose result is wrong or differs from that of the C code.
struct BenchFailure: Error, CustomStringConvertible {
    let name: String
    var description: String {
        "the benchmark '\(name)' has a wrong result, or one that differs from that of the C code"
    }
}

/// The result of a benchmark.
struct BenchResult: Sendable {
    /// The name, for `--only`.
    var name: String
    /// The unit of work, such as "advertisement".
    var unit: String
    /// The time per unit in nanoseconds: the median of all rounds.
    var nanoseconds: Double
    /// The time per unit of the same work in plain C, in nanoseconds; nil without a C version.
    var reference: Double?
    /// The allocations per unit after the warm-up; nil if they were not counted.
    var allocations: Double?
    /// The recorded time of a unit in seconds; nil if a unit is not a time.
    var seconds: Double?
    /// The bytes that a unit holds; nil if they were not measured.
    var bytes: Double?

    /// The ratio to the time of the C code; nil without a C version.
    var ratio: Double? { reference.map { nanoseconds / $0 } }
    /// The speed as a multiple of real time; nil if a unit is not a time.
    var speed: Double? { seconds.map { $0 * 1e9 / nanoseconds } }
}

/// A timer that alternates work and its C version, so that both run under the same load, and counts allocations.
struct BenchTimer {
    /// Whether each benchmark does its work only twice: once to fill caches and grow buffers, and once between
    /// `cbench_begin` and `cbench_end`, where an emulated processor counts instructions.
    @TaskLocal static var isCounted = false

    /// The number of timed rounds.
    var rounds = 31

    /// Measures `work`, which processes `count` units.
    func measure(
        _ name: String, unit: String, count: Int, _ work: () async throws -> Void, reference: (() -> Void)? = nil
    ) async throws -> BenchResult {
        if Self.isCounted {
            try await work()
            reference?()
            cbench_begin()
            let time = Double(try await ContinuousClock().measure(work).nanoseconds)
            cbench_end()
            reference?()
            return BenchResult(name: name, unit: unit, nanoseconds: time / Double(count))
        }
        // The first rounds fill caches and grow buffers.
        for _ in 0..<3 {
            try await work()
            reference?()
        }
        let before = cbench_allocations()
        try await work()
        let allocations = cbench_allocations() - before
        var times: [Double] = []
        var references: [Double] = []
        for _ in 0..<rounds {
            times.append(Double(try await ContinuousClock().measure(work).nanoseconds))
            if let reference { references.append(Double(ContinuousClock().measure(reference).nanoseconds)) }
        }
        return BenchResult(
            name: name, unit: unit, nanoseconds: Self.median(times) / Double(count),
            reference: reference == nil ? nil : Self.median(references) / Double(count),
            allocations: Double(allocations) / Double(count))
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
