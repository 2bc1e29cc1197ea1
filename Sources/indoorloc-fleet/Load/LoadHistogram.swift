/// The numbers of durations in steps of 10 ms, up to a minute.
struct LoadHistogram: Sendable {
    private static let step = 0.01
    private var counts = [Int](repeating: 0, count: 6001)
    private(set) var count = 0

    /// Adds a duration in seconds.
    mutating func add(_ seconds: Double) {
        counts[min(max(Int(seconds / Self.step), 0), counts.count - 1)] += 1
        count += 1
    }

    mutating func add(_ other: LoadHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
    }

    /// Returns the upper end in seconds of the step in which a share of the durations ends; nil without durations.
    func quantile(_ share: Double) -> Double? {
        guard count > 0 else { return nil }
        let rank = max(1, Int((Double(count) * share).rounded(.up)))
        var sum = 0
        for (index, number) in counts.enumerated() {
            sum += number
            if sum >= rank { return Double(index + 1) * Self.step }
        }
        return nil
    }
}
