import IndoorVocabulary

/// The errors of distances that a technology measures.
package struct RangeErrors: Hashable, Sendable {
    /// The standard deviation of a distance along a free path in metres, unless the reading states it, in [0.001, 1000].
    package var deviation: Double
    /// The standard deviation in metres of the offset that the device adds to all distances, in [0, 1000].
    package var offsetDeviation: Double
    /// The mean excess of a distance along a reflected path in metres, in [0.001, 1000].
    package var excess: Double
    /// The time in seconds within which distances to one anchor share their errors, in [0.001, 1e9].
    package var correlationTime: Double

    /// Creates errors.
    package init(deviation: Double, offsetDeviation: Double, excess: Double, correlationTime: Double) {
        self.deviation = deviation
        self.offsetDeviation = offsetDeviation
        self.excess = excess
        self.correlationTime = correlationTime
    }
}

extension RangeErrors {
    /// The settings of the errors, all of them expert settings.
    package static let list: [Setting<RangeErrors>] = [
        .number(
            "deviation", \.deviation, in: 0.001...1000, unit: "m",
            "The standard deviation of a distance along a free path, unless the reading states it."
        ).expert(.publications),
        .number(
            "offsetDeviation", \.offsetDeviation, in: 0...1000, unit: "m",
            "The standard deviation of the offset that the device adds to all distances."
        ).expert(.publications),
        .number(
            "excess", \.excess, in: 0.001...1000, unit: "m",
            "The mean excess of a distance along a reflected path."
        ).expert(.publications),
        .number(
            "correlationTime", \.correlationTime, in: 0.001...1e9, unit: "s",
            "The time within which distances to one anchor share their errors."
        ).expert(.publications),
    ]
}
