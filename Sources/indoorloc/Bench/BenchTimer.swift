import CBench

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
