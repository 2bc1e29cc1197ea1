/// A limit on the number of tags per second for which a machine compares RSSIs with the expected ones.
///
/// The evidence about receivers doesn't need all tags of a large fleet, and each sample takes several lookups in the
/// signal field.
struct SamplingBudget: Sendable {
    /// The number of samples per second, and the maximum number of unused samples that is kept for later.
    private static let rate = 20.0
    private static let most = 40.0

    private var available = most
    private var latest: Int64?

    /// Returns whether a sample is allowed at an instant, in nanoseconds; the instants don't decrease.
    mutating func take(at nanoseconds: Int64) -> Bool {
        let seconds = latest.map { Double(nanoseconds.subtracting($0)) / 1e9 } ?? 0
        latest = nanoseconds
        available = min(Self.most, available + max(0, seconds) * Self.rate)
        guard available >= 1 else { return false }
        available -= 1
        return true
    }
}
