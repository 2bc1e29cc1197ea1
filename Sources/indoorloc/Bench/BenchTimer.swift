import CBench

/// What a benchmark came to.
struct BenchResult: Sendable {
    /// Its name, as `--only` takes it.
    var name: String
    /// What one round of it is, as in "advertisement".
    var unit: String
    /// Nanoseconds for each unit: the median of all rounds.
    var nanoseconds: Double
    /// The same work in plain C, in nanoseconds for each unit; nil if there is none to compare with.
    var reference: Double?
    /// Allocations for each unit, once all is warm; nil if they were not counted.
    var allocations: Double?
    /// Seconds that a unit stands for; nil if it is no stretch of time.
    var seconds: Double?
    /// Bytes that a unit holds on to; nil if that was not measured.
    var bytes: Double?

    /// How many times as long as the C code it takes; nil if there is none.
    var ratio: Double? { reference.map { nanoseconds / $0 } }
    /// How many times as fast as the time that it stands for; nil if it is no stretch of time.
    var speed: Double? { seconds.map { $0 * 1e9 / nanoseconds } }
}

/// Times work in turns with what it is compared with, so that both see the same machine, and counts allocations.
struct BenchTimer {
    /// How often each is timed.
    var rounds = 31

    /// Times `work`, which does `count` units.
    func measure(
        _ name: String, unit: String, count: Int, _ work: () async throws -> Void, reference: (() -> Void)? = nil
    ) async throws -> BenchResult {
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
