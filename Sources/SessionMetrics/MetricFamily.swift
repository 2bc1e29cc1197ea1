/// A named metric with its samples.
public struct MetricFamily: Hashable, Sendable {
    /// The name, with its unit as the last part.
    public var name: String
}
