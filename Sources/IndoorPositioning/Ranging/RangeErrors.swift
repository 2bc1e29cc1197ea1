import IndoorVocabulary

/// The errors of distances that a technology measures.
public struct RangeErrors: Hashable, Sendable {
    /// The standard deviation of a distance along a free path in metres, unless the reading states it, in [0.001, 1000].
    public var deviation: Double
    /// The standard deviation in metres of the offset that the device adds to all distances, in [0, 1000].
    public var offsetDeviation: Double
    /// The mean excess of a distance along a reflected path in metres, in [0.001, 1000].
    public var excess: Double
    /// The time in seconds within which distances to one anchor share their errors, in [0.001, 1e9].
    public var correlationTime: Double

    /// Creates errors.
    public init(deviation: Double, offsetDeviation: Double, excess: Double, correlationTime: Double) {
        self.deviation = deviation
        self.offsetDeviation = offsetDeviation
        self.excess = excess
        self.correlationTime = correlationTime
    }
}

extension RangeErrors {
    /// The numbers of the errors.
    package static let list: [Setting<RangeErrors>] = [
        .number(
            "deviation", \.deviation, in: 0.001...1000, unit: "m",
            "The standard deviation of a distance along a free path, unless the reading states it."),
        .number(
            "offsetDeviation", \.offsetDeviation, in: 0...1000, unit: "m",
            "The standard deviation of the offset that the device adds to all distances."),
        .number(
            "excess", \.excess, in: 0.001...1000, unit: "m",
            "The mean excess of a distance along a reflected path."),
        .number(
            "correlationTime", \.correlationTime, in: 0.001...1e9, unit: "s",
            "The time within which distances to one anchor share their errors."),
    ]
}
