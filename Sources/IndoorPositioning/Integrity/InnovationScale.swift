/// The ratio of the beacons' errors in this venue to the errors that the signal field expects.
///
/// The deviations of the signal field are upper bounds, and are largest in a venue without a survey. The differences
/// between the beacons show how large the errors really are in this venue. The smaller the errors are, the smaller is
/// the contradiction that the test can detect.
struct InnovationScale: Sendable {
    /// The mean of the errors' magnitudes, relative to that of a normal distribution.
    private var ratio = InnovationScale.first
    private var count = InnovationScale.firstCount

    /// The ratio before any reading: the largest ratio of the public data sets. A smaller initial ratio would report
    /// healthy beacons as faulty.
    private static let first = 0.8
    /// The weight of the initial ratio as a number of readings, and the maximum number of readings in the average.
    private static let firstCount = 30.0
    private static let memory = 300.0
    /// The limit of an error in standard deviations, the mean magnitude of normal errors with this limit, and the range
    /// of the factor.
    private static let limit = 1.5
    private static let mean = 0.72
    private static let range = 0.5...1.2

    /// The factor on the standard deviations.
    var value: Double { min(max(ratio, Self.range.lowerBound), Self.range.upperBound) }

    /// Adds the error of a reading, in standard deviations that include the factor.
    mutating func observe(_ error: Double, scale: Double) {
        count = min(count + 1, Self.memory)
        ratio += (min(error, Self.limit) * scale / Self.mean - ratio) / count
    }
}
